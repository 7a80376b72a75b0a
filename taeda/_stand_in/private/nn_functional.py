"""Pieces of functions, of which programs make their own."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn._functional.attention import _check_shapes, _project, as_float_mask
from taeda.nn._functional.unpooling import _unpool_size
from taeda.nn.modules.utils import _pair, _single, _triple
from taeda.overrides import handle_torch_function, has_torch_function

from .nn_modules_utils import _list_with_default

__all__ = [
    "_canonical_mask", "_get_softmax_dim", "_in_projection", "_in_projection_packed", "_list_with_default",
    "_mha_shape_check", "_no_grad_embedding_renorm_", "_none_or_dtype", "_pair", "_single", "_triple",
    "_unpool_output_size", "_verify_batch_size", "_verify_spatial_size", "handle_torch_function", "has_torch_function",
]  # fmt: skip


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None) -> list[Tensor]:
    """``q``, ``k`` and ``v``, (..., E) each, times the thirds of ``w`` (3 * E, E), plus those of ``b`` (3 * E)."""
    return list(_project(q, k, v, w, b, q is k is v))


def _in_projection(
    q: Tensor, k: Tensor, v: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor,
    b_q: Tensor | None = None, b_k: Tensor | None = None, b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Each of the three through a layer of its own."""
    return F.linear(q, w_q, b_q), F.linear(k, w_k, b_k), F.linear(v, w_v, b_v)


def _mha_shape_check(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None, num_heads: int
) -> bool:
    """Whether the inputs of attention have batches.

    Raises:
        AssertionError: their shapes do not go together.
    """
    return _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)


def _unpool_output_size(
    input: Tensor, kernel_size: list[int], stride: list[int], padding: list[int], output_size: list[int] | None
) -> list[int]:
    """The spatial size that unpooling restores; a given one may differ from the computed one by less than a stride."""
    return _unpool_size(input, kernel_size, stride, padding, output_size)


def _none_or_dtype(input: Tensor | None) -> taeda.dtype | None:
    """The dtype of a tensor, None of None.

    Raises:
        RuntimeError: it is neither.
    """
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError(f"taeda.nn.functional: a mask is a tensor or None; got {type(input).__name__}")


def _canonical_mask(
    mask: Tensor | None, mask_name: str, other_type: taeda.dtype | None, other_name: str, target_type: taeda.dtype,
    check_other: bool = True,
) -> Tensor | None:  # fmt: skip
    """A mask as numbers to add: minus infinity where one of bools is True."""
    other = taeda.empty(0, dtype=other_type) if check_other and other_type is not None else None
    return as_float_mask(mask, mask_name, other, other_name, target_type)


def _verify_batch_size(size: list[int]) -> None:
    """ValueError where a channel of a batch (N, C, ...) has one value alone."""
    values = size[0]
    for length in size[2:]:
        values *= length
    if values == 1:
        raise ValueError(f"taeda.nn.functional: training needs more than one value per channel; got the size {size}")


def _verify_spatial_size(size: list[int]) -> None:
    """ValueError where an instance (N, C, ...) has one value alone."""
    values = 1
    for length in size[2:]:
        values *= length
    if values == 1:
        raise ValueError(f"taeda.nn.functional: training needs more than one value per instance; got the size {size}")


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension of a softmax that names none: the first of 0, 1 or 3 dimensions, else the second."""
    return 0 if ndim in (0, 1, 3) else 1


def _no_grad_embedding_renorm_(
    weight: Tensor, input: Tensor, max_norm: float, norm_type: float
) -> tuple[Tensor, Tensor]:
    """Scales the rows of ``weight`` that ``input`` names to a norm of at most ``max_norm``, in place."""
    with taeda.no_grad():
        taeda.embedding_renorm_(weight, input, max_norm, norm_type)
    return weight, input
