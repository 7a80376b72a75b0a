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


_COORDINATES, _COMPRESSED = ("SparseCPU", "SparseMeta"), ("SparseCsrCPU", "SparseCsrMeta")
coordinates = _marks(*_COORDINATES)
compressed = _marks(*_COMPRESSED)
sparse = _marks(*_COORDINATES, *_COMPRESSED)
parts_on_meta = _marks("Meta")


def register(*modules: ModuleType) -> None:
    """Hands the kernels of modules, which have been imported, to the dispatcher."""
    for name, key, function in _wanted:
        _library.impl(name, function, key)
    _wanted.clear()
    for key in (*_COORDINATES, *_COMPRESSED):
        _all.fallback(fallback, key)
