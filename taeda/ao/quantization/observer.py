"""Observers watch what passes through them and say how to quantise it: scale and zero point."""

from __future__ import annotations

import functools
import warnings
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._main.script_marks import export
from taeda.ao.quantization import _histogram
from taeda.ao.quantization.granularity import AffineQuantizedObserverBase as AffineQuantizedObserverBase
from taeda.ao.quantization.granularity import Granularity as Granularity
from taeda.ao.quantization.granularity import MappingType as MappingType
from taeda.ao.quantization.granularity import PerAxis as PerAxis
from taeda.ao.quantization.granularity import PerBlock as PerBlock
from taeda.ao.quantization.granularity import PerGroup as PerGroup
from taeda.ao.quantization.granularity import PerRow as PerRow
from taeda.ao.quantization.granularity import PerTensor as PerTensor
from taeda.ao.quantization.granularity import PerToken as PerToken
from taeda.ao.quantization.granularity import TorchAODType as TorchAODType
from taeda.ao.quantization.granularity import ZeroPointDomain as ZeroPointDomain
from taeda.ao.quantization.granularity import get_block_size as get_block_size
from taeda.ao.quantization.utils import (
    calculate_qmin_qmax,
    determine_qparams,
    dtypes_of_observers,
    is_per_channel,
    is_per_tensor,
    validate_qmin_qmax,
)

_EPS = 1.1920928955078125e-07  # the relative step of float32
_LARGE_EPS = 2.0**-12  # keeps scales in the range that mobile kernels can multiply by


