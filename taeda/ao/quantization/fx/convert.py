"""Observers become quantise and dequantise; modules with weights become references."""

from __future__ import annotations

import operator
from collections import defaultdict
from typing import Any

import taeda
from taeda import fx, nn
from taeda.ao.nn import quantizable, quantized
from taeda.ao.nn.intrinsic.modules.fused import _FusedModule
from taeda.ao.quantization import observer as observers
from taeda.ao.quantization.fake_quantize import FakeQuantizeBase
from taeda.ao.quantization.fx import _decomposed as _decomposed  # graphs may call its ops
from taeda.ao.quantization.fx.custom_config import ConvertCustomConfig, PrepareCustomConfig
from taeda.ao.quantization.fx.patterns import LINEARS, QAT, RECURRENT, TABLES, WEIGHTED, is_call, is_fact, module_of
from taeda.ao.quantization.quant_type import QuantType
from taeda.ao.quantization.quantization_mappings import (
    DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
    DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS,
)
from taeda.ao.quantization.utils import QUANTIZED, get_qparam_dict, is_per_channel, to_underlying_dtype
from taeda.nn.utils.parametrize import type_before_parametrizations as class_of


def set_module(model: nn.Module, path: str, module: nn.Module) -> None:
    """Puts a module at a path."""
    parent, _, name = path.rpartition(".")
    setattr(model.get_submodule(parent), name, module)


