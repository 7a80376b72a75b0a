"""Natives with the same signature: products, convolutions, distances, shuffles; and what is little more than one."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._C import _nn
from taeda.nn._functional._native import native
from taeda.nn._functional.sizes import pair

linear = native("linear", "_nn")
bilinear = native("bilinear")
conv1d = native("conv1d")
conv2d = native("conv2d")
conv3d = native("conv3d")
conv_tbc = native("conv_tbc")
conv_transpose1d = native("conv_transpose1d")
conv_transpose2d = native("conv_transpose2d")
conv_transpose3d = native("conv_transpose3d")
scaled_dot_product_attention = native("scaled_dot_product_attention", "_nn")
cosine_similarity = native("cosine_similarity")
pairwise_distance = native("pairwise_distance")
pdist = native("pdist")
pixel_shuffle = native("pixel_shuffle")
pixel_unshuffle = native("pixel_unshuffle")
channel_shuffle = native("channel_shuffle")
native_channel_shuffle = native("native_channel_shuffle")
one_hot = native("one_hot", "_nn")
pad = native("pad", "_nn")


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
