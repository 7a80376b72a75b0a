"""The weights of modules and of functions, float and quantised."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, fx, nn
from taeda.ao.nn.intrinsic.modules.fused import _FusedModule
from taeda.ao.ns.fx.graph_matcher import op_of
from taeda.ao.ns.fx.ns_types import NSSingleResultType, NSSingleResultValuesType
from taeda.ao.ns.fx.utils import fqn_of, type_of
from taeda.ao.quantization import quantization_mappings as tables
from taeda.ao.quantization.fx import patterns

Extractors = dict[str, dict[Any, Callable[..., Any]]]


def mod_weight_detach(mod: Any) -> Tensor:
    """The weight of a float module."""
    found: Tensor = mod.weight.detach()
    return found


def mod_0_weight_detach(mod: Any) -> Tensor:
    """The weight of the first part of a fused module."""
    return mod_weight_detach(mod[0])


def mod_weight_bias_0(mod: Any) -> Tensor:
    """The weight of a quantised module."""
    found: Tensor = mod._weight_bias()[0]
    return found


def get_lstm_weight(mod: nn.Module) -> list[Tensor]:
    """The weights of a recurrent layer."""
    return [value.detach() for name, value in mod.named_parameters() if name.startswith("weight")]


def get_qlstm_weight(mod: Any) -> list[Tensor]:
    """The weights of a recurrent layer that quantises on the way."""
    return list(mod.get_weight().values())


def _argument(node: fx.Node) -> Any:
    return node.args[1] if len(node.args) > 1 else node.kwargs.get("weight")


def _function_weight(node: fx.Node, gm: fx.GraphModule) -> Tensor | None:
    """The attribute that a function's weight comes from, rounded to half where it is on the way."""
    weight, half = _argument(node), False
    while isinstance(weight, fx.Node) and weight.op != "get_attr":
        half = half or weight.args[1:] == (taeda.float16,)
        weight = weight.args[0] if weight.args else None
    if not isinstance(weight, fx.Node):
        return None
    found: Tensor = operator.attrgetter(str(weight.target))(gm).detach()
    return found.half() if half else found


def get_linear_fun_weight(node: fx.Node, gm: fx.GraphModule) -> Tensor | None:
    """The weight of a linear function; None for a computed one."""
    return _function_weight(node, gm)


def get_conv_fun_weight(node: fx.Node, gm: fx.GraphModule) -> Tensor | None:
    """The weight of a convolution; None for a computed one."""
    return _function_weight(node, gm)


def _packed_weight(node: fx.Node, gm: fx.GraphModule) -> Tensor | None:
    packed = _argument(node)
    if not isinstance(packed, fx.Node) or packed.op != "get_attr":
        return None
    found: Tensor = operator.attrgetter(str(packed.target))(gm).unpack()[0]
    return found


def get_qlinear_fun_weight(node: fx.Node, gm: fx.GraphModule) -> Tensor | None:
    """The weight that a quantised linear function has packed."""
    return _packed_weight(node, gm)


def get_qconv_fun_weight(node: fx.Node, gm: fx.GraphModule) -> Tensor | None:
    """The weight that a quantised convolution has packed."""
    return _packed_weight(node, gm)


def get_op_to_type_to_weight_extraction_fn() -> Extractors:
    """How the weight is had, by how an op is called and which it is."""
    modules: dict[Any, Callable[..., Any]] = {}
    for kind in patterns.WEIGHTED:
        modules[kind] = mod_0_weight_detach if issubclass(kind, _FusedModule) else mod_weight_detach
    modules |= dict.fromkeys(tables.DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS.values(), mod_weight_detach)
    for plain, kind in tables.DEFAULT_STATIC_QUANT_MODULE_MAPPINGS.items():
        if plain in patterns.WEIGHTED:
            modules[kind] = mod_weight_bias_0
    for plain, kind in tables.DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS.items():
        if plain in patterns.WEIGHTED:
            modules[kind] = mod_weight_bias_0
        elif plain in (nn.LSTM, nn.GRU):
            modules[plain], modules[kind] = get_lstm_weight, get_qlstm_weight
    functions: dict[Any, Callable[..., Any]] = dict.fromkeys(patterns.LINEARS, get_linear_fun_weight)
    functions |= dict.fromkeys(patterns.CONV_FUNCTIONS, get_conv_fun_weight)
    ops = taeda.ops.quantized
    linears = ("linear", "linear_relu", "linear_dynamic", "linear_relu_dynamic")
    functions |= {getattr(ops, name): get_qlinear_fun_weight for name in linears}
    for name in dict.fromkeys(patterns.CONV_FUNCTIONS.values()):
        functions |= {getattr(ops, full): get_qconv_fun_weight for full in (name, f"{name}_relu") if hasattr(ops, full)}
    return {"call_module": modules, "call_function": functions}


def extract_weight_from_node(
    node: fx.Node, gm: fx.GraphModule, op_to_type_to_weight_extraction_fn: Extractors | None = None
) -> NSSingleResultType | None:
    """A record with the weight of what a node calls; None for what has none."""
    functions = op_to_type_to_weight_extraction_fn or get_op_to_type_to_weight_extraction_fn()
    kind = op_of(node, dict(gm.named_modules(remove_duplicate=False)))
    extract = functions.get(node.op, {}).get(kind)
    if extract is None:
        return None
    weight = extract(gm.get_submodule(str(node.target))) if node.op == "call_module" else extract(node, gm)
    if weight is None:
        return None
    return {
        "type": NSSingleResultValuesType.WEIGHT.value, "values": weight if isinstance(weight, list) else [weight],
        "prev_node_name": node.name, "prev_node_target_type": type_of(node, gm), "ref_node_name": node.name,
        "ref_node_target_type": type_of(node, gm), "index_within_arg": 0, "index_of_arg": 0, "fqn": fqn_of(node, gm),
    }  # fmt: skip
