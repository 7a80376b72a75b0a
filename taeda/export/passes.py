"""Changes of whole exported programs."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.export.exported_program import ExportedProgram
from taeda.fx.graph_module import GraphModule
from taeda.utils import _pytree as pytree

__all__ = ["move_to_device_pass"]

Location = taeda.device | str | dict[str, str]


def move_to_device_pass(ep: ExportedProgram, location: Location) -> ExportedProgram:
    """Moves a program to another device: its tensors, and what its ops make there.

    Args:
        ep: the program, which is changed in place.
        location: the device; or for devices those in their places.

    Returns:
        ``ep``.
    """

    def moved(device: Any) -> Any:
        if not isinstance(location, dict):
            return taeda.device(location)
        return taeda.device(location.get(str(device), location.get(device.type, str(device))))

    def move(value: Any) -> Any:
        if isinstance(value, taeda.device):
            return moved(value)
        return value.to(moved(value.device)) if isinstance(value, Tensor) else value

    for table in (ep._state_dict, ep._constants):
        seen: dict[int, Any] = {}
        for path, value in table.items():
            if id(value) not in seen:
                with taeda.no_grad():
                    new = move(value)
                seen[id(value)] = nn.Parameter(new, value.requires_grad) if isinstance(value, nn.Parameter) else new
            table[path] = seen[id(value)]
    for module in ep.graph_module.modules():
        if not isinstance(module, GraphModule):
            continue
        for node in module.graph.nodes:
            node.args, node.kwargs = pytree.tree_map_only(taeda.device, moved, (node.args, node.kwargs))
            node.meta["val"] = pytree.tree_map(move, node.meta.get("val"))
        module.recompile()
    if ep._example_inputs is not None:
        ep._example_inputs = pytree.tree_map(move, ep._example_inputs)
    return ep
