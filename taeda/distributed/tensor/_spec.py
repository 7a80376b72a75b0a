"""Where a `DTensor` lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from taeda.distributed.device_mesh import DeviceMesh, current_mesh
from taeda.distributed.tensor.placement_types import Placement, Replicate, Shard

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
            wanted[at] = Shard(placement.dim % ndim)
    return mesh, tuple(wanted)


def part_of(length: int, count: int, rank: int) -> tuple[int, int]:
    """Start and length of a process's part: all but the last ones have as many as fit evenly, rounded up."""
    step = -(-length // count)
    start = min(rank * step, length)
    return start, min(step, length - start)


def local_shape(spec: DTensorSpec) -> tuple[int, ...]:
    """The shape of this process's part."""
    sizes = list(spec.shape)
    for dim, placement in enumerate(spec.placements):
        if isinstance(placement, Shard):
            rank, count = spec.mesh.get_local_rank(dim), spec.mesh.size(dim)
            sizes[placement.dim] = part_of(sizes[placement.dim], count, rank)[1]
    return tuple(sizes)
