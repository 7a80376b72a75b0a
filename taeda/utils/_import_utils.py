"""Whether an optional package is there."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from types import ModuleType


def dill_available() -> bool:
    """Whether dill can be imported."""
    return importlib.util.find_spec("dill") is not None


@functools.cache
def import_dill() -> ModuleType | None:
    """The module dill, which leaves pickle as it is; None where it is not installed."""
    if not dill_available():
        return None
    dill = importlib.import_module("dill")
    dill.extend(use_dill=False)
    return dill
