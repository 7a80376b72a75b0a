"""Instance normalisation (Ulyanov et al., 2016)."""

from __future__ import annotations

import warnings
from typing import Any

from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn.modules.batchnorm import _LazyNormBase, _NormBase
from taeda.types import Device, _dtype

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

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
        # States of version 1 hold running statistics even where they were not tracked.
        if local_metadata.get("version") is None and not self.track_running_stats:
            stale = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if stale:
                error_msgs.append(
                    f"the state of {type(self).__name__} holds {', '.join(stale)}, which track_running_stats=False has "
                    "no place for; remove them, or set track_running_stats=True"
                )
                for key in stale:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def _get_no_batch_dim(self) -> int:
        """The dimensions of one sample."""
        return self._dims[0]

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        channel_dim = input.dim() - self._dims[0]
        if input.size(channel_dim) != self.num_features:
            message = (
                f"taeda.nn.{type(self).__name__}: the input has {input.size(channel_dim)} channels, num_features is "
                f"{self.num_features}"
            )
            if self.affine:
                raise ValueError(message)
            warnings.warn(message + "; without affine that makes no difference", stacklevel=3)
        if channel_dim == 0:
            return self._normalize(input.unsqueeze(0)).squeeze(0)
        return self._normalize(input)

    def _normalize(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, L) or (C, L).

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


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, H, W) or (C, H, W).

    Args:
        num_features: C, the number of channels.
        eps: added to the variance.
        momentum: how much of a new batch's statistics goes into the running ones; None takes the mean over all batches.
        affine: whether a scale (``weight``, from 1) and an offset (``bias``, from 0) per channel are learnt.
        track_running_stats: whether running statistics are kept, for evaluation.
        bias: whether there is an offset beside the scale.
        device, dtype: of the parameters.
    """

    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, D, H, W) or (C, D, H, W).

    Args:
        num_features: C, the number of channels.
        eps: added to the variance.
        momentum: how much of a new batch's statistics goes into the running ones; None takes the mean over all batches.
        affine: whether a scale (``weight``, from 1) and an offset (``bias``, from 0) per channel are learnt.
        track_running_stats: whether running statistics are kept, for evaluation.
        bias: whether there is an offset beside the scale.
        device, dtype: of the parameters.
    """

    _dims = (4, 5)


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """An `InstanceNorm1d` that takes ``num_features`` from its first input, and then is one."""

    cls_to_become = InstanceNorm1d
    _dims = (2, 3)


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """An `InstanceNorm2d` that takes ``num_features`` from its first input, and then is one."""

    cls_to_become = InstanceNorm2d
    _dims = (3, 4)


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """An `InstanceNorm3d` that takes ``num_features`` from its first input, and then is one."""

    cls_to_become = InstanceNorm3d
    _dims = (4, 5)
