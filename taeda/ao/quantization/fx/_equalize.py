"""Equalisation of graphs: its observers, and which layers want it."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, fx, nn
from taeda.ao.quantization.fx.equalize_graph import equalise
from taeda.ao.quantization.fx.equalize_observers import (
    EqualizationQConfig,
    _InputEqualizationObserver,
    _WeightEqualizationObserver,
    calculate_equalization_scale,
    default_equalization_qconfig,
    input_equalization_observer,
    is_equalization_observer,
    reshape_scale,
    weight_equalization_observer,
)

__all__ = [
    "EqualizationQConfig",
    "_InputEqualizationObserver",
    "_WeightEqualizationObserver",
    "_convert_equalization_ref",
    "calculate_equalization_scale",
    "default_equalization_qconfig",
    "get_equalization_qconfig_dict",
    "get_layer_sqnr_dict",
    "input_equalization_observer",
    "is_equalization_observer",
    "reshape_scale",
    "weight_equalization_observer",
]


def _convert_equalization_ref(model: fx.GraphModule) -> fx.GraphModule:
    """A prepared model, which saw data, with scales in the place of the observers of equalisation; all is float."""
    equalise(model)
    return fx.GraphModule(model, model.graph)


def get_layer_sqnr_dict(model_a: nn.Module, model_b: nn.Module, x: Tensor) -> dict[str, float]:
    """By the name of a layer, how far ``model_b``'s result is from ``model_a``'s on the same input, in decibels.

    Args:
        model_a: prepared, or float.
        model_b: quantised.
        x: what both run on.
    """
    from taeda.ao.ns import _numeric_suite_fx as suite

    beside: Any = suite.add_shadow_loggers("a", model_a, "b", model_b, suite.OutputLogger)
    beside(x)
    results = suite.extract_shadow_logger_info(beside, suite.OutputLogger, "b")
    suite.extend_logger_results_with_comparison(results, "a", "b", suite.compute_sqnr, "sqnr")
    found = {}
    for kinds in results.values():
        for by_model in kinds.values():
            for entry in by_model["b"]:
                found[entry["fqn"]] = entry["sqnr"][0]
    return found


def get_equalization_qconfig_dict(layer_sqnr_dict: dict[str, float], num_layers_to_equalize: int) -> Any:
    """A mapping that equalises the layers of the worst ratios of signal to noise."""
    worst = sorted(layer_sqnr_dict, key=lambda name: layer_sqnr_dict[name])[:num_layers_to_equalize]
    return {"module_name": [(name, default_equalization_qconfig) for name in worst]}
