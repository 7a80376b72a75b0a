"""Normalisation, dropout and pooling."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda._decompositions.core.table import aten, body_of, viewed


@body_of("batch_norm")
def _batch_norm(input: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
                momentum: float, eps: float, cudnn_enabled: bool = True) -> Any:  # fmt: skip
    if training:
        if running_mean is not None or running_var is not None:  # what moves them is taken out before
            return NotImplemented
        return aten._native_batch_norm_legit.no_stats(input, weight, bias, True, momentum, eps)[0]
    op = aten._native_batch_norm_legit_no_training.default
    return op(input, weight, bias, running_mean, running_var, momentum, eps)[0]


@body_of("instance_norm")
def _instance_norm(input: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: bool,
                   momentum: float, eps: float, cudnn_enabled: bool = True) -> Any:  # fmt: skip
    if running_mean is not None or running_var is not None or not use_input_stats:
        return NotImplemented
    batch, channels, *rest = input.shape
    weight, bias = (x if x is None else aten.repeat.default(x, [batch]) for x in (weight, bias))
    rows = viewed(input, [1, batch * channels, *rest])
    found = aten._native_batch_norm_legit.no_stats(rows, weight, bias, True, momentum, eps)[0]
    return aten.view.default(found, [batch, channels, *rest])


@body_of("layer_norm")
def _layer_norm(input: Tensor, normalized_shape: list[Any], weight: Any = None, bias: Any = None, eps: float = 1e-5,
                cudnn_enable: bool = True) -> Any:  # fmt: skip
    return aten.native_layer_norm.default(input, normalized_shape, weight, bias, eps)[0]


@body_of("rms_norm")
def _rms_norm(input: Tensor, normalized_shape: list[Any], weight: Any = None, eps: float | None = None) -> Any:
    eps = taeda.finfo(input.dtype).eps if eps is None else eps
    dims = list(range(input.dim() - len(normalized_shape), input.dim()))
    squares = aten.mean.dim(aten.pow.Tensor_Scalar(input, 2), dims, True)
    found = aten.mul.Tensor(input, aten.rsqrt.default(aten.add.Scalar(squares, eps)))
    return found if weight is None else aten.mul.Tensor(found, weight)


@body_of("group_norm")
def _group_norm(input: Tensor, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5,
                cudnn_enabled: bool = True) -> Any:  # fmt: skip
    batch, channels = input.shape[:2]
    each = math.prod(input.shape[2:])
    return aten.native_group_norm.default(input, weight, bias, batch, channels, each, num_groups, eps)[0]


@body_of("_weight_norm")
def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Any:
    others = [] if dim == -1 else [d for d in range(v.dim()) if d != dim % v.dim()]
    return aten.mul.Tensor(v, aten.div.Tensor(g, aten.linalg_vector_norm.default(v, 2, others, dim != -1)))


@body_of("dropout")
def _dropout(input: Tensor, p: float, train: bool) -> Any:
    return aten.native_dropout.default(input, p, True)[0] if train and p > 0 else aten.clone.default(input)


@body_of("feature_dropout", "alpha_dropout", "feature_alpha_dropout")
def _idle_dropout(input: Tensor, p: float, train: bool) -> Any:
    return NotImplemented if train and p > 0 else aten.clone.default(input)


@body_of("adaptive_avg_pool2d")
def _adaptive_avg_pool2d(self: Tensor, output_size: list[Any]) -> Any:
    if list(output_size) == [1, 1]:
        return aten.mean.dim(self, [-1, -2], True)
    return aten._adaptive_avg_pool2d.default(self, output_size)


@body_of("adaptive_avg_pool3d")
def _adaptive_avg_pool3d(self: Tensor, output_size: list[Any]) -> Any:
    if list(output_size) == [1, 1, 1]:
        return aten.mean.dim(self, [-1, -2, -3], True)
    return aten._adaptive_avg_pool3d.default(self, output_size)


def _as_images(x: Tensor) -> Tensor:
    return aten.unsqueeze.default(x, -2)


@body_of("adaptive_avg_pool1d")
def _adaptive_avg_pool1d(self: Tensor, output_size: list[Any]) -> Any:
    return aten.squeeze.dims(_adaptive_avg_pool2d(_as_images(self), [1, *output_size]), [-2])


@body_of("avg_pool1d")
def _avg_pool1d(self: Tensor, kernel_size: list[int], stride: list[int] | None = None,
                padding: list[int] | None = None, ceil_mode: bool = False,
                count_include_pad: bool = True) -> Any:  # fmt: skip
    stride, padding = stride or kernel_size, padding or [0]
    found = aten.avg_pool2d.default(
        _as_images(self), [1, *kernel_size], [1, *stride], [0, *padding], ceil_mode, count_include_pad
    )
    return aten.squeeze.dims(found, [-2])


@body_of("embedding_bag.padding_idx")
def _embedding_bag(weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool, mode: int, sparse: bool,
                   per_sample_weights: Any, include_last_offset: bool, padding_idx: int | None) -> Any:  # fmt: skip
    if padding_idx is not None:
        return NotImplemented
    op = aten._embedding_bag.default
    return op(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset)
