"""Normalisation."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor
from taeda._C import _nn


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalises each channel of (N, C, ...) over the batch, or by the running statistics unless ``training``.

    In training the running statistics, if given, move by ``momentum`` towards the batch's. ValueError if a channel then
    has a single value, for a negative ``eps``, and in training for 0.
    """
    if eps < 0 or (training and eps == 0):
        raise ValueError(f"taeda.nn.functional.batch_norm: eps must be positive, or 0 outside training; got {eps}")
    if training and input.size(0) * math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "taeda.nn.functional.batch_norm: training needs more than 1 value per channel; got an input of size "
            f"{tuple(input.size())}"
        )
    return taeda.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalises each channel of each sample of (N, C, ...) over its spatial positions."""
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "taeda.nn.functional.instance_norm: needs more than 1 spatial position; got an input of size "
            f"{tuple(input.shape)}"
        )
    return taeda.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalises each of ``num_groups`` groups of channels of each sample of (N, C, ...)."""
    shape = input.shape
    if len(shape) < 2:
        raise RuntimeError(f"taeda.nn.functional.group_norm: expected at least 2 dimensions; got {tuple(shape)}")
    if num_groups == 0:
        raise ZeroDivisionError("taeda.nn.functional.group_norm: num_groups is 0; it must divide the channels")
    if shape[0] * shape[1] // num_groups * math.prod(shape[2:]) == 1:
        raise ValueError(
            f"taeda.nn.functional.group_norm: needs more than 1 value per group; got an input of size {tuple(shape)}"
        )
    return taeda.group_norm(input, num_groups, weight, bias, eps)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Divides by ``(k + alpha * mean of squares of size neighbours) ** beta`` (Krizhevsky et al., 2012)."""
    if input.dim() < 3:
        raise ValueError(f"taeda.nn.functional.local_response_norm: expected at least 3 dimensions; got {input.dim()}")
    if input.numel() == 0:
        return input
    squares = input.mul(input).flatten(2).unsqueeze(1)
    padded = _nn.pad(squares, (0, 0, size // 2, (size - 1) // 2))
    means = _nn.avg_pool2d(padded, (size, 1), stride=1).squeeze(1)
    return input / means.view(input.size()).mul(alpha).add(k).pow(beta)
