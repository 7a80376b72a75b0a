"""What may change."""

from __future__ import annotations

from taeda.distributed.tensor._special import implicit_replication as implicit_replication
from taeda.distributed.tensor.experimental._context_parallel import context_parallel as context_parallel
from taeda.distributed.tensor.experimental._func_map import local_map as local_map
from taeda.distributed.tensor.experimental._register_sharding import register_sharding as register_sharding

__all__ = ["context_parallel", "implicit_replication", "local_map", "register_sharding"]
