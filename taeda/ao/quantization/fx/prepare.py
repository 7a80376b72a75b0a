"""Puts observers into a graph."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import taeda
from taeda import fx, nn
from taeda.ao.nn import quantizable
from taeda.ao.nn.intrinsic.modules.fused import _FusedModule
from taeda.ao.quantization import observer as observers
from taeda.ao.quantization.backend_config.constraints import handles
from taeda.ao.quantization.fake_quantize import FixedQParamsFakeQuantize
from taeda.ao.quantization.fx.convert import set_module
from taeda.ao.quantization.fx.custom_config import PrepareCustomConfig
from taeda.ao.quantization.fx.patterns import (
    LINEARS,
    MATMULS,
    WEIGHT_AT,
    data_of,
    is_call,
    items_of,
    kind_of,
    module_of,
    relu_after,
    takes_relu,
)
from taeda.ao.quantization.qconfig import _assert_valid_qconfig
from taeda.ao.quantization.qconfig_mapping import QConfigMapping
from taeda.ao.quantization.quant_type import QuantType
from taeda.ao.quantization.quantization_mappings import (
    get_default_qat_module_mappings,
    get_embedding_qat_module_mappings,
)
from taeda.ao.quantization.utils import QUANTIZED
from taeda.nn.utils.parametrize import type_before_parametrizations as class_of

Scopes = dict[str, tuple[str, Any]]


def _training_classes() -> dict[Any, Any]:
    """By the float class, that whose weights are rounded."""
    return {**get_embedding_qat_module_mappings(), **get_default_qat_module_mappings()}


def qconfig_of_call(
    node: fx.Node, mapping: QConfigMapping, scopes: Scopes, modules: dict[str, nn.Module],
    calls: dict[tuple[str, Any], int],
) -> Any:  # fmt: skip
    """What a mapping says of a call. ``calls`` counts those before it by where they are and what they call."""
    scope = scopes.get(node.name, ("", None))[0]
    module = module_of(node, modules)
    if module is not None:
        kind = type(module[0]) if isinstance(module, _FusedModule) else class_of(module)
        kind = next((plain for plain, own in _training_classes().items() if own is kind), kind)
        by_type = mapping.object_type_qconfigs
        fused = isinstance(module, _FusedModule) and by_type.get(kind) is None  # None is no word on what is fused
        path = str(node.target)
        parent = path.rpartition(".")[0]
    else:
        kind, path, parent, fused = node.target, scope, scope, False
    index = calls[parent, kind]
    calls[parent, kind] += 1
    by_order = mapping.module_name_object_type_order_qconfigs
    if (parent, kind, index) in by_order:
        return by_order[parent, kind, index]
    return mapping.qconfig_of(path, type(module) if fused else kind)


class Preparer:
    """Walks through a graph once; a node's arguments are observed before it, and its result after it."""

    def __init__(
        self, model: fx.GraphModule, mapping: QConfigMapping, scopes: Scopes, config: PrepareCustomConfig,
        backend: Any = None, example_inputs: Any = (),
    ) -> None:  # fmt: skip
        self.example_inputs = example_inputs if isinstance(example_inputs, (tuple, list)) else (example_inputs,)
        self.model, self.mapping, self.scopes, self.config, self.backend = model, mapping, scopes, config, backend
        self.modules = dict(model.named_modules(remove_duplicate=False))  # a ReLU may be in a fused module, too
        self.seen: set[fx.Node] = set()  # the nodes that observe
        # By a float value: what observes it for the calls that want integers.
        self.seen_for: dict[fx.Node, fx.Node] = {}
        self.qconfigs: dict[str, Any] = {}  # by the name of a node
        self.count = 0
        self.calls: dict[tuple[str, Any], int] = defaultdict(int)

    def _qconfig_of(self, node: fx.Node) -> Any:
        return qconfig_of_call(node, self.mapping, self.scopes, self.modules, self.calls)

    def run(self) -> None:
        """Observers where they belong."""
        inputs = [node for node in self.model.graph.nodes if node.op == "placeholder"]
        examples = zip(inputs, self.example_inputs, strict=False)
        self.no_floats = {node for node, x in examples if isinstance(x, taeda.Tensor) and not x.is_floating_point()}
        self.quantized = {inputs[i] for i in self.config.input_quantized_indexes if i < len(inputs)}
        skipped: set[fx.Node] = set()
        for node in list(self.model.graph.nodes):
            if node.op == "get_attr":
                scope = self.scopes.get(node.name, ("", None))[0]
                self.qconfigs[node.name] = self.mapping.qconfig_of(scope, None)
            if node.op not in ("call_module", "call_function", "call_method"):
                continue
            qconfig = self._qconfig_of(node)
            self.qconfigs[node.name] = qconfig
            if (module := module_of(node, self.modules)) is not None:
                for part in (module, *(module.children() if isinstance(module, _FusedModule) else ())):
                    part.qconfig = qconfig  # not what an earlier call of prepare left there
            if node in skipped or qconfig is None:
                continue
            if self._replaced_by_an_observed_class(node, qconfig) or self._stands_alone(node, qconfig):
                continue
            kind = kind_of(node, self.modules)
            if kind is None or not self._handles(node, qconfig):
                continue
            after = relu_after(node, self.modules) if takes_relu(node) else None
            if self._observe(node, kind, qconfig, after) and after is not None:
                skipped.add(after)

    def _replaced_by_an_observed_class(self, node: fx.Node, qconfig: Any) -> bool:
        """Puts the user's observed class in the place of a float module that it is for; whether there is one."""
        module: Any = module_of(node, self.modules)
        for kind, classes in self.config.float_to_observed_mapping.items():
            if kind is QuantType.STATIC and class_of(module) in classes.values():  # another call of one
                for arg in data_of(node):
                    self._observed(node, arg, qconfig.activation)
                return True
            if class_of(module) not in classes:
                continue
            for part in module.modules():
                part.qconfig = qconfig
            made = classes[class_of(module)].from_float(module)
            made.qconfig = qconfig
            set_module(self.model, str(node.target), made)
            self.modules[str(node.target)] = made
            if isinstance(made, quantizable.LSTM):  # its parts have observers of their own
                for arg in node.all_input_nodes:
                    self._observed(node, arg, qconfig.activation)
                self.quantized |= {node, *items_of(node)}
            elif kind is QuantType.STATIC:
                for arg in data_of(node):
                    self._observed(node, arg, qconfig.activation)
                self._insert(node, qconfig.activation())
            return True
        return False

    def _stands_alone(self, node: fx.Node, qconfig: Any) -> bool:
        """Observes what a module takes that is prepared by itself and is given integers; whether it is one."""
        module = module_of(node, self.modules)
        by_class = self.config.standalone_module_classes.get(type(module))
        entry = self.config.standalone_module_names.get(str(node.target), by_class)
        if module is None or entry is None:
            return False
        config = entry[2] or PrepareCustomConfig()
        for i in config.input_quantized_indexes:
            if i < len(node.args):
                self._observed(node, node.args[i], qconfig.activation)  # type: ignore[arg-type]
        if 0 in config.output_quantized_indexes:
            self.quantized.add(node)
        return True

    def _handles(self, node: fx.Node, qconfig: Any) -> bool:
        """Whether the backend has a pattern for a node, and takes what the qconfig asks for."""
        if self.backend is None:
            activation = qconfig.activation()
            return getattr(activation, "is_dynamic", False) or activation.dtype not in (taeda.qint8, taeda.qint32)
        module = module_of(node, self.modules)
        return handles(self.backend, node.target if module is None else class_of(module), qconfig)

    def _observe(self, node: fx.Node, kind: str, qconfig: Any, after: fx.Node | None) -> bool:
        """Observes a node's arguments and result; whether it did."""
        activation = qconfig.activation()
        module = module_of(node, self.modules)
        if kind == "weighted" and isinstance(module, nn.modules.conv._ConvTransposeNd):
            _assert_valid_qconfig(qconfig, module)
        if getattr(activation, "is_dynamic", False):
            return self._observe_dynamic(node, kind, qconfig)
        if kind in ("recurrent", "table"):
            return False
        if activation.dtype not in QUANTIZED and not isinstance(activation, observers.ReuseInputObserver):
            return False
        if kind == "fixed" and not isinstance(activation, (observers.FixedQParamsObserver, FixedQParamsFakeQuantize)):
            return False
        data = data_of(node)
        reuses = isinstance(activation, observers.ReuseInputObserver)
        if kind == "share" and any(arg in self.no_floats for arg in data):
            self.no_floats.add(node)
            return False
        if not data or reuses and not all(arg in self.seen or arg in self.quantized for arg in data):
            return False
        if kind == "binary" and is_call(node, MATMULS) and len(data) < 2:
            return False
        found: dict[fx.Node, fx.Node] = {}  # one observer for a value that is given twice
        for place, arg in enumerate(data):
            is_weight = kind == "function" and place == WEIGHT_AT[node.target]
            if arg not in found:
                found[arg] = self._observed(node, arg, qconfig.weight if is_weight else qconfig.activation)
        seen = list(found.values())
        end = after or node
        if kind in ("share", "cat") or kind == "binary" and len(data) == 1:
            seen = [node for node in seen if node not in self.quantized]
            if not seen:
                return True  # the result has the scale with which the input comes
            self._share(seen)
            self._insert(end, self.model.get_submodule(str(seen[0].target)))
        else:
            self._insert(end, qconfig.activation())
        return True

    def _observe_dynamic(self, node: fx.Node, kind: str, qconfig: Any) -> bool:
        if is_call(node, LINEARS):
            first, *weights = data_of(node)
            self._observed(node, first, qconfig.activation)
            for weight in weights:
                self._observed(node, weight, qconfig.weight)
            return True
        module = module_of(node, self.modules)
        inner = module[0] if isinstance(module, _FusedModule) else module
        if kind not in ("weighted", "recurrent") or isinstance(inner, nn.modules.conv._ConvNd):
            return False
        for arg in data_of(node):
            seen = self.model.get_submodule(str(arg.target)) if arg in self.seen else None
            if not getattr(seen, "is_dynamic", False):  # behind that which quantises it for others, if one does
                self._observed(node, arg, qconfig.activation, again=True)
        return True

    def _observed(self, node: fx.Node, arg: fx.Node, maker: Any, again: bool = False) -> fx.Node:
        """What observes an argument of ``node``; others that take the value, and want no integers, get it as it is."""
        if not again and (arg in self.seen or arg in self.quantized):
            return arg
        if arg not in self.seen_for:
            self.seen_for[arg] = self._insert(arg, maker(), node)
        node.replace_input_with(arg, self.seen_for[arg])
        return self.seen_for[arg]

    def _share(self, seen: list[fx.Node]) -> None:
        """One observer for several values."""
        first = self.model.get_submodule(str(seen[0].target))
        for other in seen[1:]:
            setattr(self.model, str(other.target), first)

    def _insert(self, node: fx.Node, observer: nn.Module, only: fx.Node | None = None) -> fx.Node:
        name = f"activation_post_process_{self.count}"
        self.count += 1
        setattr(self.model, name, observer)
        with self.model.graph.inserting_after(node):
            seen = self.model.graph.create_node("call_module", name, (node,), {}, name=name)
        if only is None:
            node.replace_all_uses_with(seen, delete_user_cb=lambda user: user is not seen)
        self.seen.add(seen)
        return seen


