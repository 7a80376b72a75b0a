"""Look-up tables."""

from __future__ import annotations

import warnings

import taeda
from taeda import Tensor
from taeda.autograd.forward_ad import _set_fwd_grad_enabled

_MODES = {"sum": 0, "mean": 1, "max": 2}


def _limit_norms(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    with taeda.no_grad(), _set_fwd_grad_enabled(False):
        taeda.embedding_renorm_(weight, indices.contiguous(), max_norm, norm_type)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of ``weight``, (rows, width), that the integers ``input`` name: shape ``(*input.shape, width)``.

    Args:
        padding_idx: a row that gets no gradient.
        max_norm: rows that are looked up and have a larger ``norm_type``-norm are scaled down, in place.
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.size(0)
        if not -rows <= padding_idx < rows:
            raise AssertionError(
                f"taeda.nn.functional.embedding: padding_idx {padding_idx} is outside a table of {rows} rows"
            )
        padding_idx %= rows
    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)
    return taeda.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _rows_as_bags(input: Tensor, offsets: Tensor | None) -> tuple[Tensor, Tensor]:
    """A flat list of indices and where each bag starts."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "taeda.nn.functional.embedding_bag: with a 2-dimensional input each row is a bag, and offsets must be "
                "None"
            )
        rows, width = input.shape
        starts = taeda.arange(0, rows * width, width, dtype=input.dtype, device=input.device)
        return input.reshape(-1), starts
    if input.dim() != 1:
        raise ValueError(f"taeda.nn.functional.embedding_bag: input must have 1 or 2 dimensions; got {input.dim()}")
    if offsets is None:
        raise ValueError("taeda.nn.functional.embedding_bag: a 1-dimensional input needs offsets")
    if offsets.dim() != 1:
        raise ValueError(f"taeda.nn.functional.embedding_bag: offsets must have 1 dimension; got {offsets.dim()}")
    return input, offsets


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows of each bag of indices, without making the rows: (bags, width).

    ``input`` is 2-dimensional with a bag in each row, or 1-dimensional with ``offsets`` saying where each bag starts.
    """
    if weight.dtype == taeda.long and input.is_floating_point():
        warnings.warn(
            "taeda.nn.functional.embedding_bag: the indices come first and the table second; they are swapped, as in "
            "programs for PyTorch before 1.0",
            stacklevel=2,
        )
        input, weight = weight, input
    if per_sample_weights is not None:
        if per_sample_weights.shape != input.shape:
            raise ValueError(
                "taeda.nn.functional.embedding_bag: per_sample_weights must have the shape of input, "
                f"{tuple(input.shape)}; got {tuple(per_sample_weights.shape)}"
            )
        if mode != "sum":
            raise NotImplementedError(
                f"taeda.nn.functional.embedding_bag: per_sample_weights go with mode='sum' only; got mode='{mode}'"
            )
        per_sample_weights = per_sample_weights.reshape(-1)
    if mode not in _MODES:
        raise ValueError(f"taeda.nn.functional.embedding_bag: mode must be sum, mean or max; got {mode!r}")
    if mode == "max" and (scale_grad_by_freq or sparse):
        wrong = "scale_grad_by_freq" if scale_grad_by_freq else "sparse"
        raise ValueError(f"taeda.nn.functional.embedding_bag: {wrong}=True does not go with mode='max'")
    input, offsets = _rows_as_bags(input, offsets)
    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)
    bags = taeda.embedding_bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        _MODES[mode],
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )
    return bags[0]
