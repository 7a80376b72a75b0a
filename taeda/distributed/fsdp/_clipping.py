"""The norm of gradients of which each process has a part."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed import _collectives as collectives
from taeda.distributed._reduce_op import ReduceOp
from taeda.distributed.fsdp._group import refuse_cut_twice
from taeda.distributed.fsdp._unit import units_in


def clip_grad_norm(module: Any, max_norm: float, norm_type: float) -> Tensor:
    """Clips in place; the norm before."""
    by_group: dict[Any, list[Tensor]] = {}
    seen: set[int] = set()
    units = units_in(module)
    refuse_cut_twice((group for unit in units for group in unit.groups), "FullyShardedDataParallel.clip_grad_norm_")
    for unit in units:
        for group in unit.groups:
            for one in group.sharded:
                seen.add(id(one))
                if one.grad is not None:
                    by_group.setdefault(group.processes.shard, []).append(one.grad)
    by_group.setdefault(None, []).extend(
        one.grad for one in module.parameters() if id(one) not in seen and one.grad is not None
    )
    whole: list[Tensor] = []
    for processes, grads in by_group.items():
        own = taeda.nn.utils.get_total_norm(
            [g.float() if g.dtype in (taeda.half, taeda.bfloat16) else g for g in grads if g.numel()], norm_type
        )
        own = own if own.is_floating_point() else own.float()
        if processes is not None:
            power = own if math.isinf(norm_type) else own**norm_type
            collectives.all_reduce(power, ReduceOp.MAX if math.isinf(norm_type) else ReduceOp.SUM, processes)
            own = power if math.isinf(norm_type) else power ** (1 / norm_type)
        whole.append(own)
    total = taeda.linalg.vector_norm(taeda.stack(whole), norm_type)
    factor = taeda.clamp(max_norm / (total + 1e-6), max=1.0)
    for grads in by_group.values():
        for grad in grads:
            grad.mul_(factor.to(grad.dtype))
    dtypes = {grad.dtype for grads in by_group.values() for grad in grads}
    return total.to(dtypes.pop()) if len(dtypes) == 1 else total
