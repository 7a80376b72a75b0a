"""Parameters that were DTensors before they were wrapped: tensor parallelism has cut them, and the wrapper does again.

What a wrapper gathers of such a parameter is this process's part along the outer cut. Whoever looks from outside gets
a DTensor of that, of the outer mesh or of the one that both meshes are dimensions of.
"""

from __future__ import annotations

from typing import Any

from taeda import Tensor


def seen(part: Tensor, outer: Any) -> Any:
    """A DTensor of the process's part, if there is an outer cut."""
    if outer is None:
        return part
    from taeda.distributed.tensor import DTensor

    return DTensor(part, outer, requires_grad=False)


def local(tensor: Any) -> Tensor:
    """This process's part of a DTensor; another tensor is one already."""
    return tensor._local_tensor if hasattr(tensor, "_local_tensor") else tensor


def whole(value: Any) -> Any:
    """A tensor whole, if it is cut."""
    if hasattr(value, "local_shards"):
        return value._whole()
    return value.full_tensor() if hasattr(value, "full_tensor") else value


def part_of(value: Any, outer: Any) -> Tensor:
    """This process's part, along the outer cut, of a value that is whole or cut in whichever way."""
    from taeda.distributed.tensor._redistribute import local_of

    if outer is None:
        return whole(value)
    spec = getattr(value, "_spec", None)
    if spec is not None and spec.mesh == outer.mesh and spec.placements == outer.placements:
        return local(value)
    return local_of(whole(value), outer)


def groups_of(outer: Any) -> tuple[Any, ...]:
    """The process groups whose processes have different parts."""
    if outer is None:
        return ()
    cuts = [dim for dim, placement in enumerate(outer.placements) if placement.is_shard()]
    return tuple(outer.mesh.get_group(dim) for dim in cuts)


def is_part(mesh: Any) -> bool:
    """Whether a mesh is some of the dimensions of another."""
    root = None if mesh is None else mesh._get_root_mesh()
    return root is not None and root is not mesh and set(mesh._dims) <= set(root._dims)


def cut_too(part: Tensor, outer: Any, mesh: Any, shards: bool) -> Any:
    """A DTensor over the mesh that ``mesh``, the wrapper's, is a part of; cut along the first dimension by the last
    of the wrapper's dimensions (``shards``), and by the outer ones as before.

    Raises:
        RuntimeError: the two cuts' meshes are not dimensions of one mesh.
    """
    from taeda.distributed.tensor import DTensor, Replicate, Shard
    from taeda.distributed.tensor._redistribute import move
    from taeda.distributed.tensor._spec import DTensorSpec

    root: Any = None if mesh is None else mesh._get_root_mesh()
    if not is_part(mesh) or outer is not None and not (outer.mesh._get_root_mesh() is root and is_part(outer.mesh)):
        raise RuntimeError(
            "FullyShardedDataParallel: a sharded state of tensor-parallel parameters wants one mesh of both cuts: make "
            "it with init_device_mesh, parallelize the module along one of its dimensions, and give another as "
            f"device_mesh=; got {mesh}"
        )
    placed: list[Any] = [Replicate()] * root.ndim
    for dim, placement in zip(outer.mesh._dims, outer.placements, strict=True) if outer is not None else ():
        placed[root._dims.index(dim)] = placement
    spec = DTensorSpec(root, tuple(placed), tuple(part.shape if outer is None else outer.shape))
    if shards:
        placed[root._dims.index(mesh._dims[-1])] = Shard(0)
    both = spec._replace(placements=tuple(placed))
    return DTensor(move(part, spec, both.placements).clone(), both, requires_grad=False)
