"""Modules that round as quantisation will, while training, and the switches of such modules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.quantization import observer as observers
from taeda.ao.quantization.observer import _LARGE_EPS, _with_args
from taeda.ao.quantization.utils import calculate_qmin_qmax, is_per_channel, is_per_tensor, is_symmetric


class FakeQuantizeBase(ABC, nn.Module):
    """Watches tensors and rounds them as quantisation will.

    A subclass defines ``forward`` and ``calculate_qparams``, and heeds two buffers of one element:
    ``fake_quant_enabled``, whether to round, and ``observer_enabled``, whether to watch.
    """

    fake_quant_enabled: Tensor
    observer_enabled: Tensor
    with_args = classmethod(_with_args)

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fake_quant_enabled", taeda.tensor([1], dtype=taeda.uint8))
        self.register_buffer("observer_enabled", taeda.tensor([1], dtype=taeda.uint8))

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Takes note of ``x`` and returns it rounded."""

    @abstractmethod
    def calculate_qparams(self) -> Any:
        """Scale and zero point by what was seen."""

    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Rounds from now on, or does not."""
        self.fake_quant_enabled[0] = int(enabled)

    def disable_fake_quant(self) -> None:
        """Does not round from now on."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        """Watches from now on, or does not."""
        self.observer_enabled[0] = int(enabled)

    def disable_observer(self) -> None:
        """Does not watch from now on."""
        self.enable_observer(False)


class FakeQuantize(FakeQuantizeBase):
    """Rounds to the levels that its observer finds.

    Args:
        observer: the class of the observer.
        quant_min: the least quantised number; by default the dtype's.
        quant_max: the largest.
        is_dynamic: scales are computed anew for each tensor.
        observer_kwargs: arguments of the observer.

    Raises:
        AssertionError: the range is not one of the dtype, or the scheme is unknown.
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        observer: Any = observers.MovingAverageMinMaxObserver,
        quant_min: int | None = None,
        quant_max: int | None = None,
        is_dynamic: bool = False,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__()
        if quant_min is not None and quant_max is not None:
            _check_range(quant_min, quant_max, _dtype_of(observer, observer_kwargs))
            observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        observer_kwargs["is_dynamic"] = is_dynamic
        self.activation_post_process = observer(**observer_kwargs)
        self._take_over(is_dynamic)
        floats = self.qscheme is taeda.per_channel_affine_float_qparams
        self.register_buffer("scale", taeda.tensor([1.0], dtype=taeda.float))
        self.register_buffer("zero_point", taeda.tensor([0], dtype=taeda.float if floats else taeda.int))

    def _take_over(self, is_dynamic: bool) -> None:
        """What the observer says of itself."""
        watching = self.activation_post_process
        self.quant_min, self.quant_max = watching.quant_min, watching.quant_max
        self.is_dynamic, self.dtype, self.qscheme = is_dynamic, watching.dtype, watching.qscheme
        self.ch_axis = getattr(watching, "ch_axis", -1)
        if not (is_per_channel(self.qscheme) or is_per_tensor(self.qscheme)):
            raise AssertionError(f"{type(self).__name__}: {self.qscheme} is not a scheme of quantisation")
        self.is_per_channel = is_per_channel(self.qscheme)

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point by what was seen."""
        found: tuple[Tensor, Tensor] = self.activation_post_process.calculate_qparams()
        return found

    def forward(self, X: Tensor) -> Tensor:
        """Takes note of ``X``, if watching, and returns it rounded, if rounding."""
        if self.observer_enabled[0] == 1:
            self.activation_post_process(X.detach())
            for kept, now in zip((self.scale, self.zero_point), self.calculate_qparams(), strict=True):
                if kept.shape != now.shape:
                    kept.resize_(now.shape)
                kept.copy_(now)
        if self.fake_quant_enabled[0] == 1:
            if self.is_per_channel:
                return taeda.fake_quantize_per_channel_affine(
                    X, self.scale, self.zero_point, self.ch_axis, self.quant_min, self.quant_max
                )
            return taeda.fake_quantize_per_tensor_affine(X, self.scale, self.zero_point, self.quant_min, self.quant_max)
        return X

    def extra_repr(self) -> str:
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"quant_min={self.quant_min}, quant_max={self.quant_max}, dtype={self.dtype}, qscheme={self.qscheme}, "
            f"ch_axis={self.ch_axis}, scale={self.scale}, zero_point={self.zero_point}"
        )

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"], destination[prefix + "zero_point"] = self.scale, self.zero_point

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        for name in ("scale", "zero_point"):  # of as many channels as the file has
            if (loaded := state_dict.get(prefix + name)) is not None:
                getattr(self, name).resize_(loaded.shape)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)


def _dtype_of(observer: Any, arguments: dict[str, Any]) -> Any:
    bound = getattr(getattr(observer, "p", None), "keywords", {})
    return arguments.get("dtype", bound.get("dtype", taeda.quint8))


def _check_range(quant_min: int, quant_max: int, dtype: Any) -> None:
    if not quant_min <= quant_max:
        raise AssertionError(f"FakeQuantize: quant_min must be at most quant_max; got {quant_min} and {quant_max}")
    if dtype in (taeda.float8_e5m2, taeda.float8_e4m3fn):
        return
    least, most = calculate_qmin_qmax(None, None, False, dtype, False)
    if not (least <= quant_min and quant_max <= most):
        raise AssertionError(f"FakeQuantize: {dtype} holds {least} to {most}; got {quant_min} to {quant_max}")


class FixedQParamsFakeQuantize(FakeQuantize):
    """Rounds to levels that are given, by an observer that watches nothing."""

    def __init__(self, observer: Any) -> None:
        super().__init__(observer=observer)
        if type(self.activation_post_process) is not observers.FixedQParamsObserver:
            raise AssertionError(
                f"FixedQParamsFakeQuantize: takes a FixedQParamsObserver; got {type(self.activation_post_process)}"
            )
        self._observer_ctr = observer
        self.scale, self.zero_point = self.activation_post_process.scale, self.activation_post_process.zero_point

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """What was given."""
        return self.scale, self.zero_point

    def extra_repr(self) -> str:
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}, quant_min={self.quant_min}, "
            f"quant_max={self.quant_max}, qscheme={self.qscheme}"
        )


class FusedMovingAvgObsFakeQuantize(FakeQuantize):
    """`FakeQuantize` with an observer of moving averages, in one op."""

    def __init__(
        self,
        observer: Any = observers.MovingAverageMinMaxObserver,
        quant_min: int = 0,
        quant_max: int = 255,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__(observer, quant_min, quant_max, **observer_kwargs)
        fitting = (observers.MovingAverageMinMaxObserver, observers.MovingAveragePerChannelMinMaxObserver)
        if not isinstance(self.activation_post_process, fitting):
            raise AssertionError(
                "FusedMovingAvgObsFakeQuantize: takes an observer of moving averages; got "
                f"{type(self.activation_post_process).__name__}"
            )
        self.register_buffer("fake_quant_enabled", taeda.tensor([1], dtype=taeda.long))
        self.register_buffer("observer_enabled", taeda.tensor([1], dtype=taeda.long))
        self.is_symmetric_quant = is_symmetric(self.activation_post_process.qscheme)

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point by what was seen."""
        found: tuple[Tensor, Tensor] = self.activation_post_process.calculate_qparams()
        return found

    def forward(self, X: Tensor) -> Tensor:
        """Takes note of ``X``, if watching, and returns it rounded, if rounding."""
        watching = self.activation_post_process
        return taeda.fused_moving_avg_obs_fake_quant(
            X, self.observer_enabled, self.fake_quant_enabled, watching.min_val, watching.max_val, self.scale,
            self.zero_point, watching.averaging_constant, watching.quant_min, watching.quant_max, self.ch_axis,
            self.is_per_channel, self.is_symmetric_quant,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}, quant_min={self.quant_min}, "
            f"quant_max={self.quant_max}, qscheme={self.qscheme}, "
            f"reduce_range={self.activation_post_process.reduce_range}"
        )


