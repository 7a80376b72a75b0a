"""Which function is the kernel of which op, for coordinates, for compressed layouts, or for both."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

from taeda._library.library import Library
from taeda.sparse._kernels.fallback import fallback

F = TypeVar("F", bound=Callable[..., Any])
_wanted: list[tuple[str, str, Callable[..., Any]]] = []
_library = Library("aten", "IMPL")
_all = Library("_", "IMPL")


def _marks(*keys: str) -> Callable[..., Callable[[F], F]]:
    def mark(*names: str) -> Callable[[F], F]:
        def take(function: F) -> F:
            _wanted.extend((name, key, function) for name in names for key in keys)
            return function

        return take

    return mark


coordinates = _marks("SparseCPU")
compressed = _marks("SparseCsrCPU")
sparse = _marks("SparseCPU", "SparseCsrCPU")


def register(*modules: ModuleType) -> None:
    """Hands the kernels of modules, which have been imported, to the dispatcher."""
    for name, key, function in _wanted:
        _library.impl(name, function, key)
    _wanted.clear()
    for key in ("SparseCPU", "SparseCsrCPU"):
        _all.fallback(fallback, key)
