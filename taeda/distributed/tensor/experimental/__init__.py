"""What may change."""

from __future__ import annotations

from taeda.distributed.tensor._special import implicit_replication as implicit_replication
from taeda.distributed.tensor.experimental._func_map import local_map as local_map

__all__ = ["implicit_replication", "local_map"]
