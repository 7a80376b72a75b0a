"""The numeric suite for graphs: weights, results, and parts of one graph that run beside those of another.

Results are dicts: the layer, then ``weight``, ``node_output`` or ``node_input``, then the model, then records with
``values``. Models that are no graphs are traced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import Tensor, fx, nn
from taeda.ao.ns._numeric_suite import _dequantized
from taeda.ao.ns.fx import graph_passes
from taeda.ao.ns.fx.graph_matcher import get_matching_subgraph_pairs
from taeda.ao.ns.fx.loggers import OutputComparisonLogger as OutputComparisonLogger
from taeda.ao.ns.fx.loggers import OutputLogger as OutputLogger
from taeda.ao.ns.fx.loggers import loggers_of, record_of
from taeda.ao.ns.fx.mappings import Sets, get_node_type_to_io_type_map
from taeda.ao.ns.fx.n_shadows import _n_shadows_compare_weights as _n_shadows_compare_weights
from taeda.ao.ns.fx.n_shadows import _prepare_n_shadows_add_loggers_model as _prepare_n_shadows_add_loggers_model
from taeda.ao.ns.fx.n_shadows import convert_n_shadows_model as convert_n_shadows_model
from taeda.ao.ns.fx.n_shadows import extract_results_n_shadows_model as extract_results_n_shadows_model
from taeda.ao.ns.fx.n_shadows import prepare_n_shadows_model as prepare_n_shadows_model
from taeda.ao.ns.fx.n_shadows import print_comparisons_n_shadows_model as print_comparisons_n_shadows_model
from taeda.ao.ns.fx.ns_types import NSResultsType
from taeda.ao.ns.fx.utils import compute_sqnr as compute_sqnr
from taeda.ao.ns.fx.weight_utils import Extractors, extract_weight_from_node
from taeda.ao.quantization import observer
from taeda.ao.quantization.fake_quantize import FakeQuantizeBase
from taeda.ao.quantization.fx.tracer import QuantizationTracer


class NSTracer(QuantizationTracer):
    """Calls of observers stay calls, too."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a call of ``m`` is a node of its own."""
        watches = isinstance(m, (observer.ObserverBase, FakeQuantizeBase))
        return watches or super().is_leaf_module(m, module_qualified_name)


def _traced(model: nn.Module, other: nn.Module) -> fx.GraphModule:
    """The model as a graph, with the calls of which those of the other were kept."""
    if isinstance(model, fx.GraphModule):
        return model
    kept = other.meta.get("quantization_config") if isinstance(other, fx.GraphModule) else None
    names, classes = (kept.non_traceable_module_names, kept.non_traceable_module_classes) if kept else ([], [])
    tracer = NSTracer(names, classes)
    made = fx.GraphModule(model, tracer.trace(model))
    made.meta["quantization_scopes"] = tracer.node_name_to_scope
    made.train(model.training)
    return made


def _both(a: nn.Module, b: nn.Module) -> tuple[fx.GraphModule, fx.GraphModule]:
    return _traced(a, b), _traced(b, a)


def _named_by(results: NSResultsType, model_name: str) -> NSResultsType:
    """Layers by the name of the node in one of the models."""
    found: NSResultsType = {}
    for key, by_type in results.items():
        kinds = sorted(by_type, reverse=True)  # outputs, which the end of a step is named by, before inputs
        records = next((by_type[kind][model_name] for kind in kinds if by_type[kind].get(model_name)), None)
        found[key if records is None else records[0]["ref_node_name"]] = by_type
    return found


def extract_weights(
    model_name_a: str, model_a: nn.Module, model_name_b: str, model_b: nn.Module,
    base_name_to_sets_of_related_ops: Sets | None = None, unmatchable_types_map: dict[str, set[Any]] | None = None,
    op_to_type_to_weight_extraction_fn: Extractors | None = None,
) -> NSResultsType:  # fmt: skip
    """The weights of what does the same in both: ``results[layer]["weight"][model_name]``.

    Args:
        base_name_to_sets_of_related_ops: which ops do the same.
        op_to_type_to_weight_extraction_fn: how the weight of an op is had.
    """
    gm_a, gm_b = _both(model_a, model_b)
    return _extract_weights_impl(
        model_name_a, gm_a, model_name_b, gm_b, base_name_to_sets_of_related_ops, unmatchable_types_map,
        op_to_type_to_weight_extraction_fn,
    )  # fmt: skip


def _extract_weights_impl(
    model_name_a: str, gm_a: fx.GraphModule, model_name_b: str, gm_b: fx.GraphModule, sets: Sets | None = None,
    unmatchable: dict[str, set[Any]] | None = None, extractors: Extractors | None = None,
) -> NSResultsType:  # fmt: skip
    results: NSResultsType = {}
    for key, (one, other) in get_matching_subgraph_pairs(gm_a, gm_b, sets, unmatchable).items():
        records = [
            extract_weight_from_node(step.base_op_node, model, extractors)
            for step, model in ((one, gm_a), (other, gm_b))
        ]
        if records[0] is not None and records[1] is not None:
            results[key] = {"weight": {model_name_a: [records[0]], model_name_b: [records[1]]}}
    return _named_by(results, model_name_b)


