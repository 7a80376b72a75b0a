"""Layer, group, root-mean-square and local response normalisation."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._main.listed import iterated
from taeda.nn import functional as F
from taeda.nn import init
from taeda.nn.modules.module import Module
from taeda.nn.parameter import Parameter
from taeda.types import Device, _dtype

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LocalResponseNorm(Module):
    """Divides by ``(k + alpha * mean of squares of size neighbours) ** beta`` (Krizhevsky et al., 2012).

    Args:
        size: how many channels a mean is over.
        alpha, beta, k: as in the formula.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """`LocalResponseNorm` of (N, C, H, W).

    Args:
        size: how many channels a mean is over.
        alpha, beta, k: as in the formula.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)


class LayerNorm(Module):
    """Normalises over the last dimensions, of sizes ``normalized_shape`` (Ba et al., 2016).

    ``weight`` starts at 1, ``bias`` at 0; both have ``normalized_shape``.

    Args:
        normalized_shape: sizes of the dimensions to normalise over, the last ones.
        eps: added to the variance.
        elementwise_affine: whether scale and offset are learnt.
        bias: whether there is an offset beside the scale.
        device, dtype: of the parameters.
    """

    weight: Any
    bias: Any

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(iterated("taeda.nn.LayerNorm: normalized_shape", normalized_shape))
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            param = Parameter(taeda.empty(self.normalized_shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, param)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """Normalises each of ``num_groups`` groups of channels of each sample of (N, C, ...) (Wu and He, 2018).

    Args:
        num_groups: must divide ``num_channels``.
        num_channels: C.
        eps: added to the variance.
        affine: whether a scale and an offset per channel are learnt.
        bias: whether there is an offset beside the scale.
        device, dtype: of the parameters.
    """

    weight: Any
    bias: Any

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"taeda.nn.GroupNorm: num_groups {num_groups} does not divide num_channels {num_channels}")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            param = Parameter(taeda.empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, param)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides by the root mean square over the last dimensions (Zhang and Sennrich, 2019).

    ``eps`` is, by default, that of the input's dtype.

    Args:
        normalized_shape: sizes of the dimensions to normalise over, the last ones.
        eps: added to the mean square.
        elementwise_affine: whether a scale is learnt.
        device, dtype: of the parameter.
    """

    weight: Any

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(iterated("taeda.nn.RMSNorm: normalized_shape", normalized_shape))
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = taeda.empty(self.normalized_shape, device=device, dtype=dtype) if elementwise_affine else None
        self.register_parameter("weight", None if weight is None else Parameter(weight))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the weight to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
