"""Modules for quantisation under the names that they had: programs import them, and files of whole models name them."""

from __future__ import annotations

import sys
from types import ModuleType


def stand_for(old: str, home: ModuleType) -> None:
    """Enters the package ``home``, and what is loaded of it, under the name ``old`` too."""
    for name, module in list(sys.modules.items()):
        if f"{name}.".startswith(f"{home.__name__}."):
            sys.modules[old + name.removeprefix(home.__name__)] = module
