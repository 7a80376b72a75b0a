"""Equalisation across layers (Nagel et al., 2019): channels between two layers get ranges that one scale fits.

What a layer's output channel is divided by, the next layer's input channel is multiplied with; so a network whose
activations between the two are linear in the scale, as ReLU is, computes what it did.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn import intrinsic

_supported_types = {nn.Conv1d, nn.Conv2d, nn.Linear}
_supported_intrinsic_types = {intrinsic.ConvReLU1d, intrinsic.ConvReLU2d, intrinsic.LinearReLU}
_all_supported_types = _supported_types | _supported_intrinsic_types


def _layer(module: nn.Module) -> Any:
    """The module that has the weight.

    Raises:
        TypeError: a module of another class.
    """
    if type(module) not in _all_supported_types:
        raise TypeError(f"cross_layer_equalization: no layer of class {type(module).__name__}")
    return module[0] if isinstance(module, nn.Sequential) else module


def channel_range(input: Tensor, axis: int = 0) -> Tensor:
    """How far the elements of each index of ``axis`` lie apart."""
    rows = input.movedim(axis, 0).flatten(1)
    return rows.amax(1) - rows.amin(1)


def cross_layer_equalization(module1: nn.Module, module2: nn.Module, output_axis: int = 0, input_axis: int = 1) -> None:
    """Gives the output channels of ``module1`` and the input channels of ``module2`` the same ranges, in place.

    Raises:
        TypeError: a module that is neither a convolution nor linear.
        ValueError: they do not have the same number of channels.
    """
    first, second = _layer(module1), _layer(module2)
    with taeda.no_grad():
        before, behind = channel_range(first.weight, output_axis), channel_range(second.weight, input_axis)
        if before.shape != behind.shape:
            raise ValueError(
                f"cross_layer_equalization: module2 must take as many channels as module1 gives; got "
                f"{behind.numel()} and {before.numel()}"
            )
        scales = (before / behind).sqrt()
        scales = taeda.where(scales.isfinite() & (scales > 0), scales, taeda.ones_like(scales))
        along = lambda weight, axis: scales.reshape([-1 if d == axis else 1 for d in range(weight.dim())])
        first.weight.div_(along(first.weight, output_axis))
        second.weight.mul_(along(second.weight, input_axis))
        if first.bias is not None:
            first.bias.div_(scales)


def converged(curr_modules: Mapping[str, nn.Module], prev_modules: Mapping[str, nn.Module], threshold: float = 1e-4
              ) -> bool:  # fmt: skip
    """Whether the weights of modules of the same names differ by less than ``threshold`` together.

    Raises:
        ValueError: the names are not the same.
    """
    if curr_modules.keys() != prev_modules.keys():
        raise ValueError("converged: both must have modules of the same names")
    pairs = [(_layer(module).weight, _layer(prev_modules[name]).weight) for name, module in curr_modules.items()]
    # What is NaN, or infinite in both, stays so and would never be found equal.
    return sum(float((a.detach() - b.detach()).nan_to_num().norm()) for a, b in pairs) < threshold


def equalize(model: nn.Module, paired_modules_list: Sequence[Sequence[str]], threshold: float = 1e-4,
             inplace: bool = True) -> nn.Module:  # fmt: skip
    """Equalises pairs of layers by turns until their weights do not change by ``threshold`` any more.

    Args:
        paired_modules_list: names of pairs of modules, one behind the other.
        inplace: False returns a changed copy.
    """
    made = model if inplace else copy.deepcopy(model)
    modules = {name: made.get_submodule(name) for pair in paired_modules_list for name in pair}
    while True:
        before = copy.deepcopy(modules)
        for first, second in paired_modules_list:
            cross_layer_equalization(modules[first], modules[second])
        if converged(modules, before, threshold):
            return made