def _switch(mod: nn.Module, buffer: str, on: bool) -> None:
    """Sets a switch of a fake quantisation, also of a scripted one; of nothing else."""
    if isinstance(mod, FakeQuantizeBase):
        (mod.enable_observer if buffer == "observer_enabled" else mod.enable_fake_quant)(on)
    elif hasattr(mod, "original_name") and hasattr(mod, "fake_quant_enabled"):
        getattr(mod, buffer)[0] = int(on)


def enable_fake_quant(mod: nn.Module) -> None:
    """``mod.enable_fake_quant()`` where it has that: for ``model.apply``."""
    _switch(mod, "fake_quant_enabled", True)


def disable_fake_quant(mod: nn.Module) -> None:
    """``mod.disable_fake_quant()`` where it has that: for ``model.apply``."""
    _switch(mod, "fake_quant_enabled", False)


def enable_observer(mod: nn.Module) -> None:
    """``mod.enable_observer()`` where it has that: for ``model.apply``."""
    _switch(mod, "observer_enabled", True)


def disable_observer(mod: nn.Module) -> None:
    """``mod.disable_observer()`` where it has that: for ``model.apply``."""
    _switch(mod, "observer_enabled", False)


_ACTIVATIONS = {
    "observer": observers.MovingAverageMinMaxObserver,
    "quant_min": 0,
    "quant_max": 255,
    "dtype": taeda.quint8,
}
_WEIGHTS = {
    "observer": observers.MovingAverageMinMaxObserver,
    "quant_min": -128,
    "quant_max": 127,
    "dtype": taeda.qint8,
    "qscheme": taeda.per_tensor_symmetric,
}
_CHANNELS = {
    **_WEIGHTS,
    "observer": observers.MovingAveragePerChannelMinMaxObserver,
    "qscheme": taeda.per_channel_symmetric,
}
_ROWS = {
    "observer": observers.MovingAveragePerChannelMinMaxObserver,
    "qscheme": taeda.per_channel_affine_float_qparams,
    "ch_axis": 0,
    "averaging_constant": 1,
}
_NARROW = {"quant_min": -127, "quant_max": 127, "eps": _LARGE_EPS}