def add_loggers(
    name_a: str, model_a: nn.Module, name_b: str, model_b: nn.Module, logger_cls: Callable[..., Any] = OutputLogger,
    should_log_inputs: bool = False, base_name_to_sets_of_related_ops: Sets | None = None,
    unmatchable_types_map: dict[str, set[Any]] | None = None,
) -> tuple[fx.GraphModule, fx.GraphModule]:  # fmt: skip
    """Both models, of the same modules, with loggers behind the steps that do the same; before them, too, if asked."""
    gm_a, gm_b = _both(model_a, model_b)
    return _add_loggers_impl(
        name_a, gm_a, name_b, gm_b, logger_cls, should_log_inputs, base_name_to_sets_of_related_ops,
        unmatchable_types_map,
    )  # fmt: skip


def _add_loggers_impl(
    name_a: str, gm_a: fx.GraphModule, name_b: str, gm_b: fx.GraphModule, logger_cls: Callable[..., Any],
    should_log_inputs: bool, base_name_to_sets_of_related_ops: Sets | None = None,
    unmatchable_types_map: dict[str, set[Any]] | None = None,
) -> tuple[fx.GraphModule, fx.GraphModule]:  # fmt: skip
    pairs = get_matching_subgraph_pairs(gm_a, gm_b, base_name_to_sets_of_related_ops, unmatchable_types_map)
    ones = [(key, one) for key, (one, _) in pairs.items()]
    others = [(key, other) for key, (_, other) in pairs.items()]
    return (
        graph_passes.with_loggers(name_a, gm_a, iter(ones), logger_cls, should_log_inputs),
        graph_passes.with_loggers(name_b, gm_b, iter(others), logger_cls, should_log_inputs),
    )


def _collect(models: list[nn.Module], logger_cls: Any, model_name: str) -> NSResultsType:
    found: NSResultsType = {}
    for model in models:
        for logger in loggers_of(model, logger_cls):
            by_type = found.setdefault(logger.ref_name, {})
            record = record_of(logger)
            by_type.setdefault(logger.results_type, {}).setdefault(logger.model_name, []).append(record)
    for by_type in found.values():
        for by_model in by_type.values():
            for records in by_model.values():
                records.sort(key=lambda record: (record["index_of_arg"], record["index_within_arg"]))
    return _named_by(found, model_name)


def extract_logger_info(
    model_a: nn.Module, model_b: nn.Module, logger_cls: Any, model_name_to_use_for_layer_names: str
) -> NSResultsType:
    """What loggers kept while both models ran: ``results[layer]["node_output"][model_name]``."""
    return _collect([model_a, model_b], logger_cls, model_name_to_use_for_layer_names)


def add_shadow_loggers(
    name_a: str, model_a: nn.Module, name_b: str, model_b: nn.Module, logger_cls: Callable[..., Any] = OutputLogger,
    should_log_inputs: bool = False, base_name_to_sets_of_related_ops: Sets | None = None,
    node_type_to_io_type_map: dict[str, set[Any]] | None = None,
    unmatchable_types_map: dict[str, set[Any]] | None = None,
) -> fx.GraphModule:  # fmt: skip
    """``model_b``, of the same modules, in which the steps of ``model_a`` run beside those that do the same, on their
    inputs, which are quantised or dequantised on the way.

    Args:
        node_type_to_io_type_map: what ops take, see `get_node_type_to_io_type_map`. Ops that take any type have no
            shadow, nor sums, products and ``cat``.
    """
    gm_a, gm_b = _both(model_a, model_b)
    return _add_shadow_loggers_impl(
        name_a, gm_a, name_b, gm_b, logger_cls, should_log_inputs, base_name_to_sets_of_related_ops,
        node_type_to_io_type_map, unmatchable_types_map,
    )  # fmt: skip


def _add_shadow_loggers_impl(
    name_a: str, gm_a: fx.GraphModule, name_b: str, gm_b: fx.GraphModule, logger_cls: Callable[..., Any],
    should_log_inputs: bool, base_name_to_sets_of_related_ops: Sets | None = None,
    node_type_to_io_type_map: dict[str, set[Any]] | None = None,
    unmatchable_types_map: dict[str, set[Any]] | None = None,
) -> fx.GraphModule:  # fmt: skip
    pairs = get_matching_subgraph_pairs(gm_a, gm_b, base_name_to_sets_of_related_ops, unmatchable_types_map)
    io_types = node_type_to_io_type_map or get_node_type_to_io_type_map()
    return graph_passes.shadowed(name_a, gm_a, name_b, gm_b, pairs, logger_cls, should_log_inputs, io_types)


def extract_shadow_logger_info(
    model_a_shadows_b: nn.Module, logger_cls: Any, model_name_to_use_for_layer_names: str
) -> NSResultsType:
    """What loggers of both kept while `add_shadow_loggers`' model ran."""
    return _collect([model_a_shadows_b], logger_cls, model_name_to_use_for_layer_names)


def extend_logger_results_with_comparison(
    results: NSResultsType, model_name_1: str, model_name_2: str,
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
    for logger in loggers_of(model, OutputLogger):
        logger.enabled = enabled


def loggers_set_save_activations(model: nn.Module, save_activations: bool) -> None:
    """Lets the loggers of a model keep tensors, or not."""
    for logger in loggers_of(model, OutputLogger):
        logger.save_activations = save_activations
