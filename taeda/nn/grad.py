"""Gradients of convolutions, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn._functional.sizes import ntuple


def _gradient(dims: int, of_input: bool, *arguments: Any) -> Tensor:
    input, weight, grad_output, stride, padding, dilation, groups = arguments
    expand = ntuple(dims, "numbers")
    mask = [of_input, not of_input, False]
    grads = taeda.ops.aten.convolution_backward(
        grad_output, input, weight, None, expand(stride), expand(padding), expand(dilation), False, [0] * dims, groups,
        mask,
    )  # fmt: skip
    return grads[0 if of_input else 1]


def _input_gradient(dims: int) -> Callable[..., Tensor]:
    def function(
        input_size: Any,
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        input = grad_output.new_empty(1).expand(input_size)
        return _gradient(dims, True, input, weight, grad_output, stride, padding, dilation, groups)

    function.__name__ = function.__qualname__ = f"conv{dims}d_input"
    function.__doc__ = f"The gradient of ``conv{dims}d`` for an input of ``input_size``."
    return function


def _weight_gradient(dims: int) -> Callable[..., Tensor]:
    def function(
        input: Tensor,
        weight_size: Any,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        weight = grad_output.new_empty(1).expand(weight_size)
        return _gradient(dims, False, input, weight, grad_output, stride, padding, dilation, groups)

    function.__name__ = function.__qualname__ = f"conv{dims}d_weight"
    function.__doc__ = f"The gradient of ``conv{dims}d`` for a weight of ``weight_size``."
    return function


conv1d_input, conv2d_input, conv3d_input = (_input_gradient(dims) for dims in (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = (_weight_gradient(dims) for dims in (1, 2, 3))
