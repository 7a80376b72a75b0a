"""Dropout and its relatives. Each draws the same random numbers as PyTorch's."""

from __future__ import annotations

import warnings

import taeda
from taeda import Tensor


def _check(name: str, p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"taeda.nn.functional.{name}: p is a probability, from 0 to 1; got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training zeroes each element with probability ``p`` and scales the others by ``1 / (1 - p)``."""
    _check("dropout", p)
    return (taeda.dropout_ if inplace else taeda.dropout)(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of SELU's outputs (Klambauer et al., 2017)."""
    _check("alpha_dropout", p)
    return (taeda.alpha_dropout_ if inplace else taeda.alpha_dropout)(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels."""
    _check("feature_alpha_dropout", p)
    return (taeda.feature_alpha_dropout_ if inplace else taeda.feature_alpha_dropout)(input, p, training)


def _drop_channels(name: str, input: Tensor, p: float, training: bool, inplace: bool, batched: bool = True) -> Tensor:
    _check(name, p)
    drop = taeda.feature_dropout_ if inplace else taeda.feature_dropout
    if batched:
        return drop(input, p, training)
    if inplace:
        return drop(input.unsqueeze_(0), p, training).squeeze_(0)
    return drop(input.unsqueeze(0), p, training).squeeze(0)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of (N, C, L) or (C, L)."""
    if input.dim() not in (2, 3):
        raise RuntimeError(f"taeda.nn.functional.dropout1d: expected 2 or 3 dimensions; got {input.dim()}")
    return _drop_channels("dropout1d", input, p, training, inplace, batched=input.dim() == 3)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of (N, C, H, W). Of (C, H, W) it takes the first dimension for N, as PyTorch does."""
    if input.dim() not in (3, 4):
        warnings.warn(
            f"taeda.nn.functional.dropout2d: expected 3 or 4 dimensions, got {input.dim()}; use dropout to drop "
            "elements",
            stacklevel=2,
        )
    elif input.dim() == 3:
        warnings.warn(
            "taeda.nn.functional.dropout2d: the first of 3 dimensions is taken for the batch, so that single rows are "
            "dropped; use dropout1d for (N, C, L)",
            stacklevel=2,
        )
    return _drop_channels("dropout2d", input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    if input.dim() not in (4, 5):
        warnings.warn(
            f"taeda.nn.functional.dropout3d: expected 4 or 5 dimensions, got {input.dim()}; use dropout to drop "
            "elements",
            stacklevel=2,
        )
    return _drop_channels("dropout3d", input, p, training, inplace, batched=input.dim() == 5)
