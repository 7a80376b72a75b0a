"""Convolutions by the names of PyTorch's first kernels, which programs call in ``torch._C._nn``."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda.nn._functional.sizes import ntuple


def _run(
    name: str,
    rank: int,
    input: Tensor,
    weight: Tensor,
    kernel_size: int | Sequence[int],
    bias: Tensor | None,
    stride: int | Sequence[int],
    padding: int | Sequence[int],
) -> Tensor:
    expand = ntuple(rank, "numbers")
    for what, given in (("kernel_size", kernel_size), ("stride", stride), ("padding", padding)):
        if not isinstance(given, int) and len(given) not in (1, rank):
            raise RuntimeError(f"taeda.nn.{name}: {what} must have {rank} numbers; got {list(given)}")
    if weight.dim() not in (2, rank + 2):
        raise RuntimeError(f"taeda.nn.{name}: weight must have {rank + 2} dimensions; got shape {tuple(weight.shape)}")
    kernels = weight.reshape(weight.shape[0], input.shape[1], *expand(kernel_size)) if weight.dim() == 2 else weight
    return taeda.convolution(
        input, kernels, bias, expand(stride), expand(padding), [1] * rank, False, [0] * rank, 1
    )  # fmt: skip


def slow_conv3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: int | Sequence[int],
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
) -> Tensor:
    """``conv3d`` of one group, whose kernels may also come as the rows of a matrix.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return _run("slow_conv3d", 3, self, weight, kernel_size, bias, stride, padding)


def thnn_conv2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: int | Sequence[int],
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
) -> Tensor:
    """``conv2d``, likewise."""
    return _run("thnn_conv2d", 2, self, weight, kernel_size, bias, stride, padding)
