"""oneDNN, whose former name is MKL-DNN: convolutions and low-precision products."""

from __future__ import annotations

from taeda import _C

__all__ = ["PrimitiveCache", "is_available", "primitive_cache"]


def is_available() -> bool:
    """Whether oneDNN is used: yes."""
    return True


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
