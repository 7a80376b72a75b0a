"""Natives with the same signature: products, convolutions, distances, shuffles; and what is little more than one."""

from __future__ import annotations

import enum
from typing import Any

import taeda
from taeda import Tensor
from taeda._C import _nn
from taeda.nn._functional.sizes import pair


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Sums sliding blocks, (N, C * kernel, blocks) or without N, into an image of ``output_size``."""
    return _nn.col2im(input, pair(output_size), pair(kernel_size), pair(dilation), pair(padding), pair(stride))


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The sliding blocks of (N, C, H, W) or (C, H, W) as columns: (N, C * kernel, blocks)."""
    return _nn.im2col(input, pair(kernel_size), pair(dilation), pair(padding), pair(stride))


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """``input / max(norm, eps)`` with the p-norm along ``dim``."""
    if out is None:
        return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return taeda.div(input, input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input), out=out)


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: Any = None,
) -> Tensor:
    """Products of groups of rows of ``mat_a`` with matrices of ``mat_b``; ``offs`` holds where each group ends."""
    return taeda._grouped_mm(mat_a, mat_b, offs=offs, bias=bias, out_dtype=out_dtype)


class ScalingType(enum.Enum):
    """What a scale of ``scaled_mm`` belongs to."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(enum.Enum):
    """In which order the scales of ``scaled_mm`` lie in memory."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


def _scales(
    name: str, scale_a: Any, recipe_a: Any, scale_b: Any, recipe_b: Any, known: tuple[ScalingType, ...]
) -> tuple[Tensor, Tensor]:
    """Both scales out of their lists; ValueError unless both recipes are one of the known."""

    def single(which: str, value: Any) -> Any:
        values = value if isinstance(value, (list, tuple)) else [value]
        if len(values) != 1:
            raise ValueError(f"taeda.nn.functional.{name}: there is one scale per matrix; got {len(values)} {which}")
        return values[0]

    recipes = {single("scale_recipe_a", recipe_a), single("scale_recipe_b", recipe_b)}
    if len(recipes) != 1 or not recipes <= {*known}:
        wanted = " or ".join(f"both {kind.name}" for kind in known)
        raise ValueError(f"taeda.nn.functional.{name}: scale recipes must be {wanted}; got {recipe_a} and {recipe_b}")
    return single("scale_a", scale_a), single("scale_b", scale_b)


def scaled_mm(mat_a: Tensor, mat_b: Tensor, scale_a: Any, scale_recipe_a: Any, scale_b: Any, scale_recipe_b: Any,
              swizzle_a: Any = None, swizzle_b: Any = None, bias: Tensor | None = None,
              output_dtype: Any = taeda.bfloat16, contraction_dim: Any = (),
              use_fast_accum: bool = False) -> Tensor:  # fmt: skip
    """The product of matrices of 8-bit floats that were divided by scales, which it multiplies by.

    Args:
        scale_a: Float32, alone or in a list: a number, or (m, 1) by ``ScalingType.RowWise``.
        scale_recipe_a: What the scales belong to: ``TensorWise`` or ``RowWise``, the same for both matrices.
        scale_b: A number, or (1, n).
        swizzle_a: ``SwizzleType.NO_SWIZZLE``, if anything.
        output_dtype: That of ``mat_a`` if None.
        contraction_dim: Not used: rows of ``mat_a`` meet columns of ``mat_b``.
        use_fast_accum: Not used: sums are float32.
    """
    known = ScalingType.TensorWise, ScalingType.RowWise
    scales = _scales("scaled_mm", scale_a, scale_recipe_a, scale_b, scale_recipe_b, known)
    return taeda._scaled_mm(mat_a, mat_b, *scales, bias=bias, out_dtype=output_dtype, use_fast_accum=use_fast_accum)


def scaled_grouped_mm(mat_a: Tensor, mat_b: Tensor, scale_a: Any, scale_recipe_a: Any, scale_b: Any,
                      scale_recipe_b: Any, swizzle_a: Any = None, swizzle_b: Any = None, bias: Tensor | None = None,
                      offs: Tensor | None = None, output_dtype: Any = taeda.bfloat16, contraction_dim: Any = (),
                      use_fast_accum: bool = False) -> Tensor:  # fmt: skip
    """`grouped_mm` of matrices of 8-bit floats that were divided by scales, which it multiplies by.

    Args:
        scale_a: Float32, alone or in a list: one for each row of ``mat_a``; where ``offs`` cuts the dimension that is
            summed over, one for each row and group, group after group.
        scale_recipe_a: ``ScalingType.RowWise``, for both matrices.
        scale_b: The same for the columns of ``mat_b``.
        offs: Int32, where each group ends, if one of the matrices has two dimensions.
        output_dtype: That of ``mat_a`` if None.
        swizzle_a, swizzle_b, contraction_dim, use_fast_accum: As in `scaled_mm`.
    """
    recipes = scale_recipe_a, scale_recipe_b
    by_row, by_column = _scales("scaled_grouped_mm", scale_a, recipes[0], scale_b, recipes[1], (ScalingType.RowWise,))
    if mat_a.dim() == 2 and mat_b.dim() == 2 and offs is not None:
        group = taeda.bucketize(taeda.arange(mat_a.shape[1], device=offs.device), offs, right=True).clamp(
            max=len(offs) - 1
        )
        by_row = by_row.view(len(offs), -1)[group].t()  # (m, k)
        by_column = by_column.view(len(offs), -1)[group]  # (k, n)
    else:
        by_row, by_column = by_row.unsqueeze(-1), by_column.unsqueeze(-2)
    product = taeda._grouped_mm(mat_a.float() * by_row, mat_b.float() * by_column, offs=offs, bias=bias)
    return product.to(output_dtype or mat_a.dtype)


def assert_int_or_pair(arg: Any, arg_name: str, message: str) -> None:
    """Raises AssertionError unless ``arg`` is a number or two; ``message`` is a format that takes ``arg_name``."""
    if not isinstance(arg, int) and len(arg) != 2:
        raise AssertionError(message.format(arg_name))
