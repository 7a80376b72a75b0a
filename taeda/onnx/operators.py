"""A shape as a tensor, so that it can be an operand."""

from __future__ import annotations

import taeda
from taeda import Tensor


def shape_as_tensor(x: Tensor) -> Tensor:
    """The sizes of ``x``: int64, of shape ``(x.dim(),)``."""
    return taeda.tensor(x.shape, dtype=taeda.int64)


def reshape_from_tensor_shape(x: Tensor, shape: Tensor) -> Tensor:
    """``x.reshape(shape)`` with the sizes in a one-dimensional integer tensor."""
    return x.reshape(shape.tolist())