class Converter:
    """Walks through a prepared graph once."""

    def __init__(
        self, model: fx.GraphModule, is_reference: bool, config: ConvertCustomConfig, decomposed: bool = False
    ) -> None:
        self.model, self.is_reference, self.decomposed = model, is_reference, decomposed
        self.prepared: PrepareCustomConfig = model.meta.get("quantization_config") or PrepareCustomConfig()
        self.classes = config.observed_to_quantized_mapping
        self.qconfigs: dict[str, Any] = model.meta.get("quantization_qconfigs", {})
        self.gives_quantized: set[fx.Node] = set()  # calls of the user's quantised modules
        self.modules = dict(model.named_modules(remove_duplicate=False))
        self.scopes: dict[str, tuple[str, Any]] = model.meta.get("quantization_scopes", {})
        self.used: dict[str, int] = defaultdict(int)
        self.swapped: dict[str, nn.Module] = {}

    def run(self) -> None:
        """The reference form of the graph."""
        self._dequantize_inputs()
        alone = self._standing_alone()
        for node, config in alone.items():
            if 0 in config.output_quantized_indexes:
                self._dequantized(node)
        for node in list(self.model.graph.nodes):
            module = module_of(node, self.modules)
            if module is None or self._is_the_users_own(node, module):
                continue
            if isinstance(module, (observers.ObserverBase, FakeQuantizeBase)):
                self._replace_observer(node, module)
            elif class_of(module) in (*WEIGHTED, *TABLES, *RECURRENT):
                self._swap(node, module)
        for node, config in alone.items():
            for i in config.input_quantized_indexes:
                if i < len(node.args) and _is_dequantized(node.args[i]):
                    plain = node.args[i].args[0]  # type: ignore[union-attr]
                    node.args = (*node.args[:i], plain, *node.args[i + 1 :])
        self._keep_outputs_quantized()

    def _standing_alone(self) -> dict[fx.Node, PrepareCustomConfig]:
        """The calls of modules that are converted by themselves, with what they take and give."""
        found = ((node, module_of(node, self.modules)) for node in self.model.graph.nodes)
        return {
            node: module.meta["quantization_config"]
            for node, module in found
            if isinstance(module, fx.GraphModule) and module.meta.get("quantization_standalone")
        }

    def _dequantize_inputs(self) -> None:
        inputs = [node for node in self.model.graph.nodes if node.op == "placeholder"]
        for i in self.prepared.input_quantized_indexes:
            if i < len(inputs):
                self._dequantized(inputs[i])

    def _dequantized(self, value: fx.Node) -> fx.Node:
        """All that takes a quantised value takes floats of it."""
        with self.model.graph.inserting_after(value):
            made = self.model.graph.call_method("dequantize", (value,))
        value.replace_all_uses_with(made, delete_user_cb=lambda user: user is not made)
        return made

    def _keep_outputs_quantized(self) -> None:
        output = next(node for node in reversed(self.model.graph.nodes) if node.op == "output")
        kept = self.prepared.output_quantized_indexes
        plain = lambda value: value.args[0] if _is_dequantized(value) else value
        found = output.args[0]
        if isinstance(found, (tuple, list)):
            output.args = (type(found)(plain(v) if i in kept else v for i, v in enumerate(found)),)
        elif 0 in kept:
            output.args = (plain(found),)

    def _is_the_users_own(self, node: fx.Node, module: Any) -> bool:
        """Swaps a module of an observed class for one of its quantised class; whether it was one."""
        for kind, classes in self.classes.items():
            if class_of(module) not in classes:
                continue
            if isinstance(module, quantizable.LSTM):
                self._take_quantized(node)
                self._dequantize_parts(node, (None, (None, None)))
            elif kind is QuantType.STATIC:
                observers_after = [user for user in node.users if user.op == "call_module"]
                module.activation_post_process = self.modules[str(observers_after[0].target)]
                self._take_quantized(node)
                self.gives_quantized.add(node)
            set_module(self.model, str(node.target), classes[class_of(module)].from_observed(module))
            return True
        return False

    def _take_quantized(self, node: fx.Node) -> None:
        for arg in node.all_input_nodes:
            if _is_dequantized(arg):
                node.replace_input_with(arg, arg.args[0])  # type: ignore[arg-type]

    def _dequantize_parts(self, value: fx.Node, form: Any) -> None:
        """All that takes a quantised value, a tuple where ``form`` is one, or a part of it takes floats of it."""
        if form is None:
            self._dequantized(value)
            return
        whole = []
        for user in list(value.users):
            if is_call(user, (operator.getitem,)):
                self._dequantize_parts(user, form[user.args[1]])
            else:
                whole.append(user)
        if whole:
            with self.model.graph.inserting_before(whole[0]):
                floats = self._floats(value, form)
            for user in whole:
                user.replace_input_with(value, floats)

    def _floats(self, value: fx.Node, form: Any) -> fx.Node:
        graph = self.model.graph
        if form is None:
            return graph.call_method("dequantize", (value,))
        items = (graph.call_function(operator.getitem, (value, i)) for i in range(len(form)))
        return graph.call_function(tuple, ([self._floats(item, part) for item, part in zip(items, form, strict=True)],))

    # --- observers

    def _prefix(self, seen: fx.Node, value: fx.Node) -> str:
        """Of the names of buffers with what a value is quantised by: the module that gives it, or if that is not
        quantised the one that takes it."""
        taken = value.op == "placeholder" or self.qconfigs.get(value.name) is None
        first: fx.Node | None = value
        if taken:
            users = [user for user in seen.users if not is_fact(user)]
            first = next((user for user in users if is_call(user, LINEARS)), users[0] if users else None)
        path = "" if first is None else self.scopes.get(first.name, ("", None))[0]
        return path.replace(".", "_") + ("_input" if taken else "")

    def _buffer(self, prefix: str, value: taeda.Tensor) -> str:
        name = f"{prefix}_{self.used[prefix]}"
        while hasattr(self.model, name):
            self.used[prefix] += 1
            name = f"{prefix}_{self.used[prefix]}"
        self.model.register_buffer(name, value)
        self.used[prefix] += 1
        return name

    def _replace_observer(self, node: fx.Node, observer: Any) -> None:
        value = node.args[0]
        assert isinstance(value, fx.Node)
        graph = self.model.graph
        dynamic = getattr(observer, "is_dynamic", False)
        quantizes = observer.dtype in QUANTIZED and (dynamic or not _watches_nothing(observer))
        by_function = any(is_call(user, LINEARS) for user in node.users)
        if self._stays_float(node):
            node.replace_all_uses_with(value)
            graph.erase_node(node)
            return
        if value.op == "get_attr" and by_function:
            observer(_attribute(self.model, value).detach())  # of a weight that no call has shown to it
        with graph.inserting_before(node):
            if value in self.gives_quantized:
                made = value
            elif dynamic and not self.is_reference and not by_function:
                made = None  # the modules do it themselves
            elif quantizes and self.decomposed:
                made = self._quantize_plain(node, value, observer)
            elif quantizes and dynamic:
                reduced = taeda.backends.quantized.engine in ("fbgemm", "x86")
                made = graph.call_function(taeda.quantize_per_tensor_dynamic, (value, observer.dtype, reduced))
            elif quantizes:
                made = self._quantize(node, value, observer)
            elif observer.dtype == taeda.float16 and not dynamic:  # on the way, weights alone are halves
                made = graph.call_method("to", (value, taeda.float16))
            else:
                made = None
            result = value if made is None else self._dequantize(made)
        node.replace_all_uses_with(result)
        graph.erase_node(node)

    def _stays_float(self, seen: fx.Node) -> bool:
        """Whether none of the calls around an observer is to be quantised."""
        around = [n for n in (*seen.all_input_nodes, *seen.users) if n.op != "get_attr"]
        return all(self.qconfigs.get(n.name) is None for n in around)

    def _dequantize(self, made: fx.Node) -> fx.Node:
        graph, ops = self.model.graph, taeda.ops.quantized_decomposed
        back = {
            ops.quantize_per_tensor.default: ops.dequantize_per_tensor.default,
            ops.quantize_per_tensor.tensor: ops.dequantize_per_tensor.tensor,
            ops.quantize_per_channel.default: ops.dequantize_per_channel.default,
        }.get(made.target)  # type: ignore[call-overload]
        if back is None:
            return graph.call_method("dequantize", (made,))
        return graph.call_function(back, (made, *made.args[1:]))

    def _quantize_plain(self, seen: fx.Node, value: fx.Node, observer: Any) -> fx.Node:
        """By an op of plain tensors of integers, whose limits are numbers in the graph."""
        graph, ops = self.model.graph, taeda.ops.quantized_decomposed
        limits = (observer.quant_min, observer.quant_max)
        dtype = to_underlying_dtype(observer.dtype)
        if getattr(observer, "is_dynamic", False):
            eps = float(getattr(observer, "eps", taeda.finfo(taeda.float32).eps))
            found = graph.call_function(ops.choose_qparams.tensor, (value, *limits, eps, dtype))
            parts = tuple(graph.call_function(operator.getitem, (found, i)) for i in range(2))
            return graph.call_function(ops.quantize_per_tensor.tensor, (value, *parts, *limits, dtype))
        scale, zero_point = observer.calculate_qparams()
        if not is_per_channel(observer.qscheme):
            numbers = (float(scale), int(zero_point))
            return graph.call_function(ops.quantize_per_tensor.default, (value, *numbers, *limits, dtype))
        held = [graph.get_attr(self._buffer(f"{self._prefix(seen, value)}_{name}", part.detach().clone()))
                for name, part in (("scale", scale), ("zero_point", zero_point))]  # fmt: skip
        args = (value, *held, observer.ch_axis, *limits, dtype)
        return graph.call_function(ops.quantize_per_channel.default, args)

    def _quantize(self, seen: fx.Node, value: fx.Node, observer: Any) -> fx.Node:
        graph, prefix = self.model.graph, self._prefix(seen, value)
        scale, zero_point = observer.calculate_qparams()
        by_channel = is_per_channel(observer.qscheme)
        if not by_channel:
            scale, zero_point = scale.reshape([]), zero_point.reshape([]).to(taeda.int64)
        parts = [
            graph.get_attr(self._buffer(f"{prefix}_{name}", part.detach().clone()))
            for name, part in (("scale", scale), ("zero_point", zero_point))
        ]
        if by_channel:
            return graph.call_function(
                taeda.quantize_per_channel, (value, *parts, observer.ch_axis, observer.dtype)
            )  # fmt: skip
        return graph.call_function(taeda.quantize_per_tensor, (value, *parts, observer.dtype))

    # --- modules

    def _swap(self, node: fx.Node, module: Any) -> None:
        path = str(node.target)
        qconfig = getattr(module, "qconfig", None)
        if path in self.swapped or qconfig is None or self.qconfigs.get(node.name, qconfig) is None:
            return
        made = self._swapped(node, module, qconfig)
        if made is not None:
            self.swapped[path] = made
            set_module(self.model, path, made)
            self.modules[path] = made

    def _swapped(self, node: fx.Node, module: Any, qconfig: Any) -> nn.Module | None:
        activation, weight = qconfig.activation(), qconfig.weight()
        dynamic = getattr(activation, "is_dynamic", False)
        if class_of(module) in TABLES:
            if weight.dtype not in (taeda.quint8, taeda.quint4x2) or activation.dtype in QUANTIZED:
                return None
            kind = quantized.EmbeddingBag if isinstance(module, nn.EmbeddingBag) else quantized.Embedding
            made: nn.Module = kind.from_float(module)
            return made
        if class_of(module) in RECURRENT and not dynamic:
            return None
        if dynamic and isinstance(module, nn.modules.conv._ConvNd):
            return None  # PyTorch's graphs quantise them after training only
        if dynamic and not self.is_reference:
            plain = module.to_float() if class_of(module) in QAT else module
            plain.qconfig = qconfig
            cls = DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS.get(class_of(plain))
            if cls is None:
                return None
            dynamic_module: nn.Module = cls.from_float(plain)
            return dynamic_module
        if not dynamic and not _is_dequantized(node.args[0] if node.args else None):
            return module.to_float() if class_of(module) in QAT else None
        return _reference_of(module, qconfig)