def _swap_for_training(model: fx.GraphModule, preparer: Preparer) -> None:
    """Float modules become those whose weights are rounded."""
    table = _training_classes()
    for node in list(model.graph.nodes):
        module = module_of(node, preparer.modules)
        if module is None or class_of(module) not in table:
            continue
        qconfig = getattr(module, "qconfig", None)
        if qconfig is None or not isinstance(qconfig.weight(), taeda.ao.quantization.FakeQuantizeBase):
            continue
        made = table[class_of(module)].from_float(module)
        parent, _, name = str(node.target).rpartition(".")
        setattr(model.get_submodule(parent), name, made)
        preparer.modules[str(node.target)] = made


def _order_by_graph(model: fx.GraphModule) -> None:
    """States and listings follow the order in which modules are called."""
    nodes = (node for node in model.graph.nodes if node.op in ("call_module", "get_attr"))
    called = (str(node.target).partition(".")[0] for node in nodes)
    parts = model._modules
    model._modules = {**{name: parts[name] for name in called if name in parts}, **parts}


def prepare(
    model: fx.GraphModule, mapping: QConfigMapping, scopes: Scopes, is_qat: bool, config: PrepareCustomConfig,
    backend: Any = None, example_inputs: Any = (),
) -> fx.GraphModule:  # fmt: skip
    """Observers in a graph, in place; for training, modules that round their weights, too."""
    preparer = Preparer(model, mapping, scopes, config, backend, example_inputs)
    preparer.run()
    if is_qat:
        _swap_for_training(model, preparer)
    _order_by_graph(model)
    model.graph.lint()
    model.recompile()
    model.meta["quantization_scopes"] = scopes
    model.meta["quantization_qconfigs"] = preparer.qconfigs
    model.meta["quantization_config"] = config
    return model
