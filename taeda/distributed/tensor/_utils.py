"""Which part of a tensor a process has."""

from __future__ import annotations

from collections.abc import Sequence

from taeda.distributed.device_mesh import DeviceMesh
from taeda.distributed.tensor._spec import DTensorSpec, part_in_whole
from taeda.distributed.tensor.placement_types import Placement

__all__ = ["compute_local_shape_and_global_offset"]


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement], skip_offset: bool = False
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of this process's part, and where in the whole it begins; () for that with ``skip_offset``.

    Of a process outside the mesh: (0,) and ().
    """
    if mesh.get_coordinate() is None:
        return (0,), ()
    shape, offset = part_in_whole(DTensorSpec(mesh, tuple(placements), tuple(global_shape)))
    return shape, () if skip_offset else offset
