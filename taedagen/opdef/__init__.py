"""What a declaration is made of: ``from taedagen.opdef import *`` is the first line of every family file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from taedagen.opdef import vocabulary as _vocabulary
from taedagen.opdef.body_vocabulary import *  # noqa: F403
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
    defined,
    kernel,
    pointwise,
    reduction,
    view,
)
from taedagen.opdef.errors import DeclarationError, mistake_in
from taedagen.opdef.expr import Expr, op, trace
from taedagen.opdef.vocabulary import *  # noqa: F403
from taedagen.opdef.words import NAMES as _NAMES
from taedagen.opdef.words import WORDS as _WORDS


def load_ops(folder: str | os.PathLike[str] | None = None) -> None:
    """Imports all families, in the order of their names, into ``REGISTRY``; those of ``folder`` instead of the own
    ones."""
    import importlib.util
    import sys
    from pathlib import Path

    import taedagen.ops

    own = Path(taedagen.ops.__file__ or "").parent
    for path in sorted(Path(folder or own).glob("*.py")):
        name = f"taedagen.ops.{path.stem}" if path.parent == own else str(path.resolve().with_suffix(""))
        if path.stem == "__init__" or name in sys.modules:
            continue
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except DeclarationError:
            raise
        except Exception as wrong:
            raise mistake_in(str(path), wrong, [*globals()["__all__"], *vars(module)]) from None


if not TYPE_CHECKING:  # to type checkers every name is public: they cannot read this list
    __all__ = [
        "ALL", "BOOL", "COMPLEX", "FLOATING", "HALF", "INTEGRAL", "NUMERIC", "REAL", "REGISTRY", "UNSIGNED",
        "Declaration", "DeclarationError", "Expr", "Op",
        "composite", "defined", "kernel", "load_ops", "op", "pointwise", "reduction", "trace", "view",
        *(name for name in vars(_vocabulary) if name[0] != "_" and name != "annotations"),
        *_WORDS, *_NAMES,
    ]  # fmt: skip
