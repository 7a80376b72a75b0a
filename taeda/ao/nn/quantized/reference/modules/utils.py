"""Weights that were quantised and are float again, with what they were quantised by."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn

_CHANNELS = (taeda.per_channel_affine, taeda.per_channel_affine_float_qparams)


def quantize(weight: Tensor, qscheme: Any, dtype: Any, scale: Tensor, zero_point: Tensor, axis: int) -> Tensor:
    """The weight, quantised; float16 for that dtype."""
    if dtype == taeda.float16:
        return weight.to(taeda.float16)
    if qscheme is taeda.per_tensor_affine:
        return taeda.quantize_per_tensor(weight, float(scale), int(zero_point), dtype)
    return taeda.quantize_per_channel(weight, scale, zero_point, axis, dtype)


def quantize_dequantize(*of: Any) -> Tensor:
    """The weight after it was quantised, in float."""
    made = quantize(*of)
    return made.to(of[0].dtype) if made.dtype == taeda.float16 else made.dequantize()


class QuantizedWeights(nn.Module):
    """A float module that computes with weights as quantisation leaves them.

    What a weight is quantised by stands in buffers and attributes whose names begin with the weight's.
    """

    def _describe(self, name: str, qparams: dict[str, Any] | None, device: Any = None) -> None:
        """Takes note of what the weight ``name`` is quantised by."""
        given = qparams or {"qscheme": taeda.per_tensor_affine, "dtype": taeda.quint8, "scale": 1.0, "zero_point": 0}
        qscheme, dtype = given["qscheme"], given["dtype"]
        if qscheme not in (None, taeda.per_tensor_affine, *_CHANNELS):
            raise AssertionError(f"{type(self).__name__}: weights are quantised by an affine scheme; got {qscheme}")
        setattr(self, f"{name}_qscheme", qscheme)
        setattr(self, f"{name}_dtype", dtype)
        if qscheme is not None:
            number = lambda value, kind: (
                value.detach().clone() if isinstance(value, Tensor) else taeda.tensor(value, dtype=kind, device=device)
            )
            zero_kind = taeda.float if qscheme is taeda.per_channel_affine_float_qparams else taeda.int
            self.register_buffer(f"{name}_scale", number(given["scale"], taeda.float))
            self.register_buffer(f"{name}_zero_point", number(given["zero_point"], zero_kind))
            axis = given["axis"] if qscheme in _CHANNELS else 0
            self.register_buffer(f"{name}_axis", taeda.tensor(axis, dtype=taeda.int, device=device))
        else:
            self.register_buffer(f"{name}_scale", taeda.tensor(1.0))
            self.register_buffer(f"{name}_zero_point", taeda.tensor(0))
            self.register_buffer(f"{name}_axis", taeda.tensor(0, dtype=taeda.int))
        setattr(self, f"{name}_axis_int", int(getattr(self, f"{name}_axis")))

    def _parts(self, name: str) -> tuple[Any, ...]:
        found = [getattr(self, f"{name}_{part}") for part in ("qscheme", "dtype", "scale", "zero_point", "axis_int")]
        return getattr(self, name), *found

    def _as_quantized(self, name: str = "weight") -> Tensor:
        """The weight in float, as quantisation leaves it."""
        return (
            getattr(self, name) if getattr(self, f"{name}_qscheme") is None else quantize_dequantize(*self._parts(name))
        )

    def get_weight(self) -> Tensor:
        """The weight in float, as quantisation leaves it."""
        return self._as_quantized()

    def get_quantized_weight(self) -> Tensor:
        """The quantised weight."""
        weight = self.weight
        assert isinstance(weight, Tensor)
        return quantize(weight, *self._parts("weight")[1:]) if self.weight_qscheme is not None else weight

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}(Reference)"

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name in self._named():
            for part in ("qscheme", "dtype"):
                destination[f"{prefix}{name}_{part}"] = getattr(self, f"{name}_{part}")

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        for name in self._named():
            for part in ("qscheme", "dtype"):
                key = f"{prefix}{name}_{part}"
                if key in state_dict:
                    setattr(self, f"{name}_{part}", state_dict.pop(key))
            for part in ("scale", "zero_point"):
                loaded = state_dict.get(f"{prefix}{name}_{part}")
                held = getattr(self, f"{name}_{part}")
                if loaded is not None and held is None:
                    setattr(self, f"{name}_{part}", loaded.clone())
                elif loaded is not None and loaded.shape != held.shape:
                    held.resize_(loaded.shape)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def _named(self) -> list[str]:
        return [key.removesuffix("_scale") for key in self._buffers if key.endswith("_scale")]


ReferenceQuantizedModule = QuantizedWeights
