"""Copies of a module on several devices, whose gradients all reach the one module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda

__all__ = ["replicate"]


def replicate(network: Any, devices: Sequence[Any], detach: bool = False) -> list[Any]:
    """A copy of ``network`` for each device: its parameters are functions of the original ones, unless ``detach``."""
    modules = list(network.modules())
    positions = {id(module): i for i, module in enumerate(modules)}
    return [_copy_to(modules, positions, taeda.device(device), detach)[0] for device in devices]


def _copy_to(modules: list[Any], positions: dict[int, int], device: Any, detach: bool) -> list[Any]:
    copies = [module._replicate_for_data_parallel() for module in modules]
    moved: dict[int, Any] = {}

    def on_device(tensor: Any, detached: bool) -> Any:
        if id(tensor) not in moved:
            there = tensor.to(device)
            # The copy is no leaf: what it is a function of stays the module's own parameter.
            moved[id(tensor)] = there.detach() if detached else there.view_as(there)
        return moved[id(tensor)]

    for module, copy in zip(modules, copies, strict=True):
        for name, child in module._modules.items():
            copy._modules[name] = None if child is None else copies[positions[id(child)]]
        for name, param in module._parameters.items():
            if param is None:
                continue
            vars(copy)[name] = on_device(param, detach)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                copy._buffers[name] = on_device(buffer, detach or not buffer.requires_grad)
    return copies
