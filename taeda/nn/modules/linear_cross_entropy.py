"""The cross entropy of a linear layer's outputs, which need not all exist at once."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn.modules.linear import Linear
from taeda.nn.modules.module import Module
from taeda.types import Device, _dtype

__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]

_POLICIES = ("accurate", "balanced", "compact", "auto")


class _Options(NamedTuple):
    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None


class LinearCrossEntropyOptions(_Options):
    """How `linear_cross_entropy` cuts the batch, so that only a piece of the logits exists at a time.

    Args:
        allow_retain_graph: accepted; gradients may always be computed again.
        batch_chunk_size: rows of a piece; None to choose by ``chunking_method``.
        chunking_method: ``aspect_ratio:r`` for pieces of logits ``r`` times as large as the input, "auto" for r = 2,
            None for one piece.
        acc_policy: in which dtype gradients of the weight are summed: "compact" in its own, else at least in float32.
        acc_dtype: that dtype, whatever the policy.
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> LinearCrossEntropyOptions:
        self = super().__new__(cls, *args, **kwargs)
        name = "taeda.nn.LinearCrossEntropyOptions"
        if self.acc_policy not in _POLICIES:
            raise ValueError(f"{name}: acc_policy must be one of {_POLICIES}; got {self.acc_policy!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"{name}: batch_chunk_size must be a positive int or None; got {size!r}")
        kind, _, ratio = (self.chunking_method or "auto").partition(":")
        if not (kind == "auto" and not ratio or kind == "aspect_ratio" and ratio.isdigit() and int(ratio) > 0):
            raise ValueError(f"{name}: chunking_method must be auto or aspect_ratio:r; got {self.chunking_method!r}")
        return self

    def chunk_size(self, batch: int, features: int, classes: int) -> int:
        """Rows of a piece of a ``batch``."""
        if self.batch_chunk_size is not None:
            return self.batch_chunk_size
        if self.chunking_method is None:
            return max(batch, 1)
        _, _, ratio = self.chunking_method.partition(":")
        return min(max(1, math.ceil(batch * features * int(ratio or 2) / max(classes, 1))), max(batch, 1))

    def sum_dtype(self, dtype: Any) -> Any:
        """In which dtype gradients of a weight of ``dtype`` are summed."""
        if self.acc_dtype is not None:
            return self.acc_dtype
        return dtype if self.acc_policy == "compact" else taeda.promote_types(dtype, taeda.float32)


class LinearCrossEntropyLoss(Module):
    """The cross entropy of ``linear(input)`` and the target, with the linear layer's weights as parameters.

    ``input`` is (N, in_features) or, without ``out_features``, (in_features); the target's class numbers
    (N, *out_features), or its class probabilities (N, num_classes, *out_features).

    Args:
        out_features: further dimensions of the logits.
        bias: whether the linear layer has one.
        weight: one factor per class.
        ignore_index: a class number that counts for nothing; None for -100.
        label_smoothing: the share of each target spread evenly over all classes.
        options: how the batch is cut; None for all logits at once.
    """

    weight: Tensor | None

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        super().__init__()
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"taeda.nn.LinearCrossEntropyLoss: weight must have shape ({num_classes},); got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"taeda.nn.LinearCrossEntropyLoss: label_smoothing must be from 0 to 1; got {label_smoothing}"
            )
        self.reduction = reduction
        self.register_buffer("weight", weight)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options
        self.linear = Linear(in_features, num_classes * math.prod(out_features), bias, device, dtype)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape, bias = (self.num_classes, *self.out_features), self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )
