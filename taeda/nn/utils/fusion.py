"""Folding an evaluated batch norm into the layer before it."""

from __future__ import annotations

import copy
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _check_eval(*modules: Any) -> None:
    if any(module.training for module in modules):
        raise AssertionError("taeda.nn.utils.fusion: both modules must be in evaluation mode; call eval() first")


def _fold(
    weight: Tensor, bias: Tensor | None, channel_dim: int, mean: Tensor, var: Tensor, eps: float, scale: Any, shift: Any
) -> tuple[Parameter, Parameter]:
    factor = taeda.rsqrt(var + eps)
    if scale is not None:
        factor = factor * scale
    shape = [1] * weight.dim()
    shape[channel_dim] = -1
    new_bias = ((0 if bias is None else bias) - mean) * factor
    if shift is not None:
        new_bias = new_bias + shift
    dtype = weight.dtype if bias is None else bias.dtype
    return (
        Parameter((weight * factor.reshape(shape)).to(weight.dtype), weight.requires_grad),
        Parameter(new_bias.to(dtype), True if bias is None else bias.requires_grad),
    )


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a convolution (transposed: ``transpose``) that does what it and the norm after it did."""
    return _fold(conv_w, conv_b, 1 if transpose else 0, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a `Linear` that does what it and the norm after it did."""
    return _fold(linear_w, linear_b, 0, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of ``conv`` that does what ``bn`` after ``conv`` did; both in evaluation mode."""
    _check_eval(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of ``linear`` that does what ``bn`` after ``linear`` did; both in evaluation mode."""
    _check_eval(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            f"taeda.nn.utils.fuse_linear_bn_eval: the norm has {bn.num_features} features, the layer "
            f"{linear.out_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused
