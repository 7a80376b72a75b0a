"""Convolutions fused with what follows them, whose weights are rounded while training."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.intrinsic.modules import fused
from taeda.ao.nn.qat.modules import conv as qat
from taeda.nn import functional as F
from taeda.nn.utils.fusion import fuse_conv_bn_weights

_OLD_NAMES = {
    "gamma": "bn.weight", "beta": "bn.bias", "running_mean": "bn.running_mean", "running_var": "bn.running_var",
    "num_batches_tracked": "bn.num_batches_tracked",
}  # fmt: skip


class _Norm:
    """What a convolution has that the norm after it is fused with; the base of the classes below."""

    bn: Any
    training: bool
    freeze_bn: bool

    def update_bn_stats(self) -> Any:
        """The norm's statistics move while training."""
        self.freeze_bn = False
        self.bn.training = True
        return self

    def freeze_bn_stats(self) -> Any:
        """The norm's statistics stay as they are."""
        self.freeze_bn = True
        self.bn.training = False
        return self

    def reset_running_stats(self) -> None:
        """The norm forgets what it saw."""
        self.bn.reset_running_stats()

    def train(self, mode: bool = True) -> Any:
        """Training or evaluation mode; a norm that is frozen stays so."""
        self.training = mode
        if not self.freeze_bn:
            for module in self.children():  # type: ignore[attr-defined]
                module.train(mode)
        return self


