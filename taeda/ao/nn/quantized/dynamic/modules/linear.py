"""Linear layers that quantise their inputs on the fly."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules import linear as static
from taeda.ao.nn.quantized.modules.utils import _quantize_weight

ops: Any = taeda.ops.quantized


class Linear(static.Linear):
    """``input @ weight.T + bias`` of a float32 input that is quantised on the way; the result is float32.

    Args:
        dtype: of the weight: ``qint8``, or ``float16`` for weights that are only rounded.
    """

    _version = 4

    def __init__(self, in_features: int, out_features: int, bias_: bool = True, dtype: Any = taeda.qint8) -> None:
        super().__init__(in_features, out_features, bias_, dtype)
        self.version = self._version

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    def extra_repr(self) -> str:
        text = f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._packed_params.dtype}"
        return text + (f", qscheme={self.weight().qscheme()}" if self._packed_params.dtype == taeda.qint8 else "")

    def forward(self, x: Tensor) -> Tensor:
        """The float32 result."""
        packed = self._packed_params
        if packed.dtype == taeda.qint8:
            # With a bit less for inputs, as PyTorch, whose kernels may overflow otherwise.
            return ops.linear_dynamic(x, packed._packed_params, reduce_range=self.version is None or self.version >= 4)
        return ops.linear_dynamic_fp16(x, packed._packed_params)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *args: Any) -> None:
        self.version = local_metadata.get("version", None)
        state_dict.setdefault(prefix + "scale", taeda.tensor(1.0))
        state_dict.setdefault(prefix + "zero_point", taeda.tensor(0))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Of a float module with a qconfig; without one the weight is quantised as a whole.

        Raises:
            RuntimeError: the weight is to be of another dtype.
        """
        linear = mod[0] if isinstance(mod, nn.Sequential) else mod
        watching = _observer_of(mod)
        if watching.dtype not in (taeda.qint8, taeda.float16):
            raise RuntimeError(f"{cls.__name__}: weights are quantised to qint8 or float16; got {watching.dtype}")
        watching(linear.weight)
        made = cls(linear.in_features, linear.out_features, dtype=watching.dtype)
        weight = linear.weight.float().detach()
        bias = None if linear.bias is None else linear.bias.detach()
        made.set_weight_bias(_quantize_weight(weight, watching) if watching.dtype == taeda.qint8 else weight, bias)
        return made

    @classmethod
    def from_reference(cls, ref_qlinear: Any) -> Any:  # type: ignore[override]
        """Of a reference module."""
        made = cls(ref_qlinear.in_features, ref_qlinear.out_features, dtype=ref_qlinear.weight_dtype)
        bias = None if ref_qlinear.bias is None else ref_qlinear.bias.detach()
        made.set_weight_bias(ref_qlinear.get_quantized_weight(), bias)
        return made


def _observer_of(mod: Any) -> Any:
    """What is to watch the weight of a float module."""
    from taeda.ao.quantization.qconfig import default_dynamic_qconfig

    watching = getattr(mod, "weight_fake_quant", None)
    if watching is not None:
        return watching
    qconfig = getattr(mod, "qconfig", None)
    maker = default_dynamic_qconfig.weight if qconfig is None or qconfig.weight is None else qconfig.weight
    return maker()
