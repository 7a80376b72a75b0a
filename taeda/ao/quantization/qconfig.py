"""A QConfig says how to quantise: what watches activations, and what watches weights."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import namedtuple
from typing import Any

import taeda
from taeda import nn
from taeda.ao.quantization import fake_quantize as fakes
from taeda.ao.quantization import observer as observers
from taeda.ao.quantization.observer import _LARGE_EPS, _PartialWrapper

_ENGINES = ("x86", "fbgemm", "qnnpack", "onednn")


class QConfig(namedtuple("QConfig", ["activation", "weight"])):
    """How to quantise: makers of observers (or of modules that round) for ``activation`` and ``weight``.

    Makers are classes, or what ``with_args`` gives: ``QConfig(MinMaxObserver.with_args(dtype=torch.qint8), ...)``.

    Raises:
        ValueError: an observer is given in place of its maker.
    """

    __slots__ = ()

    def __new__(cls, activation: Any, weight: Any) -> QConfig:
        if isinstance(activation, nn.Module) or isinstance(weight, nn.Module):
            raise ValueError(
                "QConfig: takes makers of observers, not observers: MinMaxObserver or MinMaxObserver.with_args(...)"
            )
        return super().__new__(cls, activation, weight)


class QConfigDynamic(namedtuple("QConfigDynamic", ["activation", "weight"])):
    """`QConfig` for quantisation on the fly, by its older name.

    Raises:
        ValueError: the weight's observer is given in place of its maker.
    """

    __slots__ = ()

    def __new__(cls, activation: Any = nn.Identity, weight: Any = nn.Identity) -> QConfigDynamic:
        warnings.warn("QConfigDynamic: QConfig serves, too", stacklevel=2)
        if isinstance(weight, nn.Module):
            raise ValueError("QConfigDynamic: takes makers of observers, not observers")
        return super().__new__(cls, activation, weight)


QConfigAny = QConfig | None

default_qconfig = QConfig(observers.default_observer, observers.default_weight_observer)
default_debug_qconfig = QConfig(weight=observers.default_weight_observer, activation=observers.default_debug_observer)
default_per_channel_qconfig = QConfig(observers.default_observer, observers.default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(observers.default_dynamic_quant_observer, observers.default_weight_observer)
float16_dynamic_qconfig = QConfig(
    observers.PlaceholderObserver.with_args(dtype=taeda.float16, is_dynamic=True),
    observers.PlaceholderObserver.with_args(dtype=taeda.float16),
)
float16_static_qconfig = QConfig(
    observers.PlaceholderObserver.with_args(dtype=taeda.float16),
    observers.PlaceholderObserver.with_args(dtype=taeda.float16),
)
per_channel_dynamic_qconfig = QConfig(
    observers.default_dynamic_quant_observer, observers.default_per_channel_weight_observer
)
float_qparams_weight_only_qconfig = QConfig(
    observers.default_placeholder_observer, observers.default_float_qparams_observer
)
float_qparams_weight_only_qconfig_4bit = QConfig(
    observers.default_placeholder_observer, observers.default_float_qparams_observer_4bit
)
default_quint8_weight_qconfig = QConfig(observers.HistogramObserver, observers.MinMaxObserver)
default_qat_qconfig = QConfig(fakes.default_fake_quant, fakes.default_weight_fake_quant)
default_dynamic_qat_qconfig = QConfig(fakes.default_dynamic_fake_quant, fakes.default_weight_fake_quant)
default_weight_only_qconfig = QConfig(nn.Identity, fakes.default_weight_fake_quant)
default_activation_only_qconfig = QConfig(fakes.default_fake_quant, nn.Identity)
default_qat_qconfig_v2 = QConfig(fakes.default_fused_act_fake_quant, fakes.default_fused_wt_fake_quant)
default_reuse_input_qconfig = QConfig(observers.default_reuse_input_observer, observers.NoopObserver)
_mobile_activation = observers.HistogramObserver.with_args(dtype=taeda.qint8, reduce_range=False, eps=_LARGE_EPS)
_mobile_fake_quant = fakes.FusedMovingAvgObsFakeQuantize.with_args(
    observer=observers.MovingAverageMinMaxObserver, quant_min=-128, quant_max=127, dtype=taeda.qint8,
    reduce_range=False, eps=_LARGE_EPS,
)  # fmt: skip
default_symmetric_qnnpack_qconfig = QConfig(_mobile_activation, observers.weight_observer_range_neg_127_to_127)
default_per_channel_symmetric_qnnpack_qconfig = QConfig(
    _mobile_activation, observers.per_channel_weight_observer_range_neg_127_to_127
)
default_symmetric_qnnpack_qat_qconfig = QConfig(_mobile_fake_quant, fakes.fused_wt_fake_quant_range_neg_127_to_127)
default_per_channel_symmetric_qnnpack_qat_qconfig = QConfig(
    _mobile_fake_quant, fakes.fused_per_channel_wt_fake_quant_range_neg_127_to_127
)
_unwatched = observers.NoopObserver.with_args(dtype=taeda.float32)
default_embedding_qat_qconfig = QConfig(_unwatched, fakes.default_embedding_fake_quant)
default_embedding_qat_qconfig_4bit = QConfig(_unwatched, fakes.default_embedding_fake_quant_4bit)
_default_fp32_placeholder_qconfig = QConfig(
    observers.PlaceholderObserver.with_args(dtype=taeda.float32),
    observers.PlaceholderObserver.with_args(dtype=taeda.float32),
)
_default_quint8_placeholder_qconfig = QConfig(observers.PlaceholderObserver.with_args(dtype=taeda.quint8), None)


def _check_engine(function: str, backend: str) -> None:
    if backend not in _ENGINES:
        raise AssertionError(f"{function}: backend must be one of {', '.join(_ENGINES)}; got {backend!r}")


def get_default_qconfig(backend: str = "x86", version: int = 0) -> QConfig:
    """What serves most models after training, for an engine.

    Activations are quantised by histograms, weights by channel (for ``qnnpack`` as a whole). ``x86`` and ``fbgemm``
    leave a bit of activations out, as PyTorch's kernels may overflow otherwise.

    Raises:
        AssertionError: the engine or the version is unknown.
    """
    if version != 0:
        raise AssertionError(f"get_default_qconfig: the version must be 0; got {version}")
    _check_engine("get_default_qconfig", backend)
    activation = observers.HistogramObserver.with_args(reduce_range=backend in ("x86", "fbgemm"))
    if backend == "qnnpack":
        return QConfig(activation, observers.default_weight_observer)
    return QConfig(activation, observers.default_per_channel_weight_observer)


def get_default_qat_qconfig(backend: str = "x86", version: int | None = 1) -> QConfig:
    """The same for training with rounding; version 1 watches and rounds in one op.

    Raises:
        AssertionError: the engine or the version is unknown.
    """
    if version not in (0, 1):
        raise AssertionError(f"get_default_qat_qconfig: the version must be 0 or 1; got {version}")
    _check_engine("get_default_qat_qconfig", backend)
    kind = fakes.FusedMovingAvgObsFakeQuantize if version else fakes.FakeQuantize
    reduced = {} if backend == "onednn" else {"reduce_range": backend in ("x86", "fbgemm")}
    activation = kind.with_args(
        observer=observers.MovingAverageMinMaxObserver, quant_min=0, quant_max=255, **reduced
    )  # fmt: skip
    if backend == "qnnpack":
        return QConfig(activation, fakes.default_fused_wt_fake_quant if version else fakes.default_weight_fake_quant)
    by_channel = (
        fakes.default_fused_per_channel_wt_fake_quant if version else fakes.default_per_channel_weight_fake_quant
    )
    return QConfig(activation, by_channel)


def get_default_qconfig_dict(backend: str = "x86", version: int = 0) -> dict[str, Any]:
    """`get_default_qconfig_mapping` as a dict."""
    return taeda.ao.quantization.get_default_qconfig_mapping(backend, version).to_dict()


def get_default_qat_qconfig_dict(backend: str = "x86", version: int = 1) -> dict[str, Any]:
    """`get_default_qat_qconfig_mapping` as a dict."""
    return taeda.ao.quantization.get_default_qat_qconfig_mapping(backend, version).to_dict()


def _assert_valid_qconfig(qconfig: Any, mod: nn.Module) -> None:
    """Transposed convolutions have no weights by channel."""
    if qconfig is None or not isinstance(mod, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)):
        return
    if qconfig.weight is None:
        return
    weight = qconfig.weight()
    by_channel = (observers.PerChannelMinMaxObserver, observers.MovingAveragePerChannelMinMaxObserver)
    if isinstance(weight, by_channel):
        raise AssertionError(
            f"{type(mod).__name__}: weights of transposed convolutions cannot be quantised by channel; give the module "
            "a qconfig with a per-tensor observer, such as default_weight_observer"
        )


def _add_module_to_qconfig_obs_ctr(qconfig: QConfigAny, module: nn.Module | None) -> QConfigAny:
    """The qconfig whose observers are made on the module's device."""
    if module is None or qconfig is None or tuple(qconfig._fields) != ("activation", "weight"):
        return qconfig

    def factory() -> Any:
        devices = {p.device for p in module.parameters()} | {b.device for b in module.buffers()}
        return {"device": next(iter(devices))} if len(devices) == 1 else None

    def with_device(maker: Any) -> Any:
        return maker.with_callable_args(factory_kwargs=factory) if hasattr(maker, "with_callable_args") else maker

    if next(iter(module.parameters()), taeda.empty(0)).device.type == "cpu":
        return qconfig
    return QConfig(with_device(qconfig.activation), with_device(qconfig.weight))


