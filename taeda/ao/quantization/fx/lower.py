"""From the reference form to ops and modules that compute with quantised tensors."""

from __future__ import annotations

import itertools
from typing import Any

import taeda
from taeda import fx, nn
from taeda.ao.nn import intrinsic, quantized
from taeda.ao.nn.intrinsic import quantized as fused_quantized
from taeda.ao.nn.intrinsic.modules.fused import _FusedModule
from taeda.ao.nn.quantized import reference
from taeda.ao.quantization.fx.convert import _is_dequantized, set_module, trimmed
from taeda.ao.quantization.fx.patterns import (
    ADDS,
    CONV_FUNCTIONS,
    LINEARS,
    MATMULS,
    OWN_FUNCTIONS,
    data_of,
    is_call,
    is_fact,
    kind_of,
    module_of,
    relu_after,
    takes_relu,
)
from taeda.nn import functional as F
from taeda.nn.utils.parametrize import type_before_parametrizations as class_of

_DIMS = (1, 2, 3)
_PACKED = "_packed_weight_"
_CONV_ARGS = ("stride", "padding", "dilation", "groups")
_CONV_TRANSPOSE_ARGS = ("stride", "padding", "output_padding", "groups", "dilation")
_CONVS = [f"{kind}{d}d" for kind in ("Conv", "ConvTranspose") for d in _DIMS]
_MODULES: dict[Any, Any] = {
    **{getattr(reference, name): getattr(quantized, name) for name in ("Linear", *_CONVS)},
    **{
        getattr(nn, name): getattr(quantized, name)
        for name in ("BatchNorm2d", "BatchNorm3d", "LayerNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
                     "Hardswish", "ELU", "LeakyReLU", "PReLU", "Softmax", "Dropout")
    },
    intrinsic.BNReLU2d: fused_quantized.BNReLU2d,
    intrinsic.BNReLU3d: fused_quantized.BNReLU3d,
}  # fmt: skip
_FUSED: dict[Any, Any] = {
    intrinsic.LinearReLU: fused_quantized.LinearReLU,
    intrinsic.LinearLeakyReLU: fused_quantized.LinearLeakyReLU,
    intrinsic.LinearTanh: fused_quantized.LinearTanh,
    **{getattr(intrinsic, f"ConvReLU{d}d"): getattr(fused_quantized, f"ConvReLU{d}d") for d in _DIMS},
}
# The arguments of functional forms after the input, and of these the ones that the quantised ops take.
_OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "hardswish": ((), {}),
    "elu": (("alpha",), {"alpha": 1.0}),
    "leaky_relu": (("negative_slope", "inplace"), {"negative_slope": 0.01, "inplace": False}),
    "layer_norm": (("normalized_shape", "weight", "bias", "eps"), {"weight": None, "bias": None, "eps": 1e-5}),
    "instance_norm": (
        ("running_mean", "running_var", "weight", "bias", "use_input_stats", "momentum", "eps"),
        {"weight": None, "bias": None, "eps": 1e-5},
    ),
    "dropout": (("p", "training"), {"p": 0.5, "training": True}),
}


