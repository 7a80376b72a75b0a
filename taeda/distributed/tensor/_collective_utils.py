"""Collectives over one dimension of a mesh, and the padding that parts of one length need."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda.distributed._collectives import broadcast, scatter
from taeda.distributed._queries import get_global_rank
from taeda.distributed.device_mesh import DeviceMesh
from taeda.distributed.tensor.placement_types import pad_tensor as pad_tensor

__all__ = ["mesh_broadcast", "mesh_scatter", "pad_tensor", "unpad_tensor"]


def unpad_tensor(tensor: Tensor, dim: int, count: int) -> Tensor:
    """``tensor`` without the last ``count`` places of a dimension."""
    return tensor.narrow(dim, 0, tensor.shape[dim] - count)


def mesh_broadcast(
    tensor: Tensor, mesh: DeviceMesh, mesh_dim: int = 0, async_op: bool = False, *, group_src: int = 0
) -> Any:
    """Gives ``tensor`` of the process ``group_src`` to all along a dimension of the mesh, in place; a Work if
    ``async_op``. Nothing happens to meta tensors."""
    if tensor.is_meta:
        return None
    group = mesh.get_group(mesh_dim)
    return broadcast(tensor, get_global_rank(group, group_src), group, async_op)


def mesh_scatter(
    output: Tensor, scatter_list: list[Tensor], mesh: DeviceMesh, mesh_dim: int = 0, async_op: bool = False, *,
    group_src: int = 0,
) -> Any:  # fmt: skip
    """Gives one tensor of the process ``group_src`` to each along a dimension of the mesh; as in `mesh_broadcast`."""
    if output.is_meta:
        return None
    group = mesh.get_group(mesh_dim)
    parts = [part.contiguous() for part in scatter_list] if group.rank() == group_src else None
    return scatter(output, parts, get_global_rank(group, group_src), group, async_op)
