"""Equalisation in prepared graphs: observers of channels go in, and become scales before the graph is converted."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import taeda
from taeda import Tensor, fx, nn
from taeda.ao.nn.intrinsic.modules.fused import _FusedModule
from taeda.ao.quantization.fx import equalize_observers as equalize
from taeda.ao.quantization.fx import prepare
from taeda.ao.quantization.fx.patterns import is_call, is_relu, module_of
from taeda.ao.quantization.observer import MinMaxObserver
from taeda.ao.quantization.qconfig_mapping import QConfigMapping
from taeda.nn import functional as F

_FUNCTIONS = (F.linear, F.conv1d, F.conv2d, F.conv3d)
_MODULES = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
_CONFIGS = "equalization_qconfigs"


def _layer(node: fx.Node, modules: dict[str, nn.Module]) -> Any:
    """The linear layer or convolution that a node calls, also one with a ReLU; None for others."""
    module: Any = module_of(node, modules)
    module = module[0] if isinstance(module, _FusedModule) else module
    return module if type(module) in _MODULES and getattr(module, "groups", 1) == 1 else None


def _can_be_equalised(node: fx.Node, modules: dict[str, nn.Module]) -> bool:
    if is_call(node, _FUNCTIONS):
        groups = node.args[6] if len(node.args) > 6 else node.kwargs.get("groups", 1)
        return groups == 1 and len(node.args) > 1
    return _layer(node, modules) is not None


def insert(model: fx.GraphModule, mapping: QConfigMapping) -> None:
    """Observers of channels before those of a prepared graph's inputs and weights, where the mapping has a config."""
    modules = dict(model.named_modules(remove_duplicate=False))
    qconfigs, scopes = model.meta["quantization_qconfigs"], model.meta["quantization_scopes"]
    calls: dict[tuple[str, Any], int] = defaultdict(int)
    configs: dict[str, Any] = {}
    for node in list(model.graph.nodes):
        if node.op not in ("call_module", "call_function", "call_method") or node.name not in qconfigs:
            continue
        config = prepare.qconfig_of_call(node, mapping, scopes, modules, calls)
        if config is None or qconfigs[node.name] is None or not _can_be_equalised(node, modules):
            continue
        seen = node.args[0]
        if not isinstance(module_of(seen, modules), nn.Module) or not hasattr(module_of(seen, modules), "qscheme"):
            continue
        if sum(qconfigs.get(user.name) is not None for user in seen.users) > 1:  # who else is quantised has no scale
            continue
        configs[node.name] = config
        _before(model, seen, f"{node.name}_input_equalization", config.input_activation())
        if is_call(node, _FUNCTIONS):
            _before(model, node.args[1], f"{node.name}_weight_equalization", config.weight())
    model.meta[_CONFIGS] = configs
    model.recompile()


def _before(model: fx.GraphModule, seen: fx.Node, name: str, observer: nn.Module) -> None:
    """An observer between a value and the observer that sees it."""
    setattr(model, name, observer)
    with model.graph.inserting_before(seen):
        made = model.graph.create_node("call_module", name, (seen.args[0],), {}, name=name)
    seen.args = (made,)


