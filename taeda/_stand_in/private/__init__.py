"""Names that PyTorch keeps to itself in its public modules, and that published programs import all the same.

The names of ``torch.nn.functional`` are in ``nn_functional.py``, and so on. Only the stand-in looks here, when a module
lacks a name that it is asked for; what is public, or stands in the modules anyway, is not repeated. Those of `_WHOLE`
are modules that exist for these names alone.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

_WHOLE = frozenset(("_C._functorch", "_guards", "nn.utils._named_member_accessor"))


def whole(module: str) -> str | None:
    """Where a module of PyTorch's stands here, by its name within torch; None for those that Taeda has itself."""
    return f"{__name__}.{module.replace('.', '_')}" if module in _WHOLE else None


@functools.cache
def _modules() -> set[str]:
    import pkgutil

    return {module.name for module in pkgutil.iter_modules(__path__)}


def find(module: str, name: str) -> Any:
    """What ``module``, by its name within torch (``nn.functional``), is to have as ``name``; LookupError if nothing."""
    if (there := whole(f"{module}.{name}".lstrip("."))) is not None:
        return importlib.import_module(there)
    here = module.replace(".", "_") or "top"
    if here in _modules():
        found = vars(importlib.import_module(f"{__name__}.{here}"))
        if name in found.get("__all__", ()):
            return found[name]
    raise LookupError(name)