class _PartialWrapper:
    """Makes objects of a class, with arguments that are known and arguments that are computed at each call."""

    def __init__(self, p: Callable[..., Any]) -> None:
        self.p = p
        self.callable_args: dict[str, Callable[[], Any]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        computed = {name: compute() for name, compute in self.callable_args.items() if name not in kwargs}
        return self.p(*args, **computed, **kwargs)

    def with_args(self, **kwargs: Any) -> _PartialWrapper:
        """The same with arguments of the class."""
        return _with_args(self, **kwargs)

    def with_callable_args(self, **kwargs: Callable[[], Any]) -> _PartialWrapper:
        """The same with arguments that are computed at each call."""
        return _with_callable_args(self, **kwargs)

    def __repr__(self) -> str:
        return f"{self.p!r}{self.callable_args}"


def _with_args(cls_or_self: Any, **kwargs: Any) -> _PartialWrapper:
    """Makes objects of a class with these arguments."""
    wrapped = isinstance(cls_or_self, _PartialWrapper)
    made = _PartialWrapper(functools.partial(cls_or_self.p if wrapped else cls_or_self, **kwargs))
    made.callable_args = dict(cls_or_self.callable_args) if wrapped else {}
    return made


def _with_callable_args(cls_or_self: Any, **kwargs: Callable[[], Any]) -> _PartialWrapper:
    """Makes objects of a class with arguments that are computed at each call."""
    made = _with_args(cls_or_self)
    made.callable_args = {**made.callable_args, **kwargs}
    return made


class ObserverBase(ABC, nn.Module):
    """Watches the tensors that pass through it.

    A subclass defines ``forward``, which returns its argument, and ``calculate_qparams``.

    Args:
        dtype: what the tensors are to be quantised to.
        is_dynamic: whether scales are computed anew for each tensor.
    """

    with_args = classmethod(_with_args)
    with_callable_args = classmethod(_with_callable_args)

    def __init__(self, dtype: Any, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Takes note of ``x`` and returns it."""

    @abstractmethod
    def calculate_qparams(self) -> Any:
        """Scale and zero point by what was seen."""


class UniformQuantizationObserverBase(ObserverBase):
    """An observer for levels at equal distances.

    Args:
        dtype: what is to be quantised to.
        qscheme: one of ``per_tensor_affine``, ``per_tensor_symmetric``, ``per_channel_affine``,
            ``per_channel_symmetric``, ``per_channel_affine_float_qparams``.
        reduce_range: leave a bit out, where sums of products might overflow 16 bits.
        quant_min: the least quantised number; by default the dtype's.
        quant_max: the largest.
        factory_kwargs: ``device`` and ``dtype`` of the buffers.
        eps: the least scale.
        is_dynamic: scales are computed anew for each tensor.

    Raises:
        AssertionError: the dtype or the scheme is unknown, or the range does not include 0.
    """

    _version = 3
    eps: Tensor
    min_val: Tensor
    max_val: Tensor

    def __init__(
        self,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        factory = {key: value for key, value in (factory_kwargs or {}).items() if key == "device"}
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.qscheme, self.reduce_range = qscheme, reduce_range
        self.register_buffer("eps", taeda.tensor([eps], **factory))
        if not (is_per_tensor(qscheme) or is_per_channel(qscheme)):
            raise AssertionError(f"{type(self).__name__}: {qscheme} is not a scheme of quantisation")
        if dtype not in dtypes_of_observers():
            raise AssertionError(f"{type(self).__name__}: cannot choose parameters for {dtype}")
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        if quant_min is not None and quant_max is not None:
            validate_qmin_qmax(quant_min, quant_max)
        self.quant_min, self.quant_max = calculate_qmin_qmax(
            quant_min, quant_max, self.has_customized_qrange, dtype, reduce_range
        )

    def _calculate_qparams(self, min_val: Tensor, max_val: Tensor) -> tuple[Tensor, Tensor]:
        return determine_qparams(
            min_val,
            max_val,
            self.quant_min,
            self.quant_max,
            self.dtype,
            self.eps,
            self.has_customized_qrange,
            self.qscheme,
        )

    @export
    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point, (1) or (channels), by the extrema that were seen."""
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def reset_min_max_vals(self) -> None:
        """Forgets what was seen."""
        raise NotImplementedError(f"{type(self).__name__}.reset_min_max_vals is not defined")


class MinMaxObserver(UniformQuantizationObserverBase):
    """Keeps the extrema of all that was seen. For the arguments see `UniformQuantizationObserverBase`.

    Raises:
        NotImplementedError: the scheme is not per tensor.
    """

    def __init__(
        self,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if not is_per_tensor(qscheme):
            raise NotImplementedError(f"{type(self).__name__}: the scheme must be per tensor; got {qscheme}")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        device = (factory_kwargs or {}).get("device")
        self.register_buffer("min_val", taeda.tensor(float("inf"), device=device))
        self.register_buffer("max_val", taeda.tensor(float("-inf"), device=device))
        if self.qscheme is taeda.per_tensor_symmetric and reduce_range and dtype == taeda.quint8:
            raise NotImplementedError(f"{type(self).__name__}: reduce_range is not for symmetric quint8")

    def forward(self, x_orig: Tensor) -> Tensor:
        """Takes note of the extrema of ``x_orig``, of any shape, and returns it."""
        if x_orig.numel():
            low, high = taeda.aminmax(x_orig.detach().to(self.min_val.dtype))
            self.min_val.copy_(taeda.min(low, self.min_val))
            self.max_val.copy_(taeda.max(high, self.max_val))
        return x_orig

    def reset_min_max_vals(self) -> None:
        """Forgets what was seen."""
        self.min_val.copy_(taeda.tensor(float("inf")))
        self.max_val.copy_(taeda.tensor(float("-inf")))


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Keeps moving averages of the extrema: each moves by ``averaging_constant`` towards that of the tensor."""

    def __init__(
        self,
        averaging_constant: float = 0.01,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if is_dynamic and averaging_constant != 1:
            raise NotImplementedError("MovingAverageMinMaxObserver: with is_dynamic, averaging_constant must be 1")
        self.averaging_constant = averaging_constant
        super().__init__(
            dtype, qscheme, reduce_range, quant_min, quant_max, eps=eps, is_dynamic=is_dynamic, **kwargs
        )  # fmt: skip

    def forward(self, x_orig: Tensor) -> Tensor:
        """Takes note of the extrema of ``x_orig``, of any shape, and returns it."""
        if x_orig.numel():
            low, high = taeda.aminmax(x_orig.detach().to(self.min_val.dtype))
            if not (self.min_val == float("inf") and self.max_val == float("-inf")):
                low = self.min_val + self.averaging_constant * (low - self.min_val)
                high = self.max_val + self.averaging_constant * (high - self.max_val)
            self.min_val.copy_(low)
            self.max_val.copy_(high)
        return x_orig


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """Keeps the extrema, (channels), of each slice along ``ch_axis``.

    Raises:
        NotImplementedError: the scheme is not per channel.
    """

    def __init__(
        self,
        ch_axis: int = 0,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_channel_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if not is_per_channel(qscheme):
            raise NotImplementedError(f"{type(self).__name__}: the scheme must be per channel; got {qscheme}")
        if is_dynamic:
            raise NotImplementedError(f"{type(self).__name__}: channels cannot be quantised on the fly")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        self.ch_axis = ch_axis
        self.register_buffer("min_val", taeda.tensor([], device=(factory_kwargs or {}).get("device")))
        self.register_buffer("max_val", taeda.tensor([], device=(factory_kwargs or {}).get("device")))

    def _extrema(self, x_orig: Tensor) -> tuple[Tensor, Tensor]:
        x = x_orig.detach().to(self.min_val.dtype)
        low, high = taeda.aminmax(x.transpose(0, self.ch_axis).flatten(1), dim=1)
        return low, high

    def _keep(self, low: Tensor, high: Tensor) -> None:
        for kept, now in ((self.min_val, low), (self.max_val, high)):
            kept.resize_(now.shape)
            kept.copy_(now)

    def forward(self, x_orig: Tensor) -> Tensor:
        """Takes note of the extrema of ``x_orig`` and returns it."""
        return self._forward(x_orig)

    def _forward(self, x_orig: Tensor) -> Tensor:
        if x_orig.numel():
            low, high = self._extrema(x_orig)
            if self.min_val.numel() and self.max_val.numel():
                low, high = taeda.min(low, self.min_val), taeda.max(high, self.max_val)
            self._keep(low, high)
        return x_orig

    def reset_min_max_vals(self) -> None:
        """Forgets what was seen."""
        self.min_val, self.max_val = taeda.rand(0), taeda.rand(0)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        for name, old in (("min_val", "min_vals"), ("max_val", "max_vals")):
            if prefix + old in state_dict:  # as files of 2020 call them
                state_dict[prefix + name] = state_dict.pop(prefix + old)
            if (loaded := state_dict.get(prefix + name)) is not None:
                getattr(self, name).resize_(loaded.shape)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """`MovingAverageMinMaxObserver` for each slice along ``ch_axis``."""

    def __init__(
        self,
        averaging_constant: float = 0.01,
        ch_axis: int = 0,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_channel_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(ch_axis, dtype, qscheme, reduce_range, quant_min, quant_max, None, eps, is_dynamic, **kwargs)
        self.averaging_constant = averaging_constant

    def forward(self, x_orig: Tensor) -> Tensor:
        """Takes note of the extrema of ``x_orig`` and returns it."""
        if x_orig.numel():
            low, high = self._extrema(x_orig)
            if self.min_val.numel() and self.max_val.numel():
                low = self.min_val + self.averaging_constant * (low - self.min_val)
                high = self.max_val + self.averaging_constant * (high - self.max_val)
            self._keep(low, high)
        return x_orig


class HistogramObserver(UniformQuantizationObserverBase):
    """Keeps a histogram, and chooses the range whose quantisation errs least: rare extremes are cut off.

    Args:
        bins: of the histogram. For the others see `UniformQuantizationObserverBase`.
    """

    histogram: Tensor

    def __init__(
        self,
        bins: int = 2048,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if not is_per_tensor(qscheme):
            raise NotImplementedError(f"HistogramObserver: the scheme must be per tensor; got {qscheme}")
        if is_dynamic:
            raise NotImplementedError("HistogramObserver: histograms are not for quantisation on the fly")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        device = (factory_kwargs or {}).get("device")
        self.bins = bins
        self.register_buffer("histogram", taeda.zeros(bins, device=device))
        self.register_buffer("min_val", taeda.tensor(float("inf"), device=device))
        self.register_buffer("max_val", taeda.tensor(float("-inf"), device=device))
        self.dst_nbins = 2 ** (8 * taeda.ao.quantization.utils.to_underlying_dtype(dtype).itemsize)
        self.upsample_rate = _histogram.FINER

    def forward(self, x_orig: Tensor) -> Tensor:
        """Adds the elements of ``x_orig`` to the histogram and returns it."""
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach().to(self.min_val.dtype)
        low, high = taeda.aminmax(x)
        if low == float("-inf") or high == float("inf"):
            warnings.warn("HistogramObserver: infinite elements are left out", stacklevel=2)
            x = x[x.abs() != float("inf")]
            if x.numel() == 0:
                return x_orig
            low, high = taeda.aminmax(x)
        if self.min_val == float("inf") and self.max_val == float("-inf"):
            self.histogram.copy_(taeda.histc(x, self.bins, min=low.item(), max=high.item()))
        else:
            old_low, old_high = self.min_val.clone(), self.max_val.clone()
            low, high = taeda.min(low, old_low), taeda.max(high, old_high)
            new = taeda.histc(x, self.bins, min=low.item(), max=high.item())
            self.histogram.copy_(new + _histogram.spread(self.histogram, old_low, old_high, low, high))
        self.min_val.copy_(low)
        self.max_val.copy_(high)
        return x_orig

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point, (1), of the range that errs least."""
        if self.min_val == float("inf") and self.max_val == float("-inf"):
            warnings.warn(
                "nothing was observed: scale 1 and zero point 0 are used; run the model on data first", stacklevel=2
            )
            return taeda.tensor([1.0], device=self.min_val.device), taeda.tensor([0], device=self.min_val.device)
        assert self.bins == len(self.histogram), "the histogram must have as many bins as the observer"
        return self._calculate_qparams(*self._non_linear_param_search())

    def _non_linear_param_search(self) -> tuple[Tensor, Tensor]:
        return _histogram.best_range(self.histogram, self.min_val, self.max_val, self.dst_nbins)

    def reset_min_max_vals(self) -> None:
        """Forgets what was seen."""
        self.min_val.copy_(taeda.tensor(float("inf")))
        self.max_val.copy_(taeda.tensor(float("-inf")))
        self.histogram.zero_()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        for name in ("min_val", "max_val"):
            if (loaded := state_dict.get(prefix + name)) is not None:
                getattr(self, name).resize_(loaded.shape)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)


class FixedQParamsObserver(ObserverBase):
    """Watches nothing: scale and zero point are given.

    Args:
        scale: the distance of levels.
        zero_point: the level of zero.
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        scale: float,
        zero_point: int,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_tensor_affine,
        quant_min: int = 0,
        quant_max: int = 255,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if is_dynamic:
            raise NotImplementedError("FixedQParamsObserver: what is given is not computed on the fly")
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.quant_min, self.quant_max = quant_min, quant_max
        self.register_buffer("scale", taeda.tensor([scale], dtype=taeda.float))
        self.register_buffer("zero_point", taeda.tensor([zero_point], dtype=taeda.int))
        self.qscheme = qscheme

    def forward(self, X: Tensor) -> Tensor:
        """``X``."""
        return X

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """What was given, (1) each."""
        return self.scale, self.zero_point


class PlaceholderObserver(ObserverBase):
    """Watches nothing, and passes on what to quantise to: for float16, and for what is quantised on the fly."""

    def __init__(
        self,
        dtype: Any = taeda.float32,
        custom_op_name: str = "",
        compute_dtype: Any = None,
        quant_min: int | None = None,
        quant_max: int | None = None,
        qscheme: Any = None,
        eps: float | None = None,
        is_dynamic: bool = False,
    ) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        self.qscheme = qscheme or taeda.per_tensor_affine
        self.quant_min, self.quant_max = quant_min, quant_max
        self.eps = eps if eps is not None else _EPS
        self.custom_op = custom_op_name
        if compute_dtype:  # the older word for what is done on the fly
            self.is_dynamic = True
            warnings.warn("PlaceholderObserver: compute_dtype is is_dynamic=True by its older name", stacklevel=2)

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x

    def extra_repr(self) -> str:
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    def calculate_qparams(self) -> Any:
        """Raises Exception: nothing was watched."""
        raise Exception("PlaceholderObserver: it watches nothing, so it has no scale")


class RecordingObserver(ObserverBase):
    """Keeps copies of the tensors, for debugging."""

    tensor_val: list[Tensor]  # scripts read it here

    def __init__(self, dtype: Any = taeda.quint8) -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.tensor_val = []

    def forward(self, x: Tensor) -> Tensor:
        """Keeps a copy of ``x`` and returns it."""
        self.tensor_val.append(x.clone())
        return x

    def calculate_qparams(self) -> Any:
        """Raises Exception: it is for debugging."""
        raise Exception("RecordingObserver: it keeps tensors and has no scale")

    @export
    def get_tensor_value(self) -> list[Tensor]:
        """What was seen."""
        return self.tensor_val


class NoopObserver(ObserverBase):
    """Watches nothing, and passes the dtype on."""

    def __init__(self, dtype: Any = taeda.float16, custom_op_name: str = "") -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.dtype = dtype
        self.custom_op = custom_op_name

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x

    def calculate_qparams(self) -> Any:
        """Raises Exception: nothing was watched."""
        raise Exception("NoopObserver: it watches nothing, so it has no scale")


class ReuseInputObserver(ObserverBase):
    """Stands where a result has its argument's scale, as that of a reshape."""

    def __init__(self) -> None:
        super().__init__(taeda.quint8, is_dynamic=False)

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x

    def calculate_qparams(self) -> Any:
        """Raises Exception: the argument's observer knows."""
        raise Exception("ReuseInputObserver: the observer of the argument has the scale")


def _is_activation_post_process(module: Any) -> bool:
    """Whether it is an observer, or what holds one and rounds."""
    return isinstance(module, ObserverBase) or hasattr(module, "fake_quant_enabled")


def get_observer_state_dict(mod: nn.Module) -> OrderedDict[str, Any]:
    """What the observers of a model have in its ``state_dict``."""
    state = mod.state_dict()
    found = OrderedDict((key, value) for key, value in state.items() if "activation_post_process" in key)
    if hasattr(state, "_metadata"):
        found._metadata = {k: v for k, v in state._metadata.items() if "activation_post_process" in k}  # type: ignore[attr-defined]
    return found


def load_observer_state_dict(mod: nn.Module, obs_dict: dict[str, Any]) -> None:
    """Gives the observers of a model what `get_observer_state_dict` found.

    Raises:
        RuntimeError: something is left over or missing.
    """
    missing, unexpected = mod.load_state_dict(obs_dict, strict=False)
    missing = [key for key in missing if "activation_post_process" in key]
    if missing or unexpected:
        raise RuntimeError(f"load_observer_state_dict: missing {missing}, unexpected {list(unexpected)}")


default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = RecordingObserver
default_weight_observer = MinMaxObserver.with_args(dtype=taeda.qint8, qscheme=taeda.per_tensor_symmetric)
weight_observer_range_neg_127_to_127 = MinMaxObserver.with_args(
    dtype=taeda.qint8, qscheme=taeda.per_tensor_symmetric, quant_min=-127, quant_max=127, eps=_LARGE_EPS
)
default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=taeda.qint8, qscheme=taeda.per_channel_symmetric
)
per_channel_weight_observer_range_neg_127_to_127 = PerChannelMinMaxObserver.with_args(
    dtype=taeda.qint8, qscheme=taeda.per_channel_symmetric, quant_min=-127, quant_max=127, eps=_LARGE_EPS
)
default_dynamic_quant_observer = PlaceholderObserver.with_args(
    dtype=taeda.quint8, quant_min=0, quant_max=255, is_dynamic=True
)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=taeda.quint8, qscheme=taeda.per_channel_affine_float_qparams, ch_axis=0
)
default_float_qparams_observer_4bit = PerChannelMinMaxObserver.with_args(
    dtype=taeda.quint4x2, qscheme=taeda.per_channel_affine_float_qparams, ch_axis=0
)
default_fixed_qparams_range_neg1to1_observer = FixedQParamsObserver.with_args(
    scale=2.0 / 256.0, zero_point=128, dtype=taeda.quint8, quant_min=0, quant_max=255
)
default_fixed_qparams_range_0to1_observer = FixedQParamsObserver.with_args(
    scale=1.0 / 256.0, zero_point=0, dtype=taeda.quint8, quant_min=0, quant_max=255
)
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
default_reuse_input_observer = ReuseInputObserver
