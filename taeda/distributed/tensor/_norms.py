"""The root of squares' sum over some dimensions, from those of the parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from taeda.distributed.tensor._redistribute import move, reduce_along
from taeda.distributed.tensor._spec import DTensorSpec
from taeda.distributed.tensor.placement_types import Placement, Replicate, Shard


def norm_two(func: Any, args: Any, kwargs: Any, kind: Any) -> Any:
    """The result of the op `_norm_two`; ``kind`` is the class of DTensors."""
    given, dims, keeps = args
    before = given._spec
    spec = before._replace(placements=tuple(Replicate() if p.is_partial() else p for p in before.placements))
    ndim = len(spec.shape)
    gone = {dim % ndim for dim in dims} if dims else set(range(ndim))
    left = [dim for dim in range(ndim) if keeps or dim not in gone]
    local = func(move(given._local_tensor, before, spec.placements), dims, keeps, **kwargs)
    placed: list[Placement] = []
    for dim, placement in enumerate(spec.placements):
        if isinstance(placement, Shard) and placement.dim in gone:
            local = reduce_along(local.square(), spec.mesh, dim).sqrt()
            placed.append(Replicate())
        else:
            placed.append(
                replace(placement, dim=left.index(placement.dim)) if isinstance(placement, Shard) else placement
            )
    shape = tuple(1 if dim in gone else spec.shape[dim] for dim in left)
    return kind._made(local, DTensorSpec(spec.mesh, tuple(placed), shape))
