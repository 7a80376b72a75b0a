"""Batches and their levels, as libraries that take part in ``vmap`` handle them."""

from __future__ import annotations

from taeda import Tensor
from taeda.func._active import transforms_active
from taeda.func._batched.tensor import BatchedTensor
from taeda.func._steps import (
    _add_batch_dim,
    _remove_batch_dim,
    _vmap_decrement_nesting,
    _vmap_increment_nesting,
    is_batchedtensor,
)

__all__ = [
    "_add_batch_dim", "_remove_batch_dim", "_unwrap_batched", "_vmap_decrement_nesting", "_vmap_increment_nesting",
    "current_level", "get_unwrapped", "is_batchedtensor", "is_functorch_wrapped_tensor", "maybe_current_level",
    "maybe_get_bdim", "maybe_get_level",
]  # fmt: skip


def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Whether a tensor holds another: batches do; derivatives are recorded without such tensors."""
    return is_batchedtensor(tensor)


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The tensor that a batch holds, of all examples."""
    if not isinstance(tensor, BatchedTensor):
        raise RuntimeError(f"taeda.func: get_unwrapped takes a tensor that holds another; got {type(tensor).__name__}")
    return tensor.value


def maybe_get_level(tensor: Tensor) -> int:
    """The level that a batch is of; -1 for a plain tensor."""
    return tensor.batch.depth if isinstance(tensor, BatchedTensor) else -1


def maybe_get_bdim(tensor: Tensor) -> int:
    """The dimension of what a batch holds that runs over examples, which is the first; -1 for a plain tensor."""
    return 0 if isinstance(tensor, BatchedTensor) else -1


def _unwrap_batched(tensor: Tensor, level: int) -> tuple[Tensor, int | None]:
    """What a batch of a level holds, and its dimension over examples; anything else as it is, and None."""
    if isinstance(tensor, BatchedTensor) and tensor.batch.depth == level:
        return tensor.value, 0
    return tensor, None


def maybe_current_level() -> int | None:
    """The number of the innermost level; None outside of all transforms."""
    return transforms_active() or None


def current_level() -> int:
    """The number of the innermost level.

    Raises:
        RuntimeError: no transform is running.
    """
    level = maybe_current_level()
    if level is None:
        raise RuntimeError("taeda.func: current_level is asked for outside of all transforms")
    return level