class _Equaliser:
    """Turns observers into scales: of the layers in the order in which they run."""

    def __init__(self, model: fx.GraphModule) -> None:
        self.model, self.graph = model, model.graph
        self.modules = dict(model.named_modules(remove_duplicate=False))
        nodes = {node.name: node for node in self.graph.nodes}
        self.layers = [(nodes[name], config) for name, config in model.meta.pop(_CONFIGS).items()]

    def run(self) -> None:
        for node, config in self.layers:
            self._equalise(node, config)
        self.graph.lint()
        self.model.recompile()

    def _equalise(self, node: fx.Node, config: Any) -> None:
        seen: Any = node.args[0]
        watching = seen.args[0]
        inputs: Any = self.modules[str(watching.target)]
        weights = self._weights_of(node, config)
        scale = equalize.calculate_equalization_scale(inputs, weights)
        value = watching.args[0]
        seen.args = (value,)
        self.graph.erase_node(watching)
        inputs.set_equalization_scale(scale)
        giver = self._giver(value, seen)
        if giver is None:
            seen.args = (self._multiplied(seen, value, inputs.equalization_scale),)
        if scale.dim() == 0:  # nothing was seen, and the scale is 1
            return
        self._scale_weight(node, scale.reciprocal(), 1)
        if giver is not None:
            self._scale_weight(giver, scale, 0)
        self._set_range(seen, inputs)

    def _weights_of(self, node: fx.Node, config: Any) -> Any:
        if not is_call(node, _FUNCTIONS):
            made = config.weight()
            made(_layer(node, self.modules).weight.detach())
            return made
        seen: Any = node.args[1]
        watching = seen.args[0]
        seen.args = (watching.args[0],)
        self.graph.erase_node(watching)
        return self.modules[str(watching.target)]

    def _giver(self, value: fx.Node, seen: fx.Node) -> fx.Node | None:
        """The equalised layer that alone gives a value, maybe through a ReLU, to the observer alone."""
        equalised = [node for node, _ in self.layers]
        while list(value.users) == [seen]:
            if value in equalised:
                return value
            if not is_relu(value, self.modules):
                return None
            seen, value = value, value.args[0]  # type: ignore[assignment]
        return None

    def _scale_weight(self, node: fx.Node, scale: Tensor, axis: int) -> None:
        """Times a scale along an axis of the weight; along 0 the bias, too."""
        if (layer := _layer(node, self.modules)) is not None:
            with taeda.no_grad():
                layer.weight.copy_(layer.weight * equalize.reshape_scale(scale, axis, layer.weight))
                if axis == 0 and layer.bias is not None:
                    layer.bias.copy_(layer.bias * scale)
            return
        self._scale_attribute(node.args[1], scale, axis)
        bias = node.args[2] if len(node.args) > 2 else node.kwargs.get("bias")
        if axis == 0 and isinstance(bias, fx.Node):
            self._scale_attribute(bias, scale, 0)

    def _scale_attribute(self, node: Any, scale: Tensor, axis: int) -> None:
        """A parameter of the graph, which may stand behind an observer, as a buffer that is scaled."""
        if node.op == "call_module":
            self.modules[str(node.target)].reset_min_max_vals()  # type: ignore[operator]
            node = node.args[0]
        old: Any = self.model
        for part in str(node.target).split("."):
            old = getattr(old, part)
        name = self._free(f"{node.name}_equalized")
        self.model.register_buffer(name, old.detach() * equalize.reshape_scale(scale, axis, old))
        node.target = name

    def _multiplied(self, seen: fx.Node, value: fx.Node, scale: Tensor) -> fx.Node:
        name = self._free(f"{value.name}_equalization_scale")
        self.model.register_buffer(name, scale)
        with self.graph.inserting_before(seen):
            factor = self.graph.create_node("get_attr", name, name=name)
            return self.graph.call_function(taeda.mul, (value, factor))

    def _free(self, name: str) -> str:
        number = 0
        while hasattr(self.model, f"{name}_{number}"):
            number += 1
        return f"{name}_{number}"

    def _set_range(self, seen: fx.Node, inputs: Any) -> None:
        """The observer of the whole input takes the range that it has after scaling."""
        old: Any = self.modules[str(seen.target)]
        if not isinstance(old, MinMaxObserver):
            limits = {"quant_min": old.quant_min, "quant_max": old.quant_max}
            old = MinMaxObserver(dtype=old.dtype, qscheme=old.qscheme, **limits)
            setattr(self.model, str(seen.target), old)
            self.modules[str(seen.target)] = old
        old.min_val, old.max_val = inputs.calculate_scaled_minmax()


def equalise(model: fx.GraphModule) -> None:
    """Scales for what the observers of channels saw, in place; nothing where there are none."""
    if _CONFIGS in model.meta:
        _Equaliser(model).run()
