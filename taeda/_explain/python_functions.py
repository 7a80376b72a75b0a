"""What users call and is not an op: Python functions, classes, and functions of ``_C`` that people wrote.

What a Python function calls is read from its source, so a call that a condition hides is told, too.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from taeda._explain.sources import native_location

_PREFIXES = ("torch.", "taeda.")
_NAMESPACES = ("", "nn.functional", "Tensor", "nn", "optim", "linalg", "utils.data", "autograd", "optim.lr_scheduler",
               "nn.init", "distributions", "nn.utils")  # fmt: skip
_ENTRANCES = ("__init__", "forward", "step", "__call__", "__iter__", "__getitem__")  # of a class
_DEPTH = 4  # of calls that are followed
_ROOT = Path(__file__).resolve().parents[2]


def find(function: Any) -> tuple[str, Any] | None:
    """The public name of a callable and the callable; a name may leave out the namespace. None if there is none."""
    import taeda

    if not isinstance(function, str):
        module = getattr(function, "__module__", None) or "taeda"
        return f"{module}.{function.__qualname__}", function
    name = function
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    name = f"nn.functional.{name[2:]}" if name.startswith("F.") else name
    for namespace in _NAMESPACES:
        full = f"{namespace}.{name}" if namespace else name
        found = _attribute(taeda, full)
        if callable(found) and not inspect.ismodule(found):
            return f"taeda.{full}", found
    return None


def _attribute(root: Any, path: str) -> Any:
    for part in path.split("."):
        try:
            root = getattr(root, part)
        except AttributeError:
            return None
    return root


def python_code(found: Any) -> Callable[..., Any] | None:
    """The Python function that a callable runs, None for a function of ``_C``."""
    found = inspect.unwrap(getattr(found, "__func__", found))
    found = getattr(found, "__wrapped__", found)
    return found if inspect.isfunction(found) else None


def entrances(found: type[Any]) -> list[tuple[str, Callable[..., Any]]]:
    """The methods by which a class is used, those that Taeda wrote, with their names."""
    methods = ((name, python_code(getattr(found, name, None))) for name in _ENTRANCES)
    own = [(name, m) for name, m in methods if m and m.__module__.partition(".")[0] == "taeda"]
    return [(n, m) for n, m in own if n == "__init__" or not m.__qualname__.startswith(("Module.", "Optimizer."))]


def place(function: Callable[..., Any]) -> str:
    """``taeda/nn/_functional/loss.py:110``."""
    code = function.__code__
    return f"{_shown(Path(code.co_filename))}:{code.co_firstlineno}"


def _shown(path: Path) -> Path:
    return path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else path


def rows_of(name: str, called: Any) -> tuple[list[tuple[str, str, str]], list[Any]]:
    """What a callable is and the Python functions it goes through, with places; the natives that all these call."""
    if isinstance(called, type):
        rows = [("class", name, _class_place(called))]
        begins = [(f"{name}.{method}", code) for method, code in entrances(called)]
    else:
        rows, code = [], python_code(called)
        if code is None:
            native = f"Tensor.{called.__name__}" if hasattr(called, "__objclass__") else called.__name__
            return [("python", name, ""), ("written by hand", native, native_location(native))], []
        begins = [(name, code)]
    owner = called if isinstance(called, type) else None
    followed: dict[int, Callable[..., Any]] = {}
    natives: dict[int, Any] = {}
    for shown, code in begins:
        rows.append(("python", shown, place(code)))
        if not shown.endswith(".__init__") or len(begins) == 1:  # what a use calls, not what the making does
            _follow(code, owner, followed, natives)
    first = {id(code) for _, code in begins}
    rows += [("calls", f"{f.__module__}.{f.__qualname__}", place(f)) for i, f in followed.items() if i not in first]
    return rows, list(natives.values())


def _class_place(called: type[Any]) -> str:
    try:
        path, line = inspect.getsourcefile(called), inspect.getsourcelines(called)[1]
    except (OSError, TypeError):
        return ""
    return f"{_shown(Path(path or ''))}:{line}"


def _follow(
    code: Callable[..., Any], owner: type[Any] | None, functions: dict[int, Callable[..., Any]], natives: dict[int, Any]
) -> None:
    """Adds what ``code`` may call, directly or not: Python functions of Taeda, and natives."""
    callers = [(code, 0)]
    while callers:
        caller, depth = callers.pop(0)
        for called in _called(caller, owner):
            function = python_code(called)
            if function is None:
                natives.setdefault(id(called), called)
            elif id(function) not in functions and depth < _DEPTH:
                functions[id(function)] = function
                callers.append((function, depth + 1))


def _called(function: Callable[..., Any], owner: type[Any] | None) -> Iterator[Any]:
    """The callables of Taeda that a function's source names in calls."""
    from taeda import Tensor

    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):
        return
    names = _names(function, tree)
    callees = (callee for call in ast.walk(tree) if isinstance(call, ast.Call) for callee in _alternatives(call.func))
    for callee in callees:
        found = _value(callee, names, owner)
        if found is None and isinstance(callee, ast.Attribute):
            method = getattr(Tensor, callee.attr, None)
            found = method if type(method).__name__ == "method_descriptor" else None
        owner_of = getattr(found, "__objclass__", None)
        module = getattr(found, "__module__", None) or getattr(owner_of, "__module__", None) or ""
        if found is not None and not isinstance(found, type) and module.partition(".")[0] == "taeda":
            yield found


def _alternatives(callee: ast.expr) -> list[ast.expr]:
    """``(f if inplace else g)(x)`` calls one of two."""
    return [callee.orelse, callee.body] if isinstance(callee, ast.IfExp) else [callee]


def _names(function: Callable[..., Any], tree: ast.AST) -> dict[str, Any]:
    """What the names in a function stand for: globals, what it closes over, what it imports itself."""
    names = dict(function.__globals__)
    names |= inspect.getclosurevars(function).nonlocals
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            module = importlib.import_module(node.module)
            names |= {alias.asname or alias.name: getattr(module, alias.name, None) for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {
                a.asname or a.name.partition(".")[0]: importlib.import_module(a.name) for a in node.names if a.asname
            }
    return names


def _value(node: ast.expr, names: dict[str, Any], owner: type[Any] | None) -> Any:
    if isinstance(node, ast.Name):
        return owner if node.id == "self" else names.get(node.id)
    if isinstance(node, ast.Attribute):
        base = _value(node.value, names, owner)
        return None if base is None else getattr(base, node.attr, None)
    return None
