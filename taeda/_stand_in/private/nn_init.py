"""Fillings without gradients."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.nn.init import constant_, normal_, trunc_normal_, uniform_, zeros_

__all__ = ["_no_grad_fill_", "_no_grad_normal_", "_no_grad_trunc_normal_", "_no_grad_uniform_", "_no_grad_zero_"]

_no_grad_fill_, _no_grad_normal_, _no_grad_uniform_, _no_grad_zero_ = constant_, normal_, uniform_, zeros_


def _no_grad_trunc_normal_(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any = None
) -> Tensor:
    """Normal numbers between ``a`` and ``b``."""
    with taeda.no_grad():
        return trunc_normal_(tensor, mean, std, a, b, generator)
