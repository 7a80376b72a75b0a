"""What the quantised modules share."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import Any

import taeda
from taeda import Tensor, nn


def float_of(value: Any) -> float:
    """A number that may be in a tensor."""
    return float(value)


def int_of(value: Any) -> int:
    """A whole number that may be in a tensor."""
    return int(value)


class WeightedQuantizedModule(nn.Module, ABC):
    """A quantised module with a weight."""

    @classmethod
    @abstractmethod
    def from_reference(cls, ref_module: Any, output_scale: float, output_zero_point: int) -> Any:
        """Of a reference module, which computes in float with quantised weights."""


def observed_weight(module: Any, weight: Tensor | None = None) -> tuple[Any, Tensor]:
    """What watched the weight of a float module (or of one that rounds), after a look at it; and the weight."""
    tensor = module.weight if weight is None else weight
    watching = getattr(module, "weight_fake_quant", None)
    if watching is None:
        watching = module.qconfig.weight()
        watching(tensor)
    return watching, tensor


def output_qparams(module: Any) -> tuple[float, int]:
    """Scale and zero point of a module's result, by what watched it.

    Raises:
        AttributeError: nothing did; the message says so.
    """
    watching = getattr(module, "activation_post_process", None)
    if watching is None:
        raise AttributeError(
            f"{type(module).__name__} was not observed, so its result has no scale: call prepare() before convert(), "
            "and give it a qconfig"
        )
    scale, zero_point = watching.calculate_qparams()
    return float(scale), int(zero_point)


def _quantize_weight(float_wt: Tensor, observer: Any) -> Tensor:
    """The weight, quantised as its observer says, within the observer's limits of the integers."""
    scale, zero_point = observer.calculate_qparams()
    if observer.qscheme is not taeda.per_channel_affine_float_qparams:
        float_wt = _clamped(float_wt, observer, scale, zero_point)
    if observer.qscheme in (taeda.per_tensor_symmetric, taeda.per_tensor_affine):
        return taeda.quantize_per_tensor(float_wt, float(scale), int(zero_point), observer.dtype)
    if observer.qscheme in (taeda.per_channel_symmetric, taeda.per_channel_affine):
        return taeda.quantize_per_channel(
            float_wt, scale.to(taeda.double), zero_point.to(taeda.int64), observer.ch_axis, observer.dtype
        )
    if observer.qscheme is taeda.per_channel_affine_float_qparams:
        return taeda.quantize_per_channel(
            float_wt, scale.to(taeda.float), zero_point.to(taeda.float), observer.ch_axis, observer.dtype
        )
    raise ValueError(f"cannot quantise a weight by {observer.qscheme}")


def _clamped(weight: Tensor, observer: Any, scale: Tensor, zero_point: Tensor) -> Tensor:
    info = taeda.iinfo(observer.dtype)
    low, high = observer.quant_min, observer.quant_max
    if low is None or high is None or (low <= info.min and high >= info.max):
        return weight
    if scale.numel() > 1:
        shape = [1] * weight.dim()
        shape[observer.ch_axis] = -1
        scale, zero_point = scale.reshape(shape), zero_point.reshape(shape)
    return weight.clamp((low - zero_point) * scale, (high - zero_point) * scale)


def check_dtype(dtype: Any, *allowed: Any) -> None:
    """Checks the dtype that weights are to have."""
    if dtype not in allowed:
        raise AssertionError(f"weights are quantised to {' or '.join(map(str, allowed))}; got {dtype}")


def _pair_from_first(t: Any) -> tuple[int, int]:
    return (t[0], t[0])


def _hide_packed_params_repr(self: Any, params: Any) -> str:
    """The representation of a module without its packed parameters."""
    lines = [f"  ({key}): {module!r}" for key, module in self._modules.items() if not isinstance(module, params)]
    extra = self.extra_repr()
    return f"{self._get_name()}({extra})" if not lines else "\n".join([f"{self._get_name()}(", *lines, ")"])


def _ntuple_from_first(n: int) -> Any:
    return lambda x: tuple(itertools.repeat(x if isinstance(x, int) else x[0], n))
