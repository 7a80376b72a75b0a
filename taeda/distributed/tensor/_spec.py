"""Where a `DTensor` lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from taeda.distributed.device_mesh import DeviceMesh, current_mesh
from taeda.distributed.tensor.placement_types import Placement, Replicate, Shard, _StridedShard, part_of

Placements = tuple[Placement, ...]


class DTensorSpec(NamedTuple):
    """The mesh, how the tensor lies over each of its dimensions, and the whole tensor's shape."""

    mesh: DeviceMesh
    placements: Placements
    shape: tuple[int, ...]


def placements_for(
    function: str, ndim: int, mesh: DeviceMesh | None, placements: Sequence[Placement] | None
) -> tuple[DeviceMesh, Placements]:
    """The placements, whole on each process by default, of a tensor with ``ndim`` dimensions; negative ones counted.

    Raises:
        RuntimeError: there is no mesh, or a `Shard` along a dimension that is not there.
        ValueError: not one placement for each dimension of the mesh.
    """
    mesh = current_mesh(function) if mesh is None else mesh
    wanted: list[Placement] = [Replicate()] * mesh.ndim if placements is None else list(placements)
    if len(wanted) != mesh.ndim or not all(isinstance(p, Placement) for p in wanted):
        raise ValueError(
            f"{function}: {mesh.ndim} placements are wanted, one for each dimension of {mesh}; got {wanted}"
        )
    for at, placement in enumerate(wanted):
        if isinstance(placement, Shard):
            if not -ndim <= placement.dim < ndim:
                raise RuntimeError(f"{function}: {placement} of a tensor with {ndim} dimensions")
            wanted[at] = replace(placement, dim=placement.dim % ndim)
    return mesh, tuple(wanted)


def cut_order(placements: Sequence[Placement]) -> list[int]:
    """The dimensions of the mesh in the order in which they cut a tensor: strided ones after the others."""
    strided = [dim for dim, placement in enumerate(placements) if isinstance(placement, _StridedShard)]
    return [dim for dim in range(len(placements)) if dim not in strided] + strided


def rank_along(mesh: DeviceMesh, dim: int) -> int:
    """This process's number along a dimension of the mesh; outside of the mesh the first one's, whose shapes count."""
    here = mesh.get_coordinate()
    return 0 if here is None else here[dim]


def part_in_whole(spec: DTensorSpec) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of this process's part, and where in the whole it begins."""
    sizes, starts = list(spec.shape), [0] * len(spec.shape)
    for dim in cut_order(spec.placements):
        placement = spec.placements[dim]
        if isinstance(placement, Shard):
            rank, count = rank_along(spec.mesh, dim), spec.mesh.size(dim)
            start, sizes[placement.dim] = part_of(sizes[placement.dim], count, rank)
            starts[placement.dim] += start
    return tuple(sizes), tuple(starts)


def local_shape(spec: DTensorSpec) -> tuple[int, ...]:
    """The shape of this process's part."""
    return part_in_whole(spec)[0]
