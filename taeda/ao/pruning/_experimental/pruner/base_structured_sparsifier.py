"""What pruners of channels share."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import taeda
from taeda import nn
from taeda.ao.pruning._experimental.pruner import prune_functions as prune
from taeda.ao.pruning._experimental.pruner.match_utils import apply_match
from taeda.ao.pruning._experimental.pruner.parametrization import (
    BiasHook,
    FakeStructuredSparsity,
    module_contains_param,
)
from taeda.ao.pruning.sparsifier.base_sparsifier import BaseSparsifier
from taeda.fx import GraphModule, Node, symbolic_trace
from taeda.nn import functional as F
from taeda.nn.utils import parametrize

__all__ = ["BaseStructuredSparsifier"]

SUPPORTED: set[type[nn.Module]] = {nn.Linear, nn.Conv2d}
ACTIVATIONS: tuple[Any, ...] = (
    F.relu, F.rrelu, F.hardtanh, F.relu6, F.sigmoid, F.hardsigmoid, F.tanh, F.silu, F.mish, F.hardswish, F.elu, F.celu,
    F.selu, F.hardshrink, F.leaky_relu, F.logsigmoid, F.softplus, F.softsign, F.tanhshrink, F.gelu, taeda.relu,
    taeda.sigmoid, taeda.tanh, nn.ReLU, nn.RReLU, nn.Hardtanh, nn.ReLU6, nn.Sigmoid, nn.Hardsigmoid, nn.Tanh, nn.SiLU,
    nn.Mish, nn.Hardswish, nn.ELU, nn.CELU, nn.SELU, nn.Hardshrink, nn.LeakyReLU, nn.LogSigmoid, nn.Softplus,
    nn.Softsign, nn.Tanhshrink, nn.GELU,
)  # fmt: skip
POOLS: tuple[Any, ...] = (
    nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d, F.max_pool2d, F.avg_pool2d,
    F.adaptive_avg_pool2d, F.adaptive_max_pool2d,
)  # fmt: skip
FLATTENS: tuple[Any, ...] = (nn.Flatten, taeda.flatten)


def default_patterns() -> dict[tuple[Any, ...], Callable[..., None]]:
    """Which function prunes the first module of which chain."""
    patterns: dict[tuple[Any, ...], Callable[..., None]] = {
        (nn.Linear, "output"): prune.prune_linear,
        (nn.Linear, nn.Linear): prune.prune_linear_linear,
        (nn.Conv2d, "output"): prune.prune_conv2d,
        (nn.Conv2d, nn.Conv2d): prune.prune_conv2d_conv2d,
        (nn.LSTM, (operator.getitem, 0), nn.Linear): prune.prune_lstm_output_linear,
        (nn.LSTM, (operator.getitem, 0), nn.LayerNorm, nn.Linear): prune.prune_lstm_output_layernorm_linear,
    }
    for activation in ACTIVATIONS:
        patterns[nn.Linear, activation, nn.Linear] = prune.prune_linear_activation_linear
        patterns[nn.Conv2d, activation, nn.Conv2d] = prune.prune_conv2d_activation_conv2d
        for pool in POOLS:
            patterns[nn.Conv2d, activation, pool, nn.Conv2d] = prune.prune_conv2d_activation_pool_conv2d
            patterns[nn.Conv2d, pool, activation, nn.Conv2d] = prune.prune_conv2d_pool_activation_conv2d
    for pool in POOLS:
        for flatten in FLATTENS:
            patterns[nn.Conv2d, pool, flatten, nn.Linear] = prune.prune_conv2d_pool_flatten_linear
    return patterns


class BaseStructuredSparsifier(BaseSparsifier):
    """Masks rows of weights, and ``prune`` takes them out of the traced model. Subclasses say in ``update_mask`` which.

    ``patterns`` are chains as `default_patterns` has them, and are looked at beside those.
    """

    def __init__(
        self, defaults: dict[str, Any] | None, patterns: dict[tuple[Any, ...], Callable[..., None]] | None = None
    ) -> None:
        super().__init__(defaults)
        self.patterns = default_patterns() if patterns is None else patterns

    def make_config_from_model(self, model: nn.Module, SUPPORTED_MODULES: set[type[nn.Module]] | None = None) -> None:
        """The weights of all linear layers and convolutions."""
        super().make_config_from_model(model, SUPPORTED if SUPPORTED_MODULES is None else SUPPORTED_MODULES)

    def _prepare(self, *args: Any, **kwargs: Any) -> None:
        """Puts masks over rows; a bias is added by a hook from now on."""
        for group in self.groups:
            module, name = group["module"], group["tensor_name"]
            tensor = getattr(module, name)
            mask = group["mask"] if "mask" in group else tensor.new_ones(len(tensor), dtype=taeda.bool)
            self.state[group["tensor_fqn"]]["mask"] = mask
            made = group.get("parametrization", FakeStructuredSparsity)(mask)
            parametrize.register_parametrization(module, name, made)
            if not isinstance(module, (nn.Linear, nn.Conv2d)):
                continue
            if module.bias is not None:
                module.register_parameter("_bias", nn.Parameter(module.bias.detach()))
                module.bias = None
            module.prune_bias = group.get("prune_bias", True)
            module.register_forward_hook(BiasHook(module.parametrizations[name][0], module.prune_bias))

    def prune(self) -> GraphModule:
        """The traced model without the masked rows; the modules of the model itself change with it.

        Raises:
            RuntimeError: what reads a masked module is in no pattern.
        """
        self.traced = symbolic_trace(self.model)
        modules = dict(self.traced.named_modules())
        for node in self.traced.graph.nodes:
            first = modules.get(node.target) if node.op == "call_module" else None
            if first is None or not module_contains_param(first, FakeStructuredSparsity):
                continue
            for pattern, function in self.patterns.items():
                found = apply_match(modules, pattern, node, [])
                if found is not None:
                    function(*(_called(modules, part) for part in found if part.op != "output"))
                    break
        for name, module in self.traced.named_modules():
            if module_contains_param(module, FakeStructuredSparsity):
                raise RuntimeError(f"prune: {name!r} has a mask, and nothing says how to prune what reads it")
        self.traced.graph.lint()
        self.traced.recompile()
        return self.traced


def _called(modules: dict[str, nn.Module], node: Node) -> Any:
    """The module, or the function with its further arguments."""
    if node.op == "call_module":
        return modules[str(node.target)]
    more = {key: value for key, value in node.kwargs.items() if key != "inplace"}
    return functools.partial(_behind, node.target, node.args[1:], more) if node.args[1:] or more else node.target


def _behind(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], x: Any) -> Any:
    return function(x, *args, **kwargs)
