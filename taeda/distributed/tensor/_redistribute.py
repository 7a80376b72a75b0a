"""From one way of lying over a mesh to another, for the part that this process has.

Parts on the meta device have shapes only, and nothing is sent for them: those of meta tensors, and those of a process
outside the mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed import _collectives as collectives
from taeda.distributed import _counted
from taeda.distributed._reduce_op import ReduceOp
from taeda.distributed.device_mesh import DeviceMesh
from taeda.distributed.tensor._spec import DTensorSpec, Placements, cut_order, rank_along
from taeda.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard, pad_tensor, part_of

_OPS = {"sum": ReduceOp.SUM, "avg": ReduceOp.AVG, "max": ReduceOp.MAX, "min": ReduceOp.MIN,
        "product": ReduceOp.PRODUCT}  # fmt: skip


def reduce_along(tensor: Tensor, mesh: DeviceMesh, dim: int, op: Any = ReduceOp.SUM) -> Tensor:
    """Reduces ``tensor``, in place, over the processes along a dimension of the mesh."""
    if not tensor.is_meta:
        _counted.tell("all_reduce")
        collectives.all_reduce(tensor, op=op, group=mesh.get_group(dim))
    return tensor


def local_of(whole: Tensor, spec: DTensorSpec) -> Tensor:
    """This process's part of what every process has whole."""
    for dim in cut_order(spec.placements):
        whole = _cut(whole, dim, spec.placements[dim], spec)
    return whole


def move(local: Tensor, spec: DTensorSpec, wanted: Placements) -> Tensor:
    """The part of this process where the tensor lies as ``wanted`` in place of ``spec``."""
    current = list(spec.placements)
    if tuple(current) == wanted:
        return local
    order, later = cut_order(current), cut_order(wanted)
    for dim in reversed(order):
        if current[dim] == wanted[dim] and not _is_above_a_change(dim, current, wanted, order, later):
            continue
        if _scatters(dim, current, wanted):
            local = _reduce_scatter(local, dim, current[dim], wanted[dim], spec)
            current[dim] = wanted[dim]
        elif not current[dim].is_replicate():
            local = _whole(local, dim, spec, current, order)
            current[dim] = Replicate()
    for dim in later:
        if current[dim] != wanted[dim]:
            local = _cut(local, dim, wanted[dim], spec)
    return local


def _is_above_a_change(
    dim: int, current: Sequence[Placement], wanted: Placements, order: list[int], later: list[int]
) -> bool:
    """Whether a dimension of the mesh that cuts the same dimension of the tensor before, or is to do so, changes."""
    here = current[dim]
    if not isinstance(here, Shard):
        return False
    before = [(one, current) for one in order[: order.index(dim)]] + [
        (one, wanted) for one in later[: later.index(dim)]
    ]
    return any(current[one] != wanted[one] and placed[one].is_shard(here.dim) for one, placed in before)


def _scatters(dim: int, current: Sequence[Placement], wanted: Placements) -> bool:
    """Whether terms become parts, with nothing else along that dimension of the tensor, before or after."""
    target = wanted[dim]
    if not current[dim].is_partial() or not isinstance(target, Shard):
        return False
    return not any(one.is_shard(target.dim) for at, one in enumerate((*wanted, *current)) if at % len(wanted) != dim)


def _whole(local: Tensor, dim: int, spec: DTensorSpec, current: Sequence[Placement], order: list[int]) -> Tensor:
    """What all processes along a dimension of the mesh have together."""
    placement = current[dim]
    if isinstance(placement, Partial):
        return reduce_along(local.clone(memory_format=taeda.contiguous_format), spec.mesh, dim, _op(placement))
    assert isinstance(placement, Shard)
    # Its length before this dimension of the mesh cut it: earlier ones that cut the same have done so.
    length = spec.shape[placement.dim]
    for outer in order[: order.index(dim)]:
        if current[outer].is_shard(placement.dim):
            length = part_of(length, spec.mesh.size(outer), rank_along(spec.mesh, outer))[1]
    count = spec.mesh.size(dim)
    step = -(-length // count)
    first = local.movedim(placement.dim, 0)
    own = pad_tensor(first, 0, step - first.shape[0]).contiguous()
    parts = own.new_empty((count * step, *first.shape[1:]))
    if not local.is_meta:
        _counted.tell("all_gather_into_tensor")
        collectives.all_gather_into_tensor(parts, own, group=spec.mesh.get_group(dim))
    return parts[:length].movedim(0, placement.dim).contiguous()


def _reduce_scatter(local: Tensor, dim: int, old: Placement, new: Placement, spec: DTensorSpec) -> Tensor:
    assert isinstance(old, Partial) and isinstance(new, Shard)
    count = spec.mesh.size(dim)
    first = local.movedim(new.dim, 0)
    step = -(-first.shape[0] // count)
    padded = pad_tensor(first, 0, count * step - first.shape[0]).contiguous()
    own = padded.new_empty((step, *first.shape[1:]))
    if not local.is_meta:
        _counted.tell("reduce_scatter_tensor")
        collectives.reduce_scatter_tensor(own, padded, op=_op(old), group=spec.mesh.get_group(dim))
    size = part_of(first.shape[0], count, rank_along(spec.mesh, dim))[1]
    return own[:size].movedim(0, new.dim).contiguous()


def _op(placement: Partial) -> Any:
    return _OPS[placement.reduce_op]


def _cut(whole: Tensor, dim: int, placement: Placement, spec: DTensorSpec) -> Tensor:
    """This process's part, along a dimension of the mesh, of what all along it have whole."""
    rank, count = rank_along(spec.mesh, dim), spec.mesh.size(dim)
    if isinstance(placement, Shard):
        start, size = part_of(whole.shape[placement.dim], count, rank)
        return whole.narrow(placement.dim, start, size).contiguous()
    neutral = {"sum": 0, "product": 1}
    if isinstance(placement, Partial) and placement.reduce_op in neutral and rank:
        return taeda.full_like(whole, neutral[placement.reduce_op])
    return whole