def _attribute(model: nn.Module, node: fx.Node) -> Any:
    found: Any = model
    for part in str(node.target).split("."):
        found = getattr(found, part)
    return found


def _is_dequantized(value: Any) -> bool:
    return isinstance(value, fx.Node) and (value.op, value.target) == ("call_method", "dequantize")


def _watches_nothing(observer: Any) -> bool:
    return isinstance(observer, (observers.PlaceholderObserver, observers.NoopObserver, observers.RecordingObserver))


def _reference_of(module: Any, qconfig: Any) -> nn.Module | None:
    """The reference of a float module, or of one that rounds while training."""
    watching = getattr(module, "weight_fake_quant", None)
    plain = module.to_float() if class_of(module) in QAT else module
    inner = plain[0] if isinstance(plain, _FusedModule) else plain
    cls = DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS.get(class_of(inner))
    if cls is None:
        return None
    if class_of(inner) in RECURRENT:
        weights = [(name, weight) for name, weight in inner.named_parameters() if "weight" in name]
        made: Any = cls.from_float(inner, {name: _qparams(qconfig.weight(), weight) for name, weight in weights})
    else:
        made = cls.from_float(inner, _qparams(watching or qconfig.weight(), inner.weight))
    made.train(inner.training)
    if not isinstance(plain, _FusedModule):
        found: nn.Module = made
        return found
    plain[0] = made
    return plain


def _qparams(watching: Any, weight: taeda.Tensor) -> dict[str, Any]:
    if watching.dtype in QUANTIZED:
        watching(weight.detach())
    return get_qparam_dict(watching)


def convert_to_reference(
    model: fx.GraphModule, is_reference: bool, config: ConvertCustomConfig, decomposed: bool = False
) -> fx.GraphModule:
    """The reference form of a prepared graph; ``decomposed`` quantises by the ops of plain tensors."""
    Converter(model, is_reference, config, decomposed).run()
    model.graph.eliminate_dead_code()
    model.graph.lint()
    return trimmed(model)


def trimmed(model: fx.GraphModule) -> fx.GraphModule:
    """The graph with what it uses of the model, and no more."""
    made = fx.GraphModule(model, model.graph)
    made.meta.update(model.meta)
    made.train(model.training)
    return made
