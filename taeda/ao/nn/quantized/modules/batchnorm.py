"""Batch norms of quantised tensors, by the statistics that training left."""

from __future__ import annotations

from typing import Any, ClassVar

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules.utils import output_qparams

ops: Any = taeda.ops.quantized


class _BatchNorm(nn.modules.batchnorm._BatchNorm):
    _op: ClassVar[str]
    dims: ClassVar[int]
    scale: Tensor
    zero_point: Tensor

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(num_features, eps, momentum, True, True, device=device, dtype=dtype)
        self.register_buffer("scale", taeda.tensor(1.0, device=device))
        self.register_buffer("zero_point", taeda.tensor(0, device=device))

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != self.dims + 2:
            raise ValueError(
                f"{type(self).__name__}: the input must have {self.dims + 2} dimensions; got {input.shape}"
            )

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        self._check_input_dim(input)
        result: Tensor = getattr(ops, self._op)(
            input, self.weight, self.bias, self.running_mean, self.running_var, self.eps, float(self.scale),
            int(self.zero_point),
        )  # fmt: skip
        return result

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Of a float module that was observed, alone or with a ReLU after it."""
        return cls.from_reference(mod, *output_qparams(mod))

    @classmethod
    def from_reference(cls, bn: Any, output_scale: float, output_zero_point: int) -> Any:
        """Of a float module, for a result of this scale."""
        norm = bn[0] if isinstance(bn, nn.Sequential) else bn
        made = cls(norm.num_features, norm.eps, device=norm.weight.device, dtype=norm.weight.dtype)
        made.weight, made.bias = norm.weight, norm.bias
        made.running_mean, made.running_var = norm.running_mean, norm.running_var
        made.scale, made.zero_point = taeda.tensor(output_scale), taeda.tensor(output_zero_point)
        return made


class BatchNorm2d(_BatchNorm):
    """``nn.BatchNorm2d`` of quantised tensors, (N, C, H, W)."""

    _op, dims = "batch_norm2d", 2

    def _get_name(self) -> str:
        return "QuantizedBatchNorm2d"


class BatchNorm3d(_BatchNorm):
    """``nn.BatchNorm3d`` of quantised tensors, (N, C, D, H, W)."""

    _op, dims = "batch_norm3d", 3

    def _get_name(self) -> str:
        return "QuantizedBatchNorm3d"
