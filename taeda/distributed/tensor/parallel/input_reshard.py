"""Activations that all processes have alike, kept for the backward pass in parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.distributed.device_mesh import DeviceMesh
from taeda.distributed.tensor._dtensor import DTensor
from taeda.distributed.tensor.placement_types import Replicate, Shard

__all__ = ["input_reshard"]


def input_reshard(module: nn.Module, tp_device_mesh: DeviceMesh, input_reshard_dim: int | None = None) -> nn.Module:
    """What ``module`` keeps for its backward pass is kept in parts over the mesh, and gathered when it is needed.

    Args:
        module: a module whose inputs are the same on all processes of the mesh.
        tp_device_mesh: the processes, of one dimension.
        input_reshard_dim: the dimension along which tensors are cut; None leaves the module as it is.
    """
    if input_reshard_dim is None:
        return module
    hooks: list[Any] = []

    def before(_: nn.Module, inputs: Any) -> None:
        pack = partial(_pack, tp_device_mesh, input_reshard_dim)
        hooks.append(taeda.autograd.graph.saved_tensors_hooks(pack, _unpack))
        hooks[-1].__enter__()

    def behind(_: nn.Module, inputs: Any, output: Any) -> None:
        hooks.pop().__exit__(None, None, None)

    module.register_forward_pre_hook(before)
    module.register_forward_hook(behind, always_call=True)
    return module


def _pack(mesh: DeviceMesh, dim: int, tensor: Tensor) -> Tensor | Callable[[], Tensor]:
    """This process's part of ``tensor``, or a function that gives the whole."""
    if isinstance(tensor, DTensor) and all(one.is_replicate() for one in tensor.placements):
        return tensor.redistribute(placements=[Shard(dim)])
    keeps = isinstance(tensor, (DTensor, nn.Parameter)) or tensor.dim() <= dim or tensor._is_view()
    if keeps or not tensor.is_floating_point() or tensor.shape[dim] % mesh.size():
        return tensor
    part = DTensor.from_local(tensor, mesh, [Replicate()], run_check=False).redistribute(placements=[Shard(dim)])
    return lambda: part.full_tensor()


def _unpack(kept: Any) -> Tensor:
    if isinstance(kept, DTensor):
        return kept.redistribute(placements=[Replicate()])
    return kept if isinstance(kept, Tensor) else kept()
