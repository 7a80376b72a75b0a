"""What a declaration is made of: ``from taedagen.opdef import *`` is the first line of every family file."""

from __future__ import annotations

from taedagen.opdef.declaration import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATING,
    HALF,
    INTEGRAL,
    NUMERIC,
    REAL,
    REGISTRY,
    UNSIGNED,
    Declaration,
    Op,
    composite,
    kernel,
    pointwise,
    reduction,
    view,
)
from taedagen.opdef.errors import DeclarationError
from taedagen.opdef.expr import Expr, op, trace
from taedagen.opdef.intrinsics import FUNCTIONS as _FUNCTIONS

globals().update({k: v for k, v in _FUNCTIONS.items() if k not in {"abs", "round", "pow"}})


def load_ops() -> None:
    """Imports all families, in the order of their names, into ``REGISTRY``."""
    import importlib
    from pathlib import Path

    import taedagen.ops

    folder = Path(taedagen.ops.__file__ or "").parent
    for path in sorted(folder.glob("*.py")):
        if path.stem != "__init__":
            importlib.import_module(f"taedagen.ops.{path.stem}")


__all__ = [
    "ALL", "BOOL", "COMPLEX", "FLOATING", "HALF", "INTEGRAL", "NUMERIC", "REAL", "REGISTRY", "UNSIGNED",
    "Declaration", "DeclarationError", "Expr", "Op",
    "composite", "kernel", "load_ops", "op", "pointwise", "reduction", "trace", "view",
    *(name for name in _FUNCTIONS if name not in {"abs", "round", "pow"}),
]  # fmt: skip
