"""Context parallelism: sequences of which each process has a part."""

from __future__ import annotations

from taeda.distributed.tensor.experimental._context_parallel._attention import (
    _context_parallel_shard as _context_parallel_shard,
)
from taeda.distributed.tensor.experimental._context_parallel._attention import context_parallel as context_parallel
from taeda.distributed.tensor.experimental._context_parallel._attention import (
    context_parallel_unshard as context_parallel_unshard,
)
from taeda.distributed.tensor.experimental._context_parallel._attention import set_rotate_method as set_rotate_method
from taeda.distributed.tensor.experimental._context_parallel._load_balancer import (
    _HeadTailLoadBalancer as _HeadTailLoadBalancer,
)
from taeda.distributed.tensor.experimental._context_parallel._load_balancer import _LoadBalancer as _LoadBalancer
from taeda.distributed.tensor.experimental._context_parallel._options import _cp_options as _cp_options
from taeda.distributed.tensor.experimental._context_parallel._options import _RotateMethod as _RotateMethod

__all__ = [
    "_HeadTailLoadBalancer", "_LoadBalancer", "_RotateMethod", "_context_parallel_shard", "_cp_options",
    "context_parallel", "context_parallel_unshard", "set_rotate_method",
]  # fmt: skip
