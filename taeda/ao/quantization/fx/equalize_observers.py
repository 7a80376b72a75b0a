"""Equalisation: channels of inputs and the columns of weights that they meet get like ranges before quantising.

With a scale ``s`` for each channel, ``(x * s) @ (w / s).T`` is ``x @ w.T``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import taeda
from taeda import Tensor, nn
from taeda.ao.quantization.observer import PerChannelMinMaxObserver, _with_args

_SYMMETRIC = {taeda.per_tensor_symmetric, taeda.per_channel_symmetric}


def reshape_scale(scale: Tensor, axis: int, input: Tensor) -> Tensor:
    """``scale``, (C), as it broadcasts against ``input`` along ``axis``."""
    return scale.reshape([-1 if at == axis else 1 for at in range(input.dim())])


def _by_channel(qscheme: Any) -> Any:
    """The scheme by channel that is like ``qscheme``."""
    return taeda.per_channel_symmetric if qscheme in _SYMMETRIC else taeda.per_channel_affine


def _check_dims(x: Tensor, what: str) -> None:
    if not 2 <= x.dim() <= 5:
        raise ValueError(f"taeda.ao.quantization: an equalised {what} has 2 to 5 dimensions; got {x.dim()}")


class _InputEqualizationObserver(nn.Module):
    """Sees the range of each channel of inputs, (N, C, ...).

    Args:
        dtype, qscheme, quant_min, quant_max: of the values that are quantised afterwards, by tensor.

    Raises:
        TypeError: ``qscheme`` is not by tensor.
    """

    with_args = classmethod(_with_args)

    def __init__(
        self, dtype: Any = taeda.quint8, qscheme: Any = taeda.per_tensor_affine, quant_min: int | None = None,
        quant_max: int | None = None, factory_kwargs: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if qscheme not in (taeda.per_tensor_affine, taeda.per_tensor_symmetric):
            raise TypeError(f"taeda.ao.quantization: an input is quantised by tensor; got the scheme {qscheme}")
        self.dtype, self.qscheme = dtype, qscheme
        self.input_obs = PerChannelMinMaxObserver(
            ch_axis=1, dtype=dtype, qscheme=_by_channel(qscheme), quant_min=quant_min, quant_max=quant_max,
            factory_kwargs=factory_kwargs,
        )  # fmt: skip
        self.equalization_scale = taeda.tensor(1)
        self.equalization_shape: list[int] = []

    def forward(self, x_orig: Tensor) -> Tensor:
        """Sees ``x_orig``, of 2 to 5 dimensions, and returns it. ValueError for others."""
        _check_dims(x_orig, "input")
        self.equalization_shape = [-1 if at == 1 else 1 for at in range(x_orig.dim())]
        return self.input_obs(x_orig)

    def get_input_minmax(self) -> tuple[Tensor, Tensor]:
        """The least and the greatest value of each channel, (C)."""
        return self.input_obs.min_val, self.input_obs.max_val

    def set_equalization_scale(self, equalization_scale: Tensor) -> None:
        """Takes the scale, (C), or the number 1, which says that there is none."""
        alone = equalization_scale.numel() == 1 and float(equalization_scale) == 1
        self.equalization_scale = equalization_scale if alone else equalization_scale.reshape(self.equalization_shape)

    def calculate_scaled_minmax(self) -> tuple[Any, Any]:
        """The range of the whole input after scaling; ``(None, None)`` if there is no scale."""
        if self.equalization_scale.numel() == 1 and float(self.equalization_scale) == 1:
            return None, None
        scale = self.equalization_scale.reshape(-1)
        low, high = self.get_input_minmax()
        return (low * scale).min(), (high * scale).max()


class _WeightEqualizationObserver(nn.Module):
    """Sees the range of each column of weights, (out, C, ...)."""

    with_args = classmethod(_with_args)

    def __init__(
        self, dtype: Any = taeda.qint8, qscheme: Any = taeda.per_tensor_affine, quant_min: int | None = None,
        quant_max: int | None = None, factory_kwargs: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.dtype, self.qscheme, self.ch_axis = dtype, qscheme, 1
        by_tensor = qscheme in (taeda.per_tensor_affine, taeda.per_tensor_symmetric)
        by_channel = _by_channel(qscheme) if by_tensor else qscheme
        self.weight_col_obs = PerChannelMinMaxObserver(
            ch_axis=1, dtype=dtype, qscheme=by_channel, quant_min=quant_min, quant_max=quant_max,
            factory_kwargs=factory_kwargs,
        )  # fmt: skip
        self.equalization_scale = taeda.tensor(1)

    def forward(self, w_orig: Tensor) -> Tensor:
        """Sees ``w_orig``, of 2 to 5 dimensions, and returns it. ValueError for others."""
        _check_dims(w_orig, "weight")
        return self.weight_col_obs(w_orig)

    def get_weight_col_minmax(self) -> tuple[Tensor, Tensor]:
        """The least and the greatest value of each column, (C)."""
        return self.weight_col_obs.min_val, self.weight_col_obs.max_val

    def set_equalization_scale(self, equalization_scale: Tensor) -> None:
        """Takes the scale, (C)."""
        self.equalization_scale = equalization_scale


def calculate_equalization_scale(
    input_obs: _InputEqualizationObserver, weight_obs: _WeightEqualizationObserver
) -> Tensor:
    """The scale of each channel, (C), which gives input and weight like ranges; the number 1 if one has seen nothing.

    Raises:
        ValueError: the two saw different numbers of channels.
    """
    (low, high), (weight_low, weight_high) = input_obs.get_input_minmax(), weight_obs.get_weight_col_minmax()
    if low.numel() == 0 or weight_low.numel() == 0:
        return taeda.tensor(1)
    if low.shape != weight_low.shape:
        raise ValueError(
            f"taeda.ao.quantization: the input has {low.numel()} channels, the weight {weight_low.numel()} columns"
        )
    scale = ((weight_high - weight_low) / (high - low)).sqrt()
    scale = scale.masked_fill((scale == 0) | scale.isinf(), 1.0)  # a channel or a column without range
    return scale.nan_to_num(1.0)


class _Config(NamedTuple):
    input_activation: Any = nn.Identity
    weight: Any = nn.Identity


class EqualizationQConfig(_Config):
    """Which observers look at the input and at the weight of a layer: classes, or what ``with_args`` gives.

    Raises:
        ValueError: an instance instead of what makes one.
    """

    __slots__ = ()

    def __new__(cls, input_activation: Any = nn.Identity, weight: Any = nn.Identity) -> EqualizationQConfig:
        if isinstance(input_activation, nn.Module) or isinstance(weight, nn.Module):
            raise ValueError("taeda.ao.quantization.EqualizationQConfig: takes classes of observers, not observers")
        return super().__new__(cls, input_activation, weight)


input_equalization_observer = _InputEqualizationObserver.with_args(
    dtype=taeda.quint8, qscheme=taeda.per_tensor_symmetric
)
weight_equalization_observer = _WeightEqualizationObserver.with_args(
    dtype=taeda.qint8, qscheme=taeda.per_channel_symmetric
)
default_equalization_qconfig = EqualizationQConfig(input_equalization_observer, weight_equalization_observer)


def is_equalization_observer(observer: nn.Module) -> bool:
    """Whether it is one of the two."""
    return isinstance(observer, (_InputEqualizationObserver, _WeightEqualizationObserver))
