"""The stub of ``taeda``, whose names come from natives and load on first use, and those of modules made of natives."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from taedagen.emit.bindings import Bound
from taedagen.emit.stubs.signatures import result_class, result_fields
from taedagen.emit.table import ROOT

_MADE = "# Made by taedagen."
# Modules whose names are natives without a prefix, and what else they hold.
_OF_NATIVES = {
    "fft": ["from taeda._tensor import Tensor as Tensor"],
    "linalg": ["from taeda._C import _LinAlgError as LinAlgError"],
    "special": [],
}
# What programs of other days ask whether this build has.
_OLD_QUESTIONS = ("has_cuda", "has_cudnn", "has_mps", "has_mkldnn")


def emit_public(names: list[Bound]) -> dict[str, str]:
    files = {"taeda/__init__.pyi": _package(names), "taeda/return_types.pyi": _return_types(names)}
    for module, others in _OF_NATIVES.items():
        own = {b.name: b.name.removeprefix(f"{module}_") for b in names if b.function and b.module == module}
        lines = [_import(f"taeda._C._{module}", own), *others]
        public = sorted({*own.values(), *(line.split()[-1] for line in others)})
        files[f"taeda/{module}.pyi"] = "\n".join([_MADE, *filter(None, lines), f"__all__ = {public}", ""])
    return files


def _import(module: str, names: dict[str, str] | Iterable[str]) -> str:
    """``from module import a as a, b as c``: a stub passes on only what it renames; empty for no names."""
    renamed = names if isinstance(names, dict) else dict.fromkeys(names)
    listed = ", ".join(f"{name} as {new or name}" for name, new in renamed.items())
    return f"from {module} import {listed}" if listed else ""


def _package(names: list[Bound]) -> str:
    source = ast.parse((ROOT / "taeda" / "__init__.py").read_text())
    lazy: dict[str, tuple[str, ...]] = _table(source, "_LAZY")
    in_python = {name for names in lazy.values() for name in names} | set(_table(source, "_OPS_ALONE"))
    natives = [b.name for b in names if b.function and not b.module and b.name not in in_python]
    modules = [n for n in sorted(_table(source, "_MODULES")) if not n.startswith("__")]
    assigned = dict(_assigned(source))
    lines = [
        _MADE,
        "from builtins import bool as _bool",
        _import("taeda._tensor", ["Tensor"]),
        _import("taeda._version", ["__version__"]),
        _import("taeda._C._functions", natives),
        _import("taeda._C", [name for name in _written() if name not in in_python | assigned.keys()]),
        *(_import(f"taeda.{module}", listed) for module, listed in lazy.items()),
        *(_import(f"taeda{folder}", [n for n in modules if _exists(folder, n)]) for folder in ("", "._faces")),
        _import("taeda.storage", {"FloatStorage": "Storage"}),  # that of the default dtype
        *assigned.values(),
        *(f"{name}: _bool" for name in _OLD_QUESTIONS),
    ]
    return "\n".join([*lines, ""])


def _exists(folder: str, module: str) -> bool:
    path = ROOT / "taeda" / folder.removeprefix(".") / module
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def _table(source: ast.Module, name: str) -> Any:
    """The literal that a module's variable is set to."""
    for target, value in _assignments(source):
        if target == name:
            return ast.literal_eval(value.args[0] if isinstance(value, ast.Call) else value)
    raise ValueError(f"taeda/__init__.py: no table {name}")


def _assignments(source: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in source.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for name, part in zip(target.elts, value.elts, strict=True):
                assert isinstance(name, ast.Name)
                yield name.id, part


def _assigned(source: ast.Module) -> Iterator[tuple[str, str]]:
    """Public constants and second names: ``pi = _math.pi``, ``half = _C.float16``, ``has_lapack = True``."""
    modules = {"_C": "taeda._C", "_math": "math"}
    for name, value in _assignments(source):
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
            line = _import(modules[value.value.id], [value.attr])
            yield name, line if value.attr == name else f"{line}\n{name} = {value.attr}"
        elif isinstance(value, ast.Constant):
            yield name, f"{name} = {value.value!r}"


def _written() -> list[str]:
    """The public names that ``csrc/python/stubs/__init__.pyi`` types."""
    found = []
    for node in ast.parse((ROOT / "csrc" / "python" / "stubs" / "__init__.pyi").read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.append(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.append(node.target.id)
    return [name for name in dict.fromkeys(found) if not name.startswith("_")]


def _return_types(names: list[Bound]) -> str:
    classes = {found: op for b in names for op, _ in b.overloads if (found := result_class(b, op))}
    lines = [_MADE, "from builtins import bool as Bool, float as Float, int as Int", "from typing import NamedTuple",
             "", "from taeda._tensor import Tensor"]  # fmt: skip
    for name, op in sorted(classes.items()):
        lines += ["", f"class {name}(NamedTuple):", *result_fields(op)]
    return "\n".join([*lines, ""])
