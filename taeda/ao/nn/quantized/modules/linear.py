"""Linear layers over int8."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules.utils import (
    WeightedQuantizedModule,
    _hide_packed_params_repr,
    _quantize_weight,
    check_dtype,
    float_of,
    int_of,
    observed_weight,
    output_qparams,
)
from taeda.nn.utils.fusion import fuse_linear_bn_weights

ops: Any = taeda.ops.quantized


class LinearPackedParams(nn.Module):
    """The weight, (out, in), and the bias of a linear layer in the form that the kernel reads."""

    _version = 3

    def __init__(self, dtype: Any = taeda.qint8) -> None:
        super().__init__()
        self.dtype = dtype
        if dtype == taeda.qint8:
            weight = taeda._empty_affine_quantized([1, 1], scale=1, zero_point=0, dtype=taeda.qint8).zero_()
        else:
            weight = taeda.zeros([1, 1], dtype=taeda.float)
        self.set_weight_bias(weight, None)

    def set_weight_bias(self, weight: Tensor, bias: Tensor | None) -> None:
        """Packs a weight, quantised (or float for float16), and a float bias."""
        check_dtype(self.dtype, taeda.qint8, taeda.float16)
        pack = ops.linear_prepack if self.dtype == taeda.qint8 else ops.linear_prepack_fp16
        self._packed_params = pack(weight, bias)

    def _weight_bias(self) -> tuple[Tensor, Tensor | None]:
        unpack = ops.linear_unpack if self.dtype == taeda.qint8 else ops.linear_unpack_fp16
        found: tuple[Tensor, Tensor | None] = unpack(self._packed_params)
        return found

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_params"] = self._weight_bias()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *args: Any) -> None:
        version = local_metadata.get("version", None)
        self.dtype = state_dict.pop(prefix + "dtype") if version is not None and version >= 2 else taeda.qint8
        if version is None or version < 3:
            weight, bias = state_dict.pop(prefix + "weight"), state_dict.pop(prefix + "bias")
        else:
            weight, bias = state_dict.pop(prefix + "_packed_params")
        self.set_weight_bias(weight, bias)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    def __repr__(self) -> str:
        return repr(self._weight_bias())


class Linear(WeightedQuantizedModule):
    """``input @ weight.T + bias`` of quantised tensors.

    Args:
        in_features: the size of the input's last dimension.
        out_features: that of the result's.
        bias_: whether there is a bias, which is float.
        dtype: of the weight.

    Shape: input (..., in_features), quint8; result (..., out_features), quint8, with ``scale`` and ``zero_point``.
    """

    _version = 3
    _FLOAT_MODULE: Any = (nn.Linear, nn.modules.linear.NonDynamicallyQuantizableLinear)

    def __init__(self, in_features: int, out_features: int, bias_: bool = True, dtype: Any = taeda.qint8) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        check_dtype(dtype, taeda.qint8, taeda.float16)
        if dtype == taeda.qint8:
            weight = taeda._empty_affine_quantized([out_features, in_features], scale=1, zero_point=0, dtype=dtype)
        else:
            weight = taeda.zeros([out_features, in_features], dtype=taeda.float)
        self._packed_params = LinearPackedParams(dtype)
        self._packed_params.set_weight_bias(weight.zero_(), taeda.zeros(out_features) if bias_ else None)
        self.scale: Any = 1.0
        self.zero_point: Any = 0

    def _get_name(self) -> str:
        return "QuantizedLinear"

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, scale={self.scale}, "
            f"zero_point={self.zero_point}, qscheme={self.weight().qscheme()}"
        )

    def __repr__(self) -> str:
        return _hide_packed_params_repr(self, LinearPackedParams)

    def forward(self, x: Tensor) -> Tensor:
        """The quantised result."""
        return ops.linear(x, self._packed_params._packed_params, self.scale, self.zero_point)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = taeda.tensor(self.scale)
        destination[prefix + "zero_point"] = taeda.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *args: Any) -> None:
        self.scale = float_of(state_dict.pop(prefix + "scale"))
        self.zero_point = int_of(state_dict.pop(prefix + "zero_point"))
        if local_metadata.get("version", None) is None or local_metadata["version"] == 1:  # unpacked, beside them
            for name in ("weight", "bias"):
                if prefix + name in state_dict:
                    state_dict[f"{prefix}_packed_params.{name}"] = state_dict.pop(prefix + name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    def _weight_bias(self) -> tuple[Tensor, Tensor | None]:
        return self._packed_params._weight_bias()

    def weight(self) -> Tensor:
        """The quantised weight, (out, in)."""
        return self._weight_bias()[0]

    def bias(self) -> Tensor | None:
        """The bias, (out), float32."""
        return self._weight_bias()[1]

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Packs another weight and bias."""
        self._packed_params.set_weight_bias(w, b)

    @classmethod
    def _float_parts(cls, mod: Any) -> tuple[Any, Any, Tensor, Tensor | None]:
        """The linear layer in a float module, what watched its weight, its weight and its bias."""
        linear = mod[0] if isinstance(mod, nn.Sequential) else mod
        if getattr(mod, "bn", None) is not None:  # trained with a norm after it, which is folded now
            weight, bias = fuse_linear_bn_weights(
                linear.weight, linear.bias, mod.bn.running_mean, mod.bn.running_var, mod.bn.eps, mod.bn.weight,
                mod.bn.bias,
            )  # fmt: skip
            linear.weight, linear.bias = weight, bias
        if not hasattr(linear, "qconfig") and hasattr(mod, "qconfig"):
            linear.qconfig = mod.qconfig
        watching, weight = observed_weight(linear)
        return linear, watching, weight, linear.bias

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Linear:
        """Of a float module that was observed, or trained with rounding.

        Raises:
            AssertionError: its weight was not to be qint8.
        """
        linear, watching, weight, bias = cls._float_parts(mod)
        if hasattr(mod, "weight_fake_quant"):
            watching(weight)
        check_dtype(watching.dtype, taeda.qint8)
        made = cls(linear.in_features, linear.out_features, dtype=watching.dtype)
        made.set_weight_bias(_quantize_weight(weight.float().detach(), watching), _detached(bias))
        made.scale, made.zero_point = output_qparams(mod)
        return made

    @classmethod
    def from_reference(cls, ref_qlinear: Any, output_scale: float, output_zero_point: int) -> Linear:
        """Of a reference module."""
        made = cls(ref_qlinear.in_features, ref_qlinear.out_features)
        made.set_weight_bias(ref_qlinear.get_quantized_weight(), _detached(ref_qlinear.bias))
        made.scale, made.zero_point = float(output_scale), int(output_zero_point)
        return made


def _detached(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.detach()
