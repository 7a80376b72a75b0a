"""`taeda.distributed.tensor.experimental`, where PyTorch had it first."""

from __future__ import annotations

from taeda.distributed.tensor.experimental import implicit_replication as implicit_replication
from taeda.distributed.tensor.experimental import local_map as local_map

__all__ = ["implicit_replication", "local_map"]
