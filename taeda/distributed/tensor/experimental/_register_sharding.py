"""How a program says in which parts an op can work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from taeda.distributed.tensor._registered import Strategy, strategies

__all__ = ["register_sharding"]


def register_sharding(op: Any) -> Callable[[Strategy], Strategy]:
    """Decorates the function that says how the DTensors of an op, or of each in a list, may lie.

    It is given what the op is given, and returns pairs: placements of the results, and of the arguments, None for
    those that are no tensors. Of these ways, each along one dimension of the mesh, the one is taken for which least is
    sent. It comes before the rule that the op has already.

    Example:
        >>> from taeda.distributed.tensor import Replicate, Shard
        >>> from taeda.distributed.tensor.experimental import register_sharding
        >>> @register_sharding(taeda.ops.aten.cumsum.default)
        ... def cumsum_sharding(x, dim, dtype=None):
        ...     rows = [Shard(at) for at in range(x.ndim) if at != dim % x.ndim]
        ...     return [([how], [how, None]) for how in [Replicate(), *rows]]
    """
    ops: Sequence[Any] = op if isinstance(op, list) else [op]

    def register(strategy: Strategy) -> Strategy:
        for one in ops:
            strategies[one] = strategy
        return strategy

    return register
