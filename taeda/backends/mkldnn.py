"""oneDNN, whose former name is MKL-DNN: convolutions and low-precision products."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from taeda import _C
from taeda._main import precision

__all__ = ["PrimitiveCache", "flags", "is_available", "primitive_cache", "set_flags"]

# What programs set for PyTorch. Here each op has one kernel for a dtype: nothing depends on them.
enabled = True
deterministic = False
allow_tf32 = True
conv, matmul, rnn = (precision.Precision("mkldnn", op) for op in ("conv", "matmul", "rnn"))


class _Switches(precision.Switches):
    _library = "mkldnn"


if TYPE_CHECKING:
    fp32_precision: str
else:
    sys.modules[__name__].__class__ = _Switches


def is_available() -> bool:
    """Whether oneDNN is used: yes."""
    return True


def set_flags(
    _enabled: bool | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = precision.NONE,
) -> tuple[Any, ...]:
    """Sets the switches that are not None, or ``"none"``; gives what all were before."""
    before = (enabled, deterministic, allow_tf32)
    given = zip(("enabled", "deterministic", "allow_tf32"), (_enabled, _deterministic, _allow_tf32), strict=True)
    globals().update({name: value for name, value in given if value is not None})
    return (*before, precision.set_flags("mkldnn", _fp32_precision))


@contextlib.contextmanager
def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = precision.NONE
) -> Iterator[None]:
    """The switches set for a scope."""
    with precision.kept():
        before = set_flags(enabled, deterministic, allow_tf32, fp32_precision)
        try:
            yield
        finally:
            set_flags(*before[:3])


class PrimitiveCache:
    """oneDNN's compiled operations, kept by shapes, strides and dtypes; the least recently used give way."""

    @property
    def max_size(self) -> int:
        """How many operations are kept at most; 0 keeps none. ValueError below that."""
        return _C._onednn_cache_stats()["capacity"]

    @max_size.setter
    def max_size(self, count: int) -> None:
        _C._onednn_set_cache_capacity(count)

    @property
    def size(self) -> int:
        """How many operations are kept now."""
        return _C._onednn_cache_stats()["size"]

    @property
    def hits(self) -> int:
        """How many calls found their operation, since the program began."""
        return _C._onednn_cache_stats()["hits"]

    @property
    def misses(self) -> int:
        """How many calls had to make it, which takes microseconds to milliseconds."""
        return _C._onednn_cache_stats()["misses"]

    def clear(self) -> None:
        """Forgets all operations."""
        kept = self.max_size
        self.max_size = 0
        self.max_size = kept


primitive_cache = PrimitiveCache()


def _get_mkldnn_enabled() -> bool:
    """The switch ``enabled``, by the name it has in ``torch._C``."""
    return enabled


def _set_mkldnn_enabled(mode: bool) -> None:
    """Sets the switch ``enabled``."""
    global enabled
    enabled = mode
