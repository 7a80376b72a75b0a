"""Laying tensors and modules over a mesh."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from taeda import Tensor, nn
from taeda.distributed._replicas import broadcast_coalesced
from taeda.distributed.device_mesh import DeviceMesh, current_mesh
from taeda.distributed.tensor._dtensor import DTensor
from taeda.distributed.tensor._redistribute import local_of
from taeda.distributed.tensor._spec import DTensorSpec, placements_for
from taeda.distributed.tensor.placement_types import Placement


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor:
    """A DTensor of the values of ``tensor``, copied: a leaf, which requires a gradient if ``tensor`` does.

    Args:
        device_mesh: that of ``with mesh:`` by default.
        placements: `Replicate` by default.
        src_data_rank: whose values count, by its number along the mesh; None: each process's own.

    Raises:
        RuntimeError: no mesh, or a tensor that is no leaf.
        ValueError: placements that do not fit; a DTensor on another mesh or with other placements.
    """
    if not isinstance(tensor, DTensor) and not tensor.is_leaf:
        raise RuntimeError("distribute_tensor: a leaf is wanted; DTensor.from_local keeps the graph")
    mesh, placed = placements_for("distribute_tensor", tensor.ndim, device_mesh, placements)
    spec = DTensorSpec(mesh, placed, tuple(tensor.shape))
    if isinstance(tensor, DTensor):
        if tensor._spec != spec:
            raise ValueError(f"distribute_tensor: a DTensor of {tensor._spec} is redistributed, not distributed")
        return tensor
    outside = mesh.get_coordinate() is None
    whole = tensor.detach().to("meta" if outside or tensor.is_meta else mesh.device_type, copy=True).contiguous()
    if src_data_rank is not None and not whole.is_meta:
        for dim in range(mesh.ndim):
            broadcast_coalesced(mesh.get_group(dim), [whole], src_data_rank if mesh.ndim == 1 else 0)
    local = local_of(whole, spec)
    return DTensor(local.clone() if local.numel() < whole.numel() else local, spec, requires_grad=tensor.requires_grad)


def distribute_module(
    module: nn.Module,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable[[str, nn.Module, DeviceMesh], None] | None = None,
    input_fn: Callable[[nn.Module, Any, DeviceMesh], Any] | None = None,
    output_fn: Callable[[nn.Module, Any, DeviceMesh], Any] | None = None,
) -> nn.Module:
    """Makes a module's parameters and buffers DTensors, in place: `Replicate` unless ``partition_fn`` says otherwise.

    Args:
        partition_fn: called with each submodule's name, the submodule and the mesh; puts DTensors into it.
        input_fn: makes the module's positional arguments of those given; called with the module, them and the mesh.
        output_fn: makes the result of that of the module, likewise.

    Raises:
        RuntimeError: no mesh, or the module is distributed already.
    """
    if getattr(module, "_distribute_module_applied", False):
        raise RuntimeError("distribute_module: the module is distributed already")
    mesh = current_mesh("distribute_module") if device_mesh is None else device_mesh
    for name, part in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, part, mesh)
        _replicate(part, mesh)
    if (before := _takes_module("input_fn", input_fn)) is not None:
        module.register_forward_pre_hook(lambda mod, inputs: before(mod, inputs, mesh))
    if (after := _takes_module("output_fn", output_fn)) is not None:
        module.register_forward_hook(lambda mod, inputs, outputs: after(mod, outputs, mesh))
    module._distribute_module_applied = True  # type: ignore[assignment]
    return module


def _takes_module(name: str, function: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """``function``, which in its old form is not given the module."""
    if function is None or len(inspect.signature(function).parameters) != 2:
        return function
    warnings.warn(
        f"distribute_module: {name} is called with (module, values, mesh); one of (values, mesh) is an old form",
        FutureWarning, stacklevel=3,
    )  # fmt: skip
    return lambda module, values, mesh: function(values, mesh)


def _replicate(module: nn.Module, mesh: DeviceMesh) -> None:
    for name, param in module._parameters.items():
        if param is not None and not isinstance(param, DTensor):
            module._parameters[name] = nn.Parameter(distribute_tensor(param.data, mesh), param.requires_grad)
    for name, buffer in module._buffers.items():
        if buffer is not None and not isinstance(buffer, DTensor):
            module._buffers[name] = distribute_tensor(buffer, mesh)
