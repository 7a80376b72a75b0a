"""What a declaration is made of: ``from taedagen.opdef import *`` is the first line of every family file."""

from __future__ import annotations

import os as _os

from taedagen.opdef.declaration import ALL as ALL
from taedagen.opdef.declaration import BOOL as BOOL
from taedagen.opdef.declaration import COMPLEX as COMPLEX
from taedagen.opdef.declaration import FLOATING as FLOATING
from taedagen.opdef.declaration import HALF as HALF
from taedagen.opdef.declaration import INTEGRAL as INTEGRAL
from taedagen.opdef.declaration import NUMERIC as NUMERIC
from taedagen.opdef.declaration import REAL as REAL
from taedagen.opdef.declaration import REGISTRY as REGISTRY
from taedagen.opdef.declaration import UNSIGNED as UNSIGNED
from taedagen.opdef.declaration import Declaration as Declaration
from taedagen.opdef.declaration import Op as Op
from taedagen.opdef.declaration import composite as composite
from taedagen.opdef.declaration import kernel as kernel
from taedagen.opdef.declaration import pointwise as pointwise
from taedagen.opdef.declaration import reduction as reduction
from taedagen.opdef.declaration import view as view
from taedagen.opdef.errors import DeclarationError as DeclarationError
from taedagen.opdef.expr import Expr as Expr
from taedagen.opdef.expr import op as op
from taedagen.opdef.expr import trace as trace
from taedagen.opdef.vocabulary import *  # noqa: F403


def load_ops(folder: str | _os.PathLike[str] | None = None) -> None:
    """Imports all families, in the order of their names, into ``REGISTRY``; those of ``folder`` instead of the own
    ones."""
    import importlib.util
    import sys
    from pathlib import Path

    import taedagen.ops

    own = Path(taedagen.ops.__file__ or "").parent
    for path in sorted(Path(folder or own).glob("*.py")):
        name = f"taedagen.ops.{path.stem}"
        if path.stem == "__init__" or name in sys.modules:
            continue
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
