"""Stubs, as type checkers and editors read them: of ``_C``, of ``taeda`` itself and of the modules that take their
names from natives.

What C++ binds by hand is typed by hand, in ``csrc/python/stubs``; all else follows from declarations and from the
tables of ``taeda/__init__.py``.
"""

from __future__ import annotations

from taedagen.emit.bindings import MODULES, bound_names
from taedagen.emit.plan import Plan
from taedagen.emit.stubs.public import emit_public
from taedagen.emit.stubs.signatures import HEAD, definitions, operators
from taedagen.emit.table import ROOT

WRITTEN = ROOT / "csrc" / "python" / "stubs"


def emit_stubs(plan: Plan) -> dict[str, str]:
    names = bound_names(plan)
    files = {f"taeda/_C/{path.name}": path.read_text() for path in sorted(WRITTEN.glob("*.pyi"))}
    for module, attribute in MODULES.items():
        lines = [line for b in names if b.function and b.module == module for line in definitions(b, is_method=False)]
        files[f"taeda/_C/_{attribute}.pyi"] = "\n".join([HEAD, *lines, ""])
    files["taeda/_C/_methods.pyi"] = "\n".join(
        [
            HEAD,
            *_class("TensorMethods", [line for b in names if b.method for line in definitions(b, is_method=True)]),
            *_class("TensorOperators", operators(names)),
            "",
        ]
    )
    return files | emit_public(names)


def _class(name: str, members: list[str]) -> list[str]:
    return [f"class {name}:", *(members or ["    ..."])]


__all__ = ["Bound", "emit_stubs"]
