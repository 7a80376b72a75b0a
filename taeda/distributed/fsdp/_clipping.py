"""The norm of gradients of which each process has a part."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed import _collectives as collectives
from taeda.distributed._reduce_op import ReduceOp
from taeda.distributed.fsdp._outer import groups_of
from taeda.distributed.fsdp._unit import units_in


def _grads(group: Any) -> list[Tensor | None]:
    """This process's part of the gradient of each parameter, wherever the parameters themselves are."""
    if getattr(group, "as_views", True):
        return [one.grad for one in group.sharded]
    flat = group.sharded[0].grad
    return [None if flat is None else flat[start : start + length]
            for start, length in group.layout.own(group.processes.rank)]  # fmt: skip


def clip_grad_norm(module: Any, max_norm: float, norm_type: float) -> Tensor:
    """Clips in place; the norm before."""
    by_cut: dict[tuple[Any, ...], list[Tensor]] = {}  # by the process groups whose processes have other parts
    seen: set[int] = set()
    for unit in units_in(module):
        for group in unit.groups:
            seen.update(id(one) for one in group.sharded)
            shard = () if group.processes.shard is None else (group.processes.shard,)
            for outer, grad in zip(group.outer, _grads(group), strict=True):
                by_cut.setdefault((*shard, *groups_of(outer)), []).extend([] if grad is None else [grad])
    by_cut.setdefault((), []).extend(
        one.grad for one in module.parameters() if id(one) not in seen and one.grad is not None
    )
    whole: list[Tensor] = []
    for processes, grads in by_cut.items():
        own = taeda.nn.utils.get_total_norm(
            [g.float() if g.dtype in (taeda.half, taeda.bfloat16) else g for g in grads if g.numel()], norm_type
        )
        own = own if own.is_floating_point() else own.float()
        if processes:
            power = own if math.isinf(norm_type) else own**norm_type
            for one in processes:
                collectives.all_reduce(power, ReduceOp.MAX if math.isinf(norm_type) else ReduceOp.SUM, one)
            own = power if math.isinf(norm_type) else power ** (1 / norm_type)
        whole.append(own)
    total = taeda.linalg.vector_norm(taeda.stack(whole), norm_type)
    factor = taeda.clamp(max_norm / (total + 1e-6), max=1.0)
    for grads in by_cut.values():
        for grad in grads:
            grad.mul_(factor.to(grad.dtype))
    dtypes = {grad.dtype for grads in by_cut.values() for grad in grads}
    return total.to(dtypes.pop()) if len(dtypes) == 1 else total
