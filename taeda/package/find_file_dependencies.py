"""What a module imports, by its source alone."""

from __future__ import annotations

import ast
from typing import Any


def find_files_source_depends_on(source: str, package: str) -> list[tuple[str, str | None]]:
    """The modules that a source text imports, each with the name taken from it, or None where it is the module.

    Args:
        source: the text.
        package: the package that relative imports start from.

    Raises:
        SyntaxError: the text is no Python.
        ValueError: a relative import leads out of the package.
    """
    found: dict[tuple[str, str | None], None] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(((alias.name, None), None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node.module or "", node.level, package)
            found.update(((module, None if alias.name == "*" else alias.name), None) for alias in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__":
            found.update(dict.fromkeys(_of_call(node, package)))
    return list(found)


def _absolute(module: str, level: int, package: str) -> str:
    if not level:
        return module
    parts = package.split(".") if package else []
    if level > len(parts):
        raise ValueError(f"a relative import with {level} dots leads out of the package {package!r}")
    return ".".join([*parts[: len(parts) - level + 1], *([module] if module else [])])


def _of_call(call: ast.Call, package: str) -> list[tuple[str, str | None]]:
    """The imports of ``__import__(…)``; none if its arguments are not known before it runs."""
    given: dict[str, Any] = dict(zip(("name", "globals", "locals", "fromlist", "level"), call.args))
    given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
    try:
        name = ast.literal_eval(given["name"])
        level = ast.literal_eval(given["level"]) if "level" in given else 0
        names = ast.literal_eval(given["fromlist"]) if "fromlist" in given else ()
        module = _absolute(name, level, package)
        return [(module, each if each not in ("", "*") else None) for each in names] or [(module, None)]
    except (KeyError, ValueError, TypeError, AttributeError):
        return []
