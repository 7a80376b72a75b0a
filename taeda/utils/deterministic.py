"""What ``use_deterministic_algorithms`` includes besides kernels."""

from __future__ import annotations

import sys
from types import ModuleType

from taeda._main import settings


class _Deterministic(ModuleType):
    """The module: its setting is read and written like any variable of a module."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether, in deterministic mode, memory without values (``empty``, ``resize_``) is filled: with NaN, with the
        largest integer, or with True. True at first."""
        return settings.fills_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise RuntimeError(
                f"taeda.utils.deterministic.fill_uninitialized_memory must be a bool; got {type(mode).__name__}"
            )
        settings.fill_uninitialized_memory(mode)


sys.modules[__name__].__class__ = _Deterministic
