"""Batch normalisation (Ioffe and Szegedy, 2015)."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn import init
from taeda.nn.modules import _batch_of_many
from taeda.nn.modules.lazy import LazyModuleMixin
from taeda.nn.modules.module import Module
from taeda.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter, is_lazy
from taeda.types import Device, _dtype

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


class _NormBase(Module):
    """What batch and instance normalisation share: scale, shift and running statistics, each (num_features).

    Args:
        momentum: how far the running statistics move towards each batch's; ``None`` for the mean over all batches.
        affine: scale by a learnt ``weight`` and, with ``bias``, shift.
        track_running_stats: keep running statistics, for evaluation.
    """

    _version = 2
    _dims: tuple[int, ...] = ()
    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.register_parameter("weight", Parameter(taeda.empty(num_features, **factory)) if affine else None)
        self.register_parameter("bias", Parameter(taeda.empty(num_features, **factory)) if affine and bias else None)
        if track_running_stats:
            self.register_buffer("running_mean", taeda.zeros(num_features, **factory))
            self.register_buffer("running_var", taeda.ones(num_features, **factory))
            self.register_buffer("num_batches_tracked", taeda.tensor(0, dtype=taeda.long, device=device))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Sets the running statistics to mean 0 and variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Also sets the weight to 1 and the bias to 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self._dims:
            wanted = " or ".join(str(dims) for dims in self._dims)
            raise ValueError(f"taeda.nn.{type(self).__name__}: expected {wanted} dimensions; got {tuple(input.shape)}")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        # States of version 1 hold no count of batches.
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            count = self.num_batches_tracked
            fresh = count is None or count.is_meta
            state_dict[key] = taeda.tensor(0, dtype=taeda.long) if fresh else count
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _BatchNorm(_NormBase):
    def _next_momentum(self) -> float:
        """Counts the batch, and returns by how much the running statistics move."""
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                return 1.0 / float(self.num_batches_tracked)
        return 0.0 if self.momentum is None else self.momentum

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = self._next_momentum()
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.weight,
            self.bias,
            by_batch,
            momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Normalises each channel of (N, C) or (N, C, L) over the batch; in evaluation by the running statistics.

    Args:
        num_features: C, the number of channels.
        eps: added to the variance.
        momentum: how much of a new batch's statistics goes into the running ones; None takes the mean over all batches.
        affine: whether a scale (``weight``, from 1) and an offset (``bias``, from 0) per channel are learnt.
        track_running_stats: whether running statistics are kept, for evaluation.
        bias: whether there is an offset beside the scale.
        device, dtype: of the parameters.
    """

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of (N, C, H, W) over the batch; in evaluation by the running statistics.

    Args:
        num_features: C, the number of channels.
        eps: added to the variance.
        momentum: how much of a new batch's statistics goes into the running ones; None takes the mean over all batches.
        affine: whether a scale (``weight``, from 1) and an offset (``bias``, from 0) per channel are learnt.
        track_running_stats: whether running statistics are kept, for evaluation.
        bias: whether there is an offset beside the scale.
        device, dtype: of the parameters.
    """

    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalises each channel of (N, C, D, H, W) over the batch; in evaluation by the running statistics.

    Args:
        num_features: C, the number of channels.
        eps: added to the variance.
        momentum: how much of a new batch's statistics goes into the running ones; None takes the mean over all batches.
        affine: whether a scale (``weight``, from 1) and an offset (``bias``, from 0) per channel are learnt.
        track_running_stats: whether running statistics are kept, for evaluation.
        bias: whether there is an offset beside the scale.
        device, dtype: of the parameters.
    """

    _dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Normalises each channel of (N, C, ...) over the batches of several processes, as if they were one; without a
    process group as `BatchNorm1d` and its like do. Works on every device, the CPU included.

    Args:
        process_group: the processes whose batches count as one; all by default.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"taeda.nn.SyncBatchNorm: expected at least 2 dimensions; got {tuple(input.shape)}")
        if input.size(1) == 0:
            raise ValueError(f"taeda.nn.SyncBatchNorm: expected at least one channel; got {tuple(input.shape)}")

    def forward(self, input: Tensor) -> Tensor:
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        group = _batch_of_many.group_of(self.process_group) if by_batch else None
        if group is None:
            return super().forward(input)
        self._check_input_dim(input)
        momentum = self._next_momentum()
        tracked = self.training and self.track_running_stats and self.running_mean is not None
        running = (self.running_mean, self.running_var) if tracked else None
        return _batch_of_many.normalise(input, self.weight, self.bias, running, momentum, self.eps, group)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """``module`` with all batch normalisation in it replaced by this class, around the same tensors."""
        result: Any = module
        if isinstance(module, _BatchNorm):
            kept = (module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats)
            result = cls(*kept, process_group, bias=module.bias is not None)
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
                setattr(result, name, getattr(module, name))
            result.training = module.training
            if hasattr(module, "qconfig"):
                result.qconfig = module.qconfig
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


class _LazyNormBase(LazyModuleMixin):
    """Takes ``num_features`` from the first input."""

    weight: Any
    bias: Any
    affine: bool
    track_running_stats: bool

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=bias)
        self.affine = affine
        self.track_running_stats = track_running_stats
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**factory)
            if bias:
                self.bias = UninitializedParameter(**factory)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**factory)
            self.running_var = UninitializedBuffer(**factory)
            self.num_batches_tracked = taeda.tensor(0, dtype=taeda.long, device=device)

    def reset_parameters(self) -> None:
        this: Any = self
        if not self.has_uninitialized_params() and this.num_features:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor) -> None:
        if not self.has_uninitialized_params():
            return
        this: Any = self
        this.num_features = input.shape[1]
        for tensor in (this.weight, this.bias, this.running_mean, this.running_var):
            if is_lazy(tensor):
                tensor.materialize((this.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm1d` that takes ``num_features`` from its first input, and then is one."""

    cls_to_become = BatchNorm1d
    _dims = (2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm2d` that takes ``num_features`` from its first input, and then is one."""

    cls_to_become = BatchNorm2d
    _dims = (4,)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm3d` that takes ``num_features`` from its first input, and then is one."""

    cls_to_become = BatchNorm3d
    _dims = (5,)