class Lowering:
    """Walks through a reference graph once: dequantise, compute, quantise become one."""

    def __init__(self, model: fx.GraphModule) -> None:
        self.model, self.graph = model, model.graph
        self.scopes: dict[str, tuple[str, Any]] = model.meta.get("quantization_scopes", {})
        self.qconfigs: dict[str, Any] = model.meta.get("quantization_qconfigs", {})

    @property
    def modules(self) -> dict[str, nn.Module]:
        return dict(self.model.named_modules(remove_duplicate=False))

    def run(self) -> None:
        """Lowers what can be lowered."""
        modules = self.modules
        for node in list(self.graph.nodes):
            if node.op not in ("call_module", "call_function", "call_method") or not self._is_in_graph(node):
                continue
            if self.qconfigs.get(node.name, self) is None:
                continue
            known = class_of(module_of(node, modules)) in (*_MODULES, *_FUSED)
            kind = "weighted" if known else kind_of(node, modules)
            if is_call(node, (F.channel_shuffle,)) or class_of(module_of(node, modules)) is nn.ChannelShuffle:
                kind = "share"  # between two that are observed, though not observed itself
            if kind is None or kind in ("weighted", "own") and node.op == "call_module" and not known:
                continue
            after = relu_after(node, modules) if takes_relu(node) else None
            if is_call(node, LINEARS) and self._lower_dynamic(node, after):
                continue
            quantize = _quantize_after(after or node)
            data = data_of(node)
            if kind == "share" and quantize is None and len(data) == 1 and _is_dequantized(data[0]):
                if not node.users:
                    self._change_integers(node, data[0])
                elif _is_quantized_input(data[0]):
                    self._dequantize_later(node, data[0])
            if not data or quantize is None or not all(map(_is_dequantized, data)):
                continue
            self._lower(node, kind, after, quantize, data)
        for node in self.graph.nodes:
            if is_fact(node) and _is_dequantized(node.args[0]):
                node.replace_input_with(node.args[0], node.args[0].args[0])
        self._sweep()

    def _change_integers(self, node: fx.Node, arg: fx.Node) -> None:
        """What changes its argument changes the integers, before they are dequantised for those that come after."""
        node.replace_input_with(arg, arg.all_input_nodes[0])
        place = {other: i for i, other in enumerate(self.graph.nodes)}
        if arg.users and all(place[user] > place[node] for user in arg.users):
            node.append(arg)

    def _dequantize_later(self, node: fx.Node, arg: fx.Node) -> None:
        """What works on integers as on floats gets them, and its result is dequantised."""
        with self.graph.inserting_after(node):
            made = self.graph.call_method("dequantize", (node,))
        node.replace_all_uses_with(made, delete_user_cb=lambda user: user is not made)
        node.replace_input_with(arg, arg.all_input_nodes[0])

    def _is_in_graph(self, node: fx.Node) -> bool:
        return not node._erased

    def _lower(self, node: fx.Node, kind: str, after: fx.Node | None, quantize: fx.Node, data: list[fx.Node]) -> None:
        scale, zero_point = quantize.args[1], quantize.args[2]
        if kind in ("weighted", "own") and node.op == "call_module":
            self._lower_module(node, scale, zero_point)
        elif kind == "binary":
            node = self._lower_binary(node, after, data, scale, zero_point)
        elif kind in ("function", "own"):
            by = (scale, zero_point)
            lowered = self._lower_own(node, *by) if kind == "own" else self._lower_function(node, after, *by)
            if lowered is None:
                return
            node = lowered
        for arg in data:
            if arg in node.all_input_nodes:
                node.replace_input_with(arg, arg.args[0])  # type: ignore[arg-type]
        quantize.replace_all_uses_with(node)
        self.graph.erase_node(quantize)
        if after is not None and not after._erased and not after.users:
            self.graph.erase_node(after)

    def _number(self, buffer: Any) -> Any:
        value = getattr(self.model, str(buffer.target))
        return value.item()

    def _lower_module(self, node: fx.Node, scale: Any, zero_point: Any) -> None:
        path = str(node.target)
        module: Any = self.model.get_submodule(path)
        if isinstance(module, _FusedModule) and class_of(module) in _FUSED:
            cls, inner = _FUSED[class_of(module)], module[0]
            made = cls.from_reference(inner, self._number(scale), self._number(zero_point))
            if hasattr(made, "negative_slope"):
                made.negative_slope = module[1].negative_slope
        elif class_of(module) not in _MODULES:
            return  # an earlier call of the same module lowered it
        else:
            made = _MODULES[class_of(module)].from_reference(module, self._number(scale), self._number(zero_point))
        set_module(self.model, path, made)

    def _call(self, node: fx.Node, name: str, args: tuple[Any, ...]) -> fx.Node:
        with self.graph.inserting_before(node):
            made = self.graph.create_node("call_function", getattr(taeda.ops.quantized, name), args, {}, name=name)
        return made

    def _replace(self, old: fx.Node, new: fx.Node, after: fx.Node | None) -> fx.Node:
        (after or old).replace_all_uses_with(new)
        if after is not None:
            self.graph.erase_node(after)
        self.graph.erase_node(old)
        return new

    def _lower_binary(
        self, node: fx.Node, after: fx.Node | None, data: list[fx.Node], scale: Any, zero: Any
    ) -> fx.Node:
        if is_call(node, MATMULS):
            name = "matmul"
        else:
            name = ("add" if is_call(node, ADDS) else "mul") + ("_relu" if after is not None else "")
        operands = [arg.args[0] if arg in data else arg for arg in node.args[:2]]  # type: ignore[union-attr]
        more = (scale, zero) if len(data) == 2 else ()
        end = after or node
        made = self._call(end, name, (*operands, *more))
        self._move_before(made, (scale, zero) if more else ())
        end.replace_all_uses_with(made)
        if after is not None:
            self.graph.erase_node(after)
        self.graph.erase_node(node)
        return made

    def _move_before(self, node: fx.Node, needed: tuple[Any, ...]) -> None:
        """Buffers are read before what needs them."""
        for other in needed:
            node.prepend(other)

    def _lower_dynamic(self, node: fx.Node, after: fx.Node | None) -> bool:
        """A linear function of values that are quantised on the way; whether it was one."""
        activation = node.args[0].args[0] if _is_dequantized(node.args[0]) else None  # type: ignore[union-attr]
        qconfig = self.qconfigs.get(node.name)
        wanted = qconfig.activation() if qconfig is not None else None
        half = getattr(wanted, "is_dynamic", False) and wanted.dtype == taeda.float16  # type: ignore[union-attr]
        if not (half or is_call(activation, (taeda.quantize_per_tensor_dynamic,))) or not _is_dequantized(node.args[1]):
            return False
        weight = self._value(node.args[1].args[0])  # type: ignore[union-attr]
        bias = node.args[2] if len(node.args) > 2 else node.kwargs.get("bias")
        held = self._value(bias)
        if weight is None or bias is not None and held is None:
            return False
        name = "linear_relu_dynamic" if after is not None else "linear_dynamic"
        pack = taeda.ops.quantized.linear_prepack_fp16 if half else taeda.ops.quantized.linear_prepack
        place = self._hold(node, pack(weight, None if held is None else held.detach()))
        if half:
            self._become(node, f"{name}_fp16", (node.args[0], place), after)
        else:
            source, _, reduced = activation.args  # type: ignore[union-attr]
            self._become(node, name, (source, place, reduced), after)
        return True

    def _hold(self, node: fx.Node, packed: Any) -> fx.Node:
        """A packed weight as an attribute that is named after the module which a call is in."""
        prefix = self.scopes.get(node.name, ("", None))[0].replace(".", "_") + _PACKED
        name = next(f"{prefix}{i}" for i in itertools.count() if not hasattr(self.model, f"{prefix}{i}"))
        setattr(self.model, name, packed)
        with self.graph.inserting_before(node):
            return self.graph.get_attr(name)

    def _lower_function(self, node: fx.Node, after: fx.Node | None, scale: Any, zero: Any) -> fx.Node | None:
        weight = node.args[1]
        assert isinstance(weight, fx.Node)
        bias = node.args[2] if len(node.args) > 2 else node.kwargs.get("bias")
        quantized_weight = self._value(weight.args[0])
        bias_value = None if bias is None else self._value(bias)
        if quantized_weight is None or (bias is not None and bias_value is None):
            return None
        ops, name = taeda.ops.quantized, "linear" if is_call(node, LINEARS) else CONV_FUNCTIONS[node.target]
        bias_value = None if bias_value is None else bias_value.detach()
        if name == "linear":
            packed = ops.linear_prepack(quantized_weight, bias_value)
        else:
            keys = _CONV_TRANSPOSE_ARGS if "transpose" in name else _CONV_ARGS
            given = dict(zip(keys, node.args[3:], strict=False)) | dict(node.kwargs)
            sizes = [
                _all(given.get(key, usual), int(name[-2]))
                for key, usual in (("stride", 1), ("padding", 0), ("output_padding", 0), ("dilation", 1))
                if key in keys
            ]
            packed = getattr(ops, f"{name}_prepack")(quantized_weight, bias_value, *sizes, given.get("groups", 1))
        held = self._hold(node, packed)
        self._move_before(node, (scale, zero))
        return self._become(
            node, name + ("_relu" if after is not None else ""), (node.args[0], held, scale, zero), after
        )

    def _become(self, node: fx.Node, name: str, args: tuple[Any, ...], after: fx.Node | None) -> fx.Node:
        """A call becomes one of a quantised op under the name that it has; the ReLU after it goes."""
        node.target, node.args, node.kwargs = getattr(taeda.ops.quantized, name), args, {}
        if after is not None:
            after.replace_all_uses_with(node)
            self.graph.erase_node(after)
        return node

    def _value(self, node: Any) -> Any:
        """What a node of constants alone gives; None for others."""
        if not isinstance(node, fx.Node):
            return node
        if node.op == "get_attr":
            found: Any = self.model
            for part in str(node.target).split("."):
                found = getattr(found, part)
            return found
        if node.op == "call_function" and node.target in (taeda.quantize_per_channel, taeda.quantize_per_tensor):
            args = [self._value(arg) for arg in node.args]
            return None if args[0] is None else node.target(args[0].detach(), *args[1:])
        if (node.op, node.target) == ("call_method", "to") and node.args[1:] == (taeda.float16,):
            value = self._value(node.args[0])  # packing rounds it
            return None if value is None else value.detach()
        return None

    def _lower_own(self, node: fx.Node, scale: Any, zero: Any) -> fx.Node | None:
        name = OWN_FUNCTIONS[node.target]
        if name not in _OPTIONS:
            return None
        names, usual = _OPTIONS[name]
        given = dict(zip(names, node.args[1:], strict=False)) | dict(node.kwargs)
        shape = [given["normalized_shape"]] if name == "layer_norm" else []
        made = self._call(node, name, (node.args[0], *shape))
        made.kwargs = {
            **{key: given.get(key, value) for key, value in usual.items()},
            "output_scale": scale, "output_zero_point": zero,
        }  # fmt: skip
        self._move_before(made, (scale, zero))
        return self._replace(node, made, None)

    def _sweep(self) -> None:
        """Takes out what nothing uses any more."""
        self.graph.eliminate_dead_code()
        self.graph.lint()


