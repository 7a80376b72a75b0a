"""A linear layer and the norm after it, whose weight is rounded while training."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.intrinsic.qat.modules.conv_fused import _Norm
from taeda.nn import functional as F
from taeda.nn.utils.fusion import fuse_linear_bn_weights


class LinearBn1d(_Norm, nn.Linear):
    """``Linear``, ``BatchNorm1d``; the weight is rounded as it will be when the norm is folded.

    Raises:
        ValueError: there is no qconfig.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, eps: float = 1e-5, momentum: float = 0.1,
        freeze_bn: bool = False, qconfig: Any = None,
    ) -> None:  # fmt: skip
        nn.Module.__init__(self)
        self.freeze_bn = freeze_bn
        nn.Linear.__init__(self, in_features, out_features, bias)
        if not qconfig:
            raise ValueError("LinearBn1d: a module that rounds while training needs a qconfig")
        self.qconfig = qconfig
        self.freeze_bn = freeze_bn if self.training else True
        self.bn = nn.BatchNorm1d(out_features, eps, momentum, True, True)
        self.weight_fake_quant = qconfig.weight()
        nn.init.uniform_(self.bn.weight)
        nn.init.zeros_(self.bn.bias)
        if self.training and freeze_bn:
            self.freeze_bn_stats()
        elif self.training:
            self.update_bn_stats()

    def forward(self, input: Tensor) -> Tensor:
        """The normed result."""
        factor = self.bn.weight / taeda.sqrt(self.bn.running_var + self.bn.eps)
        weight = self.weight_fake_quant(self.weight * factor.reshape(-1, 1))
        zeros = taeda.zeros(self.out_features, dtype=weight.dtype, device=weight.device)
        plain = F.linear(input, weight, zeros) / factor
        if self.bias is not None:
            plain = plain + self.bias
        normed: Tensor = self.bn(plain)
        return normed

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> LinearBn1d:
        """Of a fused float module with a qconfig; its parameters and its norm are taken over, not copied.

        Raises:
            AssertionError: it has no qconfig.
        """
        if not getattr(mod, "qconfig", None):
            raise AssertionError("LinearBn1d: the float module must have a qconfig")
        linear, bn = mod[0], mod[1]
        made = cls(
            linear.in_features, linear.out_features, linear.bias is not None, bn.eps, bn.momentum, False, mod.qconfig
        )  # fmt: skip
        made.weight, made.bias = linear.weight, linear.bias
        made.bn.weight, made.bn.bias = bn.weight, bn.bias
        made.bn.running_mean, made.bn.running_var = bn.running_mean, bn.running_var
        made.bn.num_batches_tracked = bn.num_batches_tracked
        return made

    def to_float(self) -> nn.Linear:
        """A float layer with the norm folded."""
        made = nn.Linear(self.in_features, self.out_features)
        made.weight, made.bias = fuse_linear_bn_weights(
            self.weight, self.bias, self.bn.running_mean, self.bn.running_var, self.bn.eps, self.bn.weight, self.bn.bias
        )  # type: ignore[arg-type] # fmt: skip
        return made
