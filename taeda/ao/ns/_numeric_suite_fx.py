"""The numeric suite for graphs: weights, results, and parts of one graph that run beside those of another.

Results are dicts: the layer, then ``weight`` or ``node_output``, then the model, then records with ``values``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from taeda import Tensor, fx, nn
from taeda.ao.nn.intrinsic.modules.fused import FusedModule
from taeda.ao.ns._numeric_suite import _dequantized
from taeda.ao.ns.fx.utils import compute_sqnr as compute_sqnr
from taeda.ao.quantization.fx.patterns import relu_after, takes_relu
from taeda.ao.quantization.observer import _is_activation_post_process

Results = dict[str, dict[str, dict[str, list[dict[str, Any]]]]]

_CONVERSIONS = ("quantize_per_tensor", "quantize_per_channel", "quantize_per_tensor_dynamic", "dequantize")
_OPERATORS = {operator.add: "add", operator.iadd: "add", operator.mul: "mul", operator.imul: "mul"}


class OutputLogger(nn.Module):
    """Keeps copies of the tensors that pass through it, and where it stands."""

    _is_impure = True  # passes over graphs leave it, though nothing uses its result

    def __init__(
        self, ref_node_name: str, prev_node_name: str, model_name: str, ref_name: str, prev_node_target_type: str,
        ref_node_target_type: str, results_type: str, index_within_arg: int, index_of_arg: int, fqn: str | None,
        qconfig_str: str | None = "",
    ) -> None:  # fmt: skip
        super().__init__()
        self.stats: list[Any] = []
        self.stats_rnn: list[Any] = []
        self.enabled, self.save_activations = True, True
        self.ref_node_name, self.prev_node_name, self.model_name = ref_node_name, prev_node_name, model_name
        self.ref_name, self.results_type, self.fqn = ref_name, results_type, fqn
        self.prev_node_target_type, self.ref_node_target_type = prev_node_target_type, ref_node_target_type
        self.index_within_arg, self.index_of_arg, self.qconfig_str = index_within_arg, index_of_arg, qconfig_str

    def forward(self, x: Any) -> Any:
        """Takes note of ``x`` and returns it."""
        if self.enabled and self.save_activations:
            if isinstance(x, Tensor):
                self.stats.append(x.detach())
            elif isinstance(x, tuple):
                self.stats_rnn.append(x)
        return x


def _base(node: fx.Node, modules: dict[str, nn.Module]) -> str | None:
    """What a node does, whether in float or quantised; None for what is not compared."""
    if node.op == "call_module":
        module = modules[str(node.target)]
        compared = not _is_activation_post_process(module) and not isinstance(module, OutputLogger)
        return f"module {node.target}" if compared else None
    if node.op not in ("call_function", "call_method"):
        return None
    name = _OPERATORS.get(node.target) or str(getattr(node.target, "__name__", node.target)).split(".")[0]
    return None if name in _CONVERSIONS or name == "getattr" else name.removesuffix("_relu").removesuffix("_")


def get_matching_subgraph_pairs(gm_a: fx.GraphModule, gm_b: fx.GraphModule) -> dict[str, tuple[fx.Node, fx.Node]]:
    """Nodes of two graphs that do the same: calls of modules at one path, and functions in their order."""

    def listed(model: fx.GraphModule) -> dict[str, fx.Node]:
        modules, found, count = dict(model.named_modules(remove_duplicate=False)), {}, dict[str, int]()
        passed: set[fx.Node] = set()
        for node in model.graph.nodes:
            base = _base(node, modules)
            if base is None or node in passed:
                continue
            after = relu_after(node, modules) if takes_relu(node) else None
            if after is not None:  # which the quantised op does, too
                passed.add(after)
            place = count.get(base, 0)
            count[base] = place + 1
            found[f"base_op_{base}_{place}"] = after or node
        return found

    ones, others = listed(gm_a), listed(gm_b)
    return {key: (node, others[key]) for key, node in ones.items() if key in others}


def _type_of(node: fx.Node, model: fx.GraphModule) -> str:
    if node.op == "call_module":
        kind = type(model.get_submodule(str(node.target)))
        return f"{kind.__module__}.{kind.__qualname__}"
    return str(getattr(node.target, "__name__", node.target))


def _record(
    node: fx.Node, model: fx.GraphModule, kind: str, values: list[Any], ref: fx.Node | None = None
) -> dict[str, Any]:
    return {
        "type": kind, "values": values, "prev_node_name": node.name, "prev_node_target_type": _type_of(node, model),
        "ref_node_name": (ref or node).name, "ref_node_target_type": _type_of(node, model), "index_within_arg": 0,
        "index_of_arg": 0, "fqn": str(node.target) if node.op == "call_module" else None, "qconfig_str": "",
    }  # fmt: skip


def _weights_of(node: fx.Node, model: fx.GraphModule) -> list[Tensor]:
    """The weight of a module, float or quantised, or of what it is a sequence of."""
    if node.op != "call_module":
        return []
    module: Any = model.get_submodule(str(node.target))
    module = module[0] if isinstance(module, FusedModule) else module
    if isinstance(module, nn.RNNBase):
        return [value.detach() for name, value in module.named_parameters() if name.startswith("weight")]
    if hasattr(module, "_all_weight_values"):
        return list(module.get_weight().values())
    weight = getattr(module, "weight", None)
    weight = weight() if callable(weight) and not isinstance(weight, Tensor) else weight
    return [weight.detach()] if isinstance(weight, Tensor) else []


def extract_weights(
    model_name_a: str, model_a: fx.GraphModule, model_name_b: str, model_b: fx.GraphModule, **_: Any
) -> Results:
    """The weights of what does the same in both: ``results[layer]["weight"][model_name]``."""
    results: Results = {}
    for one, other in get_matching_subgraph_pairs(model_a, model_b).values():
        weights = [(model_name_a, one, model_a, _weights_of(one, model_a)),
                   (model_name_b, other, model_b, _weights_of(other, model_b))]  # fmt: skip
        if all(values for *_names, values in weights):
            results[one.name] = {
                "weight": {name: [_record(node, model, "weight", values, one)] for name, node, model, values in weights}
            }
    return results


def _logger(node: fx.Node, model: fx.GraphModule, name: str, ref: str, key: str, logger_cls: Any) -> Any:
    fqn = str(node.target) if node.op == "call_module" else None
    kind = _type_of(node, model)
    return logger_cls(ref, node.name, name, key, kind, kind, "node_output", 0, 0, fqn, "")


def add_loggers(
    name_a: str, model_a: fx.GraphModule, name_b: str, model_b: fx.GraphModule, logger_cls: Any = OutputLogger,
    should_log_inputs: bool = False, **_: Any,
) -> tuple[fx.GraphModule, fx.GraphModule]:  # fmt: skip
    """Both models with loggers behind the nodes that do the same; in place."""
    for key, (one, other) in get_matching_subgraph_pairs(model_a, model_b).items():
        for name, node, model in ((name_a, one, model_a), (name_b, other, model_b)):
            target = f"{node.name}_ns_logger_0"
            setattr(model, target, _logger(node, model, name, node.name, key, logger_cls))
            with model.graph.inserting_after(node):
                seen = model.graph.call_module(target, (node,))
            node.replace_all_uses_with(seen, delete_user_cb=lambda user, seen=seen: user is not seen)
    for model in (model_a, model_b):
        model.recompile()
    return model_a, model_b


def _loggers(model: nn.Module, logger_cls: Any) -> Iterator[Any]:
    return (module for module in model.modules() if isinstance(module, logger_cls))


def _collect(models: list[nn.Module], logger_cls: Any, layers: str) -> Results:
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    names: dict[str, str] = {}
    for model in models:
        for logger in _loggers(model, logger_cls):
            values = logger.stats or logger.stats_rnn
            record = {
                name: getattr(logger, name)
                for name in ("prev_node_name", "prev_node_target_type", "ref_node_name", "ref_node_target_type",
                             "index_within_arg", "index_of_arg", "fqn", "qconfig_str")
            }  # fmt: skip
            record |= {"type": logger.results_type, "values": values}
            found.setdefault(logger.ref_name, {}).setdefault(logger.model_name, []).append(record)
            if logger.model_name == layers:
                names[logger.ref_name] = logger.ref_node_name
    return {names.get(key, key): {"node_output": by_model} for key, by_model in found.items()}


def extract_logger_info(
    model_a: nn.Module, model_b: nn.Module, logger_cls: Any, model_name_to_use_for_layer_names: str
) -> Results:
    """What loggers kept while both models ran: ``results[layer]["node_output"][model_name]``."""
    return _collect([model_a, model_b], logger_cls, model_name_to_use_for_layer_names)


class _Beside(nn.Module):
    """A float module that runs on what a quantised one gets; its logger sees the result."""

    _is_impure = True

    def __init__(self, module: nn.Module, logger: nn.Module) -> None:
        super().__init__()
        self.module, self.logger = module, logger

    def forward(self, *args: Any) -> Any:
        """The result, of which only the logger takes note."""
        return self.logger(self.module(*_dequantized(args)))


def add_shadow_loggers(
    name_a: str, model_a: fx.GraphModule, name_b: str, model_b: fx.GraphModule, logger_cls: Any = OutputLogger,
    should_log_inputs: bool = False, **_: Any,
) -> fx.GraphModule:  # fmt: skip
    """``model_b``, in place, in which the modules of ``model_a`` run beside those that do the same, on their inputs."""
    for key, (one, other) in get_matching_subgraph_pairs(model_a, model_b).items():
        if one.op != "call_module" or other.op != "call_module":
            continue
        shadow = model_a.get_submodule(str(one.target))
        graph, place = model_b.graph, other.name
        setattr(model_b, f"{place}_shadow", _Beside(shadow, _logger(one, model_a, name_a, place, key, logger_cls)))
        setattr(model_b, f"{place}_logger", _logger(other, model_b, name_b, place, key, logger_cls))
        with graph.inserting_after(other):
            seen = graph.call_module(f"{place}_logger", (other,))
        other.replace_all_uses_with(seen, delete_user_cb=lambda user, seen=seen: user is not seen)
        with graph.inserting_after(other):
            graph.call_module(f"{place}_shadow", other.args)
    model_b.recompile()
    return model_b


def extract_shadow_logger_info(
    model_a_shadows_b: nn.Module, logger_cls: Any, model_name_to_use_for_layer_names: str
) -> Results:
    """What loggers of both kept while `add_shadow_loggers`' model ran."""
    return _collect([model_a_shadows_b], logger_cls, model_name_to_use_for_layer_names)


def extend_logger_results_with_comparison(
    results: Results, model_name_1: str, model_name_2: str,
    comparison_fn: Callable[[Tensor, Tensor], Any], comparison_name: str,
) -> None:  # fmt: skip
    """Adds to the second model's records, as ``comparison_name``, what ``comparison_fn(values_1, values_2)`` gives."""
    for by_type in results.values():
        for by_model in by_type.values():
            if model_name_1 not in by_model or model_name_2 not in by_model:
                continue
            for one, other in zip(by_model[model_name_1], by_model[model_name_2], strict=False):
                other[comparison_name] = [
                    comparison_fn(_dequantized(x), _dequantized(y))
                    for x, y in zip(one["values"], other["values"], strict=True)
                ]


def loggers_set_enabled(model: nn.Module, enabled: bool) -> None:
    """Switches the loggers of a model."""
    for logger in _loggers(model, OutputLogger):
        logger.enabled = enabled


def loggers_set_save_activations(model: nn.Module, save_activations: bool) -> None:
    """Lets the loggers of a model keep tensors, or not."""
    for logger in _loggers(model, OutputLogger):
        logger.save_activations = save_activations
