"""Making masked tensors."""

from __future__ import annotations

import warnings
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd import Function
from taeda.masked.maskedtensor.core import MaskedTensor, _checked


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
    """A masked tensor of a copy of ``data``, a leaf of the graph; errors as `MaskedTensor`."""
    if isinstance(data, Tensor) and data.requires_grad:
        warnings.warn(
            "taeda.masked.masked_tensor: no gradient reaches data, which is copied; as_masked_tensor carries it on",
            stacklevel=2,
        )
    return MaskedTensor(_checked(data, mask).detach().clone(), mask.clone(), requires_grad)


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """``data`` under a mask; gradients flow back, zero where it is left out. Errors as `MaskedTensor`."""
    return MaskedTensor.of(_Under.apply(_checked(data, mask), mask), mask)


class _Under(Function):
    """The data as they are. Gradients of what is left out may be NaN, which nobody is to see."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, mask: Tensor) -> Tensor:
        ctx.mask = mask
        return data.view_as(data)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return taeda.where(ctx.mask, grad, 0), None