def _all(value: Any, dims: int) -> list[int]:
    return [value] * dims if isinstance(value, int) else list(value)


def _is_quantized_input(value: Any) -> bool:
    return _is_dequantized(value) and value.all_input_nodes[0].op == "placeholder"


def _quantize_after(node: fx.Node) -> fx.Node | None:
    """The quantisation that is all that uses a node's result."""
    users = list(node.users)
    if len(users) == 1 and users[0].op == "call_function" and users[0].target is taeda.quantize_per_tensor:
        return users[0] if isinstance(users[0].args[1], fx.Node) else None
    return None


def lower(model: fx.GraphModule) -> fx.GraphModule:
    """Lowers a reference graph."""
    Lowering(model).run()
    made = trimmed(model)
    made._register_state_dict_hook(_save_packed)
    made._register_load_state_dict_pre_hook(_load_packed, with_module=True)
    return made


def _save_packed(module: nn.Module, state_dict: dict[str, Any], prefix: str, _: Any) -> None:
    """The weights of functions stand in the state as they are, packed."""
    state_dict.update({prefix + name: value for name, value in vars(module).items() if _PACKED in name})


def _load_packed(module: nn.Module, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
    for key in [key for key in state_dict if key.startswith(prefix) and key.removeprefix(prefix) in vars(module)]:
        if _PACKED in key:
            setattr(module, key.removeprefix(prefix), state_dict.pop(key))
