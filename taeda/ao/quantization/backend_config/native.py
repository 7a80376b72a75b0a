"""What Taeda's own kernels quantise. The engines by whose names programs ask are one set of kernels."""

from __future__ import annotations

from typing import Any

import taeda
from taeda.ao.quantization.backend_config.backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
    ObservationType,
)
from taeda.ao.quantization.fuser_method_mappings import _DEFAULT_OP_LIST_TO_FUSER_METHOD, ONEDNN_FUSER_METHODS
from taeda.ao.quantization.fx import patterns
from taeda.ao.quantization.quantization_mappings import (
    DEFAULT_QAT_MODULE_MAPPINGS,
    DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS,
)

_STATIC = DTypeConfig(taeda.quint8, taeda.quint8, taeda.qint8, taeda.float)
_PLAIN = DTypeConfig(taeda.quint8, taeda.quint8)
_DYNAMIC = DTypeConfig(taeda.quint8, taeda.float, taeda.qint8, taeda.float, is_dynamic=True)
_DYNAMIC_HALF = DTypeConfig(taeda.float16, taeda.float, taeda.float16, taeda.float, is_dynamic=True)
_WHILE_RUNNING = [_DYNAMIC, _DYNAMIC_HALF]
_ROWS = [DTypeConfig(taeda.float, taeda.float, dtype) for dtype in (taeda.quint8, taeda.quint4x2)]
_SHARE = ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT


def _configs() -> list[BackendPatternConfig]:
    made = []
    for kind in (*patterns.WEIGHTED, *patterns.LINEARS, *patterns.CONV_FUNCTIONS):
        is_conv = "conv" in getattr(kind, "__name__", "").lower()  # which none quantises on the way
        config = BackendPatternConfig(kind).set_dtype_configs([_STATIC, *([] if is_conv else _WHILE_RUNNING)])
        config.qat_module = DEFAULT_QAT_MODULE_MAPPINGS.get(kind)
        config.reference_quantized_module = DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS.get(kind)
        made.append(config)
    for kinds, dtypes in ((patterns.RECURRENT, _WHILE_RUNNING), (patterns.TABLES, _ROWS)):
        made += [BackendPatternConfig(kind).set_dtype_configs([*dtypes]) for kind in kinds]
    own: tuple[Any, ...] = (
        *patterns.OWN_MODULES, *patterns.OWN_FUNCTIONS, *patterns.FIXED_MODULES, *patterns.FIXED_FUNCTIONS,
        *patterns.ADDS, *patterns.MULS, *patterns.MATMULS,
    )  # fmt: skip
    made += [BackendPatternConfig(kind).add_dtype_config(_PLAIN) for kind in own]
    for kind in (*patterns.SHARING_MODULES, *patterns.SHARING_FUNCTIONS, *patterns.CATS):
        made.append(BackendPatternConfig(kind).set_observation_type(_SHARE).add_dtype_config(_PLAIN))
    for pattern, method in _DEFAULT_OP_LIST_TO_FUSER_METHOD.items():
        made.append(BackendPatternConfig(pattern).set_fuser_method(method).add_dtype_config(_STATIC))
    return made


def _backend(name: str) -> BackendConfig:
    return BackendConfig(name).set_backend_pattern_configs(_configs())


def get_native_backend_config() -> BackendConfig:
    """What Taeda's kernels quantise."""
    return _backend("native")


def get_native_backend_config_dict() -> dict[str, Any]:
    """The same as a dict."""
    return get_native_backend_config().to_dict()


def get_x86_backend_config() -> BackendConfig:
    """The same kernels by the engine's name."""
    return _backend("x86")


def get_fbgemm_backend_config() -> BackendConfig:
    """The same kernels by the engine's name."""
    return _backend("fbgemm")


def get_qnnpack_backend_config() -> BackendConfig:
    """The same kernels by the engine's name."""
    return _backend("qnnpack")


def get_onednn_backend_config() -> BackendConfig:
    """The same kernels by the engine's name, with linear layers that a leaky ReLU or ``tanh`` is fused into."""
    return _backend("onednn").set_backend_pattern_configs(
        [
            BackendPatternConfig(pattern).set_fuser_method(method).add_dtype_config(_STATIC)
            for pattern, method in ONEDNN_FUSER_METHODS.items()
        ]
    )


def get_executorch_backend_config() -> BackendConfig:
    """The same patterns, for graphs that go elsewhere in their reference form."""
    return _backend("executorch")
