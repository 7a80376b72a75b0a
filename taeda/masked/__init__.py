"""Masked reductions and normalisations, and tensors that carry their mask (``torch.masked``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taeda.masked._ops import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    logsumexp,
    mean,
    median,
    norm,
    normalize,
    prod,
    softmax,
    softmin,
    std,
    sum,
    var,
)
from taeda.masked._selection import _where as _where

if TYPE_CHECKING:
    from taeda.masked.maskedtensor.core import MaskedTensor as MaskedTensor
    from taeda.masked.maskedtensor.core import is_masked_tensor as is_masked_tensor
    from taeda.masked.maskedtensor.creation import as_masked_tensor as as_masked_tensor
    from taeda.masked.maskedtensor.creation import masked_tensor as masked_tensor

_LAZY = {
    "MaskedTensor": "core",
    "is_masked_tensor": "core",
    "as_masked_tensor": "creation",
    "masked_tensor": "creation",
}

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
    "MaskedTensor", "is_masked_tensor", "as_masked_tensor", "masked_tensor",
]  # fmt: skip


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "maskedtensor":
        return import_module("taeda.masked.maskedtensor")
    if name not in _LAZY:
        raise AttributeError(f"module 'taeda.masked' has no attribute '{name}'")
    return getattr(import_module(f"taeda.masked.maskedtensor.{_LAZY[name]}"), name)