default_fake_quant = FakeQuantize.with_args(**_ACTIVATIONS, qscheme=taeda.per_tensor_affine, reduce_range=True)
default_weight_fake_quant = FakeQuantize.with_args(**_WEIGHTS, reduce_range=False)
default_dynamic_fake_quant = FakeQuantize.with_args(**_ACTIVATIONS, is_dynamic=True, averaging_constant=1)
default_fixed_qparams_range_neg1to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=observers.default_fixed_qparams_range_neg1to1_observer
)
default_fixed_qparams_range_0to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=observers.default_fixed_qparams_range_0to1_observer
)
default_symmetric_fixed_qparams_fake_quant = default_fixed_qparams_range_neg1to1_fake_quant
default_affine_fixed_qparams_fake_quant = default_fixed_qparams_range_0to1_fake_quant
default_per_channel_weight_fake_quant = FakeQuantize.with_args(**_CHANNELS, reduce_range=False, ch_axis=0)
default_embedding_fake_quant = FakeQuantize.with_args(**_ROWS, dtype=taeda.quint8, quant_min=0, quant_max=255)
default_embedding_fake_quant_4bit = FakeQuantize.with_args(**_ROWS, dtype=taeda.quint4x2)
default_histogram_fake_quant = FakeQuantize.with_args(
    **{**_ACTIVATIONS, "observer": observers.HistogramObserver}, qscheme=taeda.per_tensor_affine, reduce_range=True
)
default_fused_act_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(**_ACTIVATIONS)
default_fused_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(**_WEIGHTS)
default_fused_per_channel_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(**_CHANNELS)
fused_wt_fake_quant_range_neg_127_to_127 = FusedMovingAvgObsFakeQuantize.with_args(**{**_WEIGHTS, **_NARROW})
fused_per_channel_wt_fake_quant_range_neg_127_to_127 = FusedMovingAvgObsFakeQuantize.with_args(
    **{**_CHANNELS, **_NARROW}
)


def _is_per_channel(qscheme: Any) -> bool:
    return is_per_channel(qscheme)
