"""The classes of sizes that are known only as symbols. Here sizes are always numbers: programs ask, and hear no."""

from __future__ import annotations

from typing import Any

__all__ = ["SymBool", "SymFloat", "SymInt"]


class _Symbol:
    def __init__(self, node: Any) -> None:
        """Raises TypeError."""
        kind = type(self).__name__
        raise TypeError(f"taeda.{kind}: sizes are always known here; use {kind.removeprefix('Sym').lower()}")


class SymInt(_Symbol):
    """The class of a whole number that is known only as a symbol; none is ever made."""


class SymFloat(_Symbol):
    """The class of a real number that is known only as a symbol; none is ever made."""


class SymBool(_Symbol):
    """The class of a truth value that is known only as a symbol; none is ever made."""
