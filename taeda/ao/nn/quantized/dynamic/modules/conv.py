"""Convolutions that quantise their inputs on the fly."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.ao.nn.quantized.modules import conv as static

ops: Any = taeda.ops.quantized


class _Dynamic(static._ConvNd):
    def _get_name(self) -> str:
        return f"DynamicQuantizedConv{'Transpose' if self.transposes else ''}{self.dims}d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        """The float32 result of a float32 input."""
        if input.dim() != self.dims + 2:
            raise ValueError(
                f"{type(self).__name__}: the input must have {self.dims + 2} dimensions; got {input.shape}"
            )
        result: Tensor = getattr(ops, f"{self._op}_dynamic")(self._padded(input), self._packed_params, reduce_range)
        return result

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Of a float module with a qconfig."""
        return cls.get_qconv(mod, None)


class Conv1d(_Dynamic, static.Conv1d):
    """``nn.Conv1d`` over int8 of float tensors."""


class Conv2d(_Dynamic, static.Conv2d):
    """``nn.Conv2d`` over int8 of float tensors."""


class Conv3d(_Dynamic, static.Conv3d):
    """``nn.Conv3d`` over int8 of float tensors."""


class ConvTranspose1d(_Dynamic, static.ConvTranspose1d):
    """``nn.ConvTranspose1d`` over int8 of float tensors."""


class ConvTranspose2d(_Dynamic, static.ConvTranspose2d):
    """``nn.ConvTranspose2d`` over int8 of float tensors."""


class ConvTranspose3d(_Dynamic, static.ConvTranspose3d):
    """``nn.ConvTranspose3d`` over int8 of float tensors."""
