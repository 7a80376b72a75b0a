"""What modules of `nn` are made of, as attributes of the nodes that call them."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import nn
from taeda.fx.graph_module import GraphModule

__all__ = ["default_matching", "extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes"]

_CONVOLUTION = ["weight", "bias", "kernel_size", "stride", "padding", "dilation", "groups", "padding_mode"]
# By class: the version that is known, and the attributes.
module_fetch_book: dict[type, tuple[int, list[str]]] = {
    nn.Linear: (1, ["weight", "bias"]),
    nn.Conv2d: (1, _CONVOLUTION),
    nn.BatchNorm2d: (2, ["weight", "bias", "running_mean", "running_var", "eps"]),
    nn.AdaptiveAvgPool2d: (1, []),
    nn.MaxPool2d: (1, ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]),
    nn.ReLU: (1, ["inplace"]),
}


def default_matching(name: str, target_version: int) -> str:
    """An attribute's name in a version of its class: the same."""
    return name


def extract_attrs_for_lowering(mod: nn.Module) -> dict[str, Any]:
    """A module's class, as ``"name"``, and the attributes that define it.

    Raises:
        RuntimeError: the class is not among those of ``module_fetch_book``, or is newer.
    """
    kind = type(mod)
    if kind not in module_fetch_book:
        raise RuntimeError(f"taeda.fx.extract_attrs_for_lowering: {kind.__name__} is not in module_fetch_book")
    version, names = module_fetch_book[kind]
    if version < mod._version:
        raise RuntimeError(
            f"taeda.fx.extract_attrs_for_lowering: version {version} of {kind.__name__} is known; got {mod._version}"
        )
    found: dict[str, Any] = {"name": taeda.typename(mod)}
    return found | {name: getattr(mod, default_matching(name, mod._version)) for name in names}


def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Sets ``attrs_for_lowering`` of the nodes that call modules, in modules of graphs within, too."""
    submodules = dict(fx_module.named_modules())
    for node in fx_module.graph.nodes:
        if node.op == "call_module":
            module = submodules[str(node.target)]
            if isinstance(module, GraphModule):
                lift_lowering_attrs_to_nodes(module)
            else:
                setattr(node, "attrs_for_lowering", extract_attrs_for_lowering(module))  # noqa: B010