def _obs_or_fq_ctr_equals(one: Any, other: Any) -> bool:
    if isinstance(one, _PartialWrapper) and isinstance(other, _PartialWrapper):
        return _partial_wrapper_equals(one, other)
    return bool(one == other)


def _partial_wrapper_equals(one: _PartialWrapper, other: _PartialWrapper) -> bool:
    first, second = copy.copy(one.p), copy.copy(other.p)
    if not (isinstance(first, functools.partial) and isinstance(second, functools.partial)):
        return bool(first == second)
    if {*first.keywords} != {*second.keywords}:
        return False
    same = all(_obs_or_fq_ctr_equals(first.keywords[key], second.keywords[key]) for key in first.keywords)
    return same and first.func == second.func and first.args == second.args


def qconfig_equals(q1: QConfigAny, q2: QConfigAny) -> bool:
    """Whether two qconfigs make the same observers."""
    if q1 is None or q2 is None:
        return q1 is q2
    return _obs_or_fq_ctr_equals(q1.activation, q2.activation) and _obs_or_fq_ctr_equals(q1.weight, q2.weight)


def _activation_is_memoryless(qconfig: QConfig) -> bool:
    """Whether a range is that of the tensor at hand alone."""
    activation = qconfig.activation()
    watching = getattr(activation, "activation_post_process", activation)
    return getattr(watching, "averaging_constant", None) == 1


def _is_reuse_input_qconfig(qconfig: QConfig | None) -> bool:
    return qconfig is not None and isinstance(qconfig.activation(), observers.ReuseInputObserver)
