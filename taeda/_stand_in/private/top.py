"""Functions of tensors that older programs and exporters call."""

from __future__ import annotations

import functools
from typing import Any

import taeda
from taeda import Tensor

_KINDS = {
    "Byte": taeda.uint8, "Char": taeda.int8, "Double": taeda.float64, "Float": taeda.float32, "Half": taeda.float16,
    "Int": taeda.int32, "Long": taeda.int64, "Short": taeda.int16,
}  # fmt: skip
__all__ = ["_dim_arange", "_is_zerotensor", "_reshape_from_tensor", "_shape_as_tensor", "_use_cudnn_ctc_loss"]
__all__ += [f"_cast_{kind}" for kind in _KINDS]


def _cast(dtype: taeda.dtype, input: Tensor, non_blocking: bool = False) -> Tensor:
    return input.to(dtype, non_blocking)


globals().update({f"_cast_{kind}": functools.partial(_cast, dtype) for kind, dtype in _KINDS.items()})


def _shape_as_tensor(input: Tensor) -> Tensor:
    """The sizes, as int64."""
    return taeda.tensor(input.shape, dtype=taeda.int64)


def _reshape_from_tensor(input: Tensor, shape: Tensor) -> Tensor:
    """``input`` with the sizes that ``shape`` holds."""
    return input.reshape(shape.tolist())


def _dim_arange(like: Tensor, dim: int) -> Tensor:
    """0, 1, ... up to a size of ``like``."""
    return taeda.arange(like.size(dim), device=like.device)


def _is_zerotensor(input: Tensor) -> bool:
    """False: zeros are stored here."""
    return False


def _use_cudnn_ctc_loss(*args: Any, **kwargs: Any) -> bool:
    """False: there is no cuDNN."""
    return False