class _ConvBnNd(_Norm, qat._ConvNd):
    """A convolution and the norm after it: the weight is rounded as it will be when the norm is folded.

    The weight is scaled by the norm's last statistics, rounded, applied, and the result scaled back, so that the norm
    sees what it would without rounding. Source: Krishnamoorthi, arXiv 1806.08342, section 3.2.2.
    """

    _version = 2
    dims: ClassVar[int]

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool | None = None, padding_mode: str = "zeros", eps: float = 1e-5,
        momentum: float = 0.1, freeze_bn: bool = False, qconfig: Any = None,
    ) -> None:  # fmt: skip
        nn.Module.__init__(self)
        self.freeze_bn = freeze_bn  # which train() asks for
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, False, padding_mode, qconfig
        )  # fmt: skip
        if bias:  # drawn below, once
            self.bias = nn.Parameter(taeda.empty(out_channels))
        self.freeze_bn = freeze_bn if self.training else True
        self.bn = getattr(nn, f"BatchNorm{self.dims}d")(out_channels, eps, momentum, True, True)
        self._modules["weight_fake_quant"] = self._modules.pop("weight_fake_quant")  # last, as in saved states
        self.reset_bn_parameters()
        if self.training and freeze_bn:
            self.freeze_bn_stats()
        elif self.training:
            self.update_bn_stats()

    def reset_bn_parameters(self) -> None:
        """Draws the norm's weight, and the bias of the convolution."""
        self.bn.reset_running_stats()
        nn.init.uniform_(self.bn.weight)
        nn.init.zeros_(self.bn.bias)
        if self.bias is not None:
            fan_in, _ = nn.init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in)
            nn.init.uniform_(self.bias, -bound, bound)

    def _forward(self, input: Tensor) -> Tensor:
        factor = self.bn.weight / taeda.sqrt(self.bn.running_var + self.bn.eps)
        weight = self.weight_fake_quant(self.weight * factor.reshape([-1] + [1] * (self.weight.dim() - 1)))
        zeros = taeda.zeros(self.out_channels, dtype=weight.dtype, device=weight.device)
        across = [1, -1] + [1] * (self.weight.dim() - 2)
        plain = self._conv_forward(input, weight, zeros) / factor.reshape(across)  # type: ignore[operator]
        if self.bias is not None:
            plain = plain + self.bias.reshape(across)
        normed: Tensor = self.bn(plain)
        return normed

    def forward(self, input: Tensor) -> Tensor:
        """The normed result."""
        return self._forward(input)

    def extra_repr(self) -> str:
        return super().extra_repr()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *args: Any) -> None:
        if local_metadata.get("version", None) in (None, 1):
            for old, new in _OLD_NAMES.items():
                if prefix + old in state_dict:
                    state_dict[prefix + new] = state_dict.pop(prefix + old)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Of a fused float module with a qconfig; its parameters and its norm are taken over, not copied.

        Raises:
            AssertionError: it has no qconfig.
        """
        if not getattr(mod, "qconfig", None):
            raise AssertionError(f"{cls.__name__}: the float module must have a qconfig")
        conv, bn = mod[0], mod[1]
        made = cls(
            conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride, conv.padding, conv.dilation,
            conv.groups, conv.bias is not None, conv.padding_mode, bn.eps, bn.momentum, False, mod.qconfig,
        )  # fmt: skip
        made.weight, made.bias = conv.weight, conv.bias
        made.bn.weight, made.bn.bias = bn.weight, bn.bias
        made.bn.running_mean, made.bn.running_var = bn.running_mean, bn.running_var
        made.bn.num_batches_tracked = bn.num_batches_tracked
        return made

    def to_float(self) -> nn.Module:
        """A float convolution with the norm folded, and a ReLU after it where this has one."""
        conv = super().to_float()
        bias = self.bias
        weight, new_bias = fuse_conv_bn_weights(
            conv.weight, bias, self.bn.running_mean, self.bn.running_var, self.bn.eps, self.bn.weight, self.bn.bias
        )  # type: ignore[arg-type] # fmt: skip
        conv.weight, conv.bias = weight, new_bias
        if isinstance(self, _Reluing):
            made: nn.Module = getattr(fused, f"ConvReLU{self.dims}d")(conv, nn.ReLU())
            return made.train(self.training)
        return conv


class _Reluing:
    """Marks classes with a ReLU at the end."""


class ConvBn1d(_ConvBnNd, nn.Conv1d):
    """``Conv1d``, ``BatchNorm1d``, with a weight that is rounded."""

    dims, _FLOAT_MODULE = 1, nn.Conv1d


class ConvBn2d(_ConvBnNd, nn.Conv2d):
    """``Conv2d``, ``BatchNorm2d``, with a weight that is rounded."""

    dims, _FLOAT_MODULE = 2, nn.Conv2d


class ConvBn3d(_ConvBnNd, nn.Conv3d):
    """``Conv3d``, ``BatchNorm3d``, with a weight that is rounded."""

    dims, _FLOAT_MODULE = 3, nn.Conv3d


class ConvBnReLU1d(ConvBn1d, _Reluing):
    """``Conv1d``, ``BatchNorm1d``, ``ReLU``, with a weight that is rounded."""

    def forward(self, input: Tensor) -> Tensor:
        """The result of the ReLU."""
        return F.relu(self._forward(input))


class ConvBnReLU2d(ConvBn2d, _Reluing):
    """``Conv2d``, ``BatchNorm2d``, ``ReLU``, with a weight that is rounded."""

    def forward(self, input: Tensor) -> Tensor:
        """The result of the ReLU."""
        return F.relu(self._forward(input))


class ConvBnReLU3d(ConvBn3d, _Reluing):
    """``Conv3d``, ``BatchNorm3d``, ``ReLU``, with a weight that is rounded."""

    def forward(self, input: Tensor) -> Tensor:
        """The result of the ReLU."""
        return F.relu(self._forward(input))


class _ConvReLU(qat._ConvNd, _Reluing):
    """A convolution and the ReLU after it."""

    def forward(self, input: Tensor) -> Tensor:
        """The result of the ReLU."""
        return F.relu(super().forward(input))

    def to_float(self) -> nn.Module:
        """The float sequence with copies of the parameters."""
        made: nn.Module = getattr(fused, f"ConvReLU{self.weight.dim() - 2}d")(super().to_float(), nn.ReLU())
        return made.train(self.training)


class ConvReLU1d(_ConvReLU, qat.Conv1d):
    """``Conv1d``, ``ReLU``, with a weight that is rounded."""


class ConvReLU2d(_ConvReLU, qat.Conv2d):
    """``Conv2d``, ``ReLU``, with a weight that is rounded."""


class ConvReLU3d(_ConvReLU, qat.Conv3d):
    """``Conv3d``, ``ReLU``, with a weight that is rounded."""


def update_bn_stats(mod: nn.Module) -> None:
    """``mod.update_bn_stats()`` where it has that: for ``model.apply``."""
    if isinstance(mod, _Norm):
        mod.update_bn_stats()


def freeze_bn_stats(mod: nn.Module) -> None:
    """``mod.freeze_bn_stats()`` where it has that: for ``model.apply``."""
    if isinstance(mod, _Norm):
        mod.freeze_bn_stats()
