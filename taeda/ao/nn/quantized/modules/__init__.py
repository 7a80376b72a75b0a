"""Modules that compute with quantised tensors, and those at the borders to float ones."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules.activation import ELU as ELU
from taeda.ao.nn.quantized.modules.activation import Hardswish as Hardswish
from taeda.ao.nn.quantized.modules.activation import LeakyReLU as LeakyReLU
from taeda.ao.nn.quantized.modules.activation import PReLU as PReLU
from taeda.ao.nn.quantized.modules.activation import ReLU6 as ReLU6
from taeda.ao.nn.quantized.modules.activation import Sigmoid as Sigmoid
from taeda.ao.nn.quantized.modules.activation import Softmax as Softmax
from taeda.ao.nn.quantized.modules.batchnorm import BatchNorm2d as BatchNorm2d
from taeda.ao.nn.quantized.modules.batchnorm import BatchNorm3d as BatchNorm3d
from taeda.ao.nn.quantized.modules.conv import Conv1d as Conv1d
from taeda.ao.nn.quantized.modules.conv import Conv2d as Conv2d
from taeda.ao.nn.quantized.modules.conv import Conv3d as Conv3d
from taeda.ao.nn.quantized.modules.conv import ConvTranspose1d as ConvTranspose1d
from taeda.ao.nn.quantized.modules.conv import ConvTranspose2d as ConvTranspose2d
from taeda.ao.nn.quantized.modules.conv import ConvTranspose3d as ConvTranspose3d
from taeda.ao.nn.quantized.modules.dropout import Dropout as Dropout
from taeda.ao.nn.quantized.modules.embedding_ops import Embedding as Embedding
from taeda.ao.nn.quantized.modules.embedding_ops import EmbeddingBag as EmbeddingBag
from taeda.ao.nn.quantized.modules.functional_modules import FloatFunctional as FloatFunctional
from taeda.ao.nn.quantized.modules.functional_modules import FXFloatFunctional as FXFloatFunctional
from taeda.ao.nn.quantized.modules.functional_modules import QFunctional as QFunctional
from taeda.ao.nn.quantized.modules.linear import Linear as Linear
from taeda.ao.nn.quantized.modules.normalization import GroupNorm as GroupNorm
from taeda.ao.nn.quantized.modules.normalization import InstanceNorm1d as InstanceNorm1d
from taeda.ao.nn.quantized.modules.normalization import InstanceNorm2d as InstanceNorm2d
from taeda.ao.nn.quantized.modules.normalization import InstanceNorm3d as InstanceNorm3d
from taeda.ao.nn.quantized.modules.normalization import LayerNorm as LayerNorm
from taeda.ao.nn.quantized.modules.rnn import LSTM as LSTM

MaxPool2d = nn.MaxPool2d


class Quantize(nn.Module):
    """Quantises float tensors.

    Args:
        scale: the distance of levels.
        zero_point: the level of zero.
        dtype: of the result.
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(self, scale: float, zero_point: int, dtype: Any, factory_kwargs: dict[str, Any] | None = None) -> None:
        super().__init__()
        device = (factory_kwargs or {}).get("device")
        self.register_buffer("scale", taeda.tensor([scale], device=device))
        self.register_buffer("zero_point", taeda.tensor([zero_point], dtype=taeda.long, device=device))
        self.dtype = dtype

    def forward(self, X: Tensor) -> Tensor:
        """``X``, quantised."""
        return taeda.quantize_per_tensor(X, self.scale.reshape([]), self.zero_point.reshape([]), self.dtype)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Quantize:
        """Of a `QuantStub` that was observed.

        Raises:
            AssertionError: it was not.
        """
        if not hasattr(mod, "activation_post_process"):
            raise AssertionError("Quantize: the QuantStub was not observed; call prepare() before convert()")
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        return cls(scale.float().item(), zero_point.long().item(), mod.activation_post_process.dtype)

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}"


class DeQuantize(nn.Module):
    """Makes float tensors of quantised ones."""

    def forward(self, Xq: Tensor) -> Tensor:
        """``Xq``, as float32."""
        return Xq.dequantize()

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> DeQuantize:
        """Of a `DeQuantStub`."""
        return cls()


__all__ = [
    "BatchNorm2d", "BatchNorm3d", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d",
    "ConvTranspose3d", "DeQuantize", "ELU", "Embedding", "EmbeddingBag", "GroupNorm", "Hardswish", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "LeakyReLU", "Linear", "LSTM", "Quantize",
    "ReLU6", "Sigmoid", "Softmax", "Dropout", "PReLU", "FloatFunctional", "FXFloatFunctional", "QFunctional",
]  # fmt: skip
