"""What the parts of quantisation share: ranges of dtypes, questions about qconfigs, paths in a model."""

from __future__ import annotations

import warnings
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.quantization.quant_type import QuantType

Pattern = Any
NodePattern = Any


class MatchAllNode:
    """Matches any node of a graph, in a pattern."""


_PER_TENSOR = (taeda.per_tensor_affine, taeda.per_tensor_symmetric)
_PER_CHANNEL = (
    taeda.per_channel_affine,
    taeda.per_channel_symmetric,
    taeda.per_channel_affine_float_qparams,
)
_SYMMETRIC = (taeda.per_tensor_symmetric, taeda.per_channel_symmetric)
# The least and the largest integer; reduced, with one bit less.
_RANGES: dict[taeda.dtype, tuple[int, int, int, int]] = {
    taeda.qint8: (-128, 127, -64, 63),
    taeda.int8: (-128, 127, -64, 63),
    taeda.quint8: (0, 255, 0, 127),
    taeda.uint8: (0, 255, 0, 127),
    taeda.qint32: (-(2**31), 2**31 - 1, -(2**31), 2**31 - 1),
    taeda.int32: (-(2**31), 2**31 - 1, -(2**31), 2**31 - 1),
    taeda.int16: (-(2**15), 2**15 - 1, -(2**15), 2**15 - 1),
    taeda.uint16: (0, 2**16 - 1, 0, 2**16 - 1),
    taeda.quint4x2: (0, 15, 0, 15),
    taeda.float8_e5m2: (0, 15, 0, 15),
    taeda.float8_e4m3fn: (0, 15, 0, 15),
}
_UNDERLYING = {
    taeda.quint8: taeda.uint8,
    taeda.qint8: taeda.int8,
    taeda.qint32: taeda.int32,
    taeda.quint4x2: taeda.uint8,
    taeda.quint2x4: taeda.uint8,
    taeda.uint8: taeda.uint8,
    taeda.int8: taeda.int8,
    taeda.int16: taeda.int16,
    taeda.int32: taeda.int32,
    taeda.uint16: taeda.uint16,
    taeda.float8_e5m2: taeda.float8_e5m2,
    taeda.float8_e4m3fn: taeda.float8_e4m3fn,
}
QUANTIZED = (taeda.quint8, taeda.qint8, taeda.qint32, taeda.uint8, taeda.int8, taeda.int16, taeda.int32, taeda.uint16)


def is_per_tensor(qscheme: Any) -> bool:
    """Whether one scale serves the whole tensor."""
    return qscheme in _PER_TENSOR


def is_per_channel(qscheme: Any) -> bool:
    """Whether each channel has a scale of its own."""
    return qscheme in _PER_CHANNEL


def is_symmetric(qscheme: Any) -> bool:
    """Whether the range lies around zero."""
    return qscheme in _SYMMETRIC


def to_underlying_dtype(qdtype: taeda.dtype) -> taeda.dtype:
    """The dtype of the integers of a quantised dtype."""
    if qdtype not in _UNDERLYING:
        raise AssertionError(f"to_underlying_dtype: {qdtype} is not a dtype of quantised numbers")
    return _UNDERLYING[qdtype]


def dtypes_of_observers() -> tuple[taeda.dtype, ...]:
    """What observers can choose parameters for."""
    return tuple(_RANGES)


def validate_qmin_qmax(quant_min: int, quant_max: int) -> None:
    """Checks a range that a user gave.

    Raises:
        AssertionError: zero is not in it, or it is empty.
    """
    if not quant_min <= 0 <= quant_max:
        raise AssertionError(f"the range of quantised numbers must include 0; got {quant_min} to {quant_max}")
    if not quant_min < quant_max:
        raise AssertionError(f"quant_min must be below quant_max; got {quant_min} and {quant_max}")


def calculate_qmin_qmax(
    quant_min: int | None, quant_max: int | None, has_customized_qrange: bool, dtype: taeda.dtype, reduce_range: bool
) -> tuple[int, int]:
    """The least and the largest quantised number: those given, or the dtype's; a bit less if ``reduce_range``."""
    if has_customized_qrange:
        assert quant_min is not None and quant_max is not None
        validate_qmin_qmax(quant_min, quant_max)
        return (quant_min // 2, quant_max // 2) if reduce_range else (quant_min, quant_max)
    least, largest, reduced_least, reduced_largest = _RANGES[dtype]
    return (reduced_least, reduced_largest) if reduce_range else (least, largest)


def check_min_max_valid(min_val: Tensor, max_val: Tensor) -> bool:
    """Whether the extrema are of data; False, with a warning, where nothing was observed.

    Raises:
        AssertionError: a minimum is above its maximum.
    """
    if min_val.numel() == 0 or max_val.numel() == 0:
        warnings.warn(
            "nothing was observed: scale 1 and zero point 0 are used; run the model on data first", stacklevel=3
        )
        return False
    if min_val.dim() == 0 and min_val == float("inf") and max_val == float("-inf"):
        warnings.warn(
            "nothing was observed: scale 1 and zero point 0 are used; run the model on data first", stacklevel=3
        )
        return False
    if not bool((min_val <= max_val).all()):
        raise AssertionError(f"a minimum is above its maximum: {min_val} and {max_val}")
    return True


def determine_qparams(
    min_val: Tensor,
    max_val: Tensor,
    quant_min: int,
    quant_max: int,
    dtype: taeda.dtype,
    eps: Tensor,
    has_customized_qrange: bool,
    qscheme: Any = taeda.per_tensor_affine,
) -> tuple[Tensor, Tensor]:
    """Scale and zero point, (1) or (channels), by the extrema of what is to be quantised.

    Symmetric: the larger extremum is at the end of the range, the zero point in its middle. Affine: the range spans the
    extrema and zero. Scales are at least ``eps``. Source: Jacob et al., arXiv 1712.05877, section 2.1.
    """
    if not check_min_max_valid(min_val, max_val):
        return taeda.tensor([1.0], device=min_val.device), taeda.tensor([0], device=min_val.device)
    low = taeda.minimum(min_val, taeda.zeros_like(min_val))
    high = taeda.maximum(max_val, taeda.zeros_like(max_val))
    levels = float(quant_max - quant_min)
    zero_point = taeda.zeros(low.size(), dtype=taeda.int64, device=low.device)
    if is_symmetric(qscheme):
        scale = taeda.maximum(taeda.maximum(-low, high) / (levels / 2), eps.to(low.dtype))
        if dtype in (taeda.quint8, taeda.uint8):
            zero_point.fill_((quant_min + quant_max) // 2 if has_customized_qrange else 128)
        elif dtype == taeda.uint16:
            zero_point.fill_((quant_min + quant_max) // 2 if has_customized_qrange else 2**15)
    elif qscheme is taeda.per_channel_affine_float_qparams:
        scale = (max_val - min_val) / levels
        scale = taeda.where(scale > eps, scale, taeda.ones_like(scale))
        zero_point = -1 * min_val / scale
    else:
        scale = taeda.maximum((high - low) / levels, eps.to(low.dtype))
        zero_point = (quant_min - taeda.round(low / scale).to(taeda.int)).clamp(quant_min, quant_max)
    return scale.reshape(-1), zero_point.reshape(-1)


def get_combined_dict(default_dict: dict[Any, Any], additional_dict: dict[Any, Any]) -> dict[Any, Any]:
    """The first with the entries of the second."""
    return {**default_dict, **additional_dict}


# --- questions about a qconfig


def activation_dtype(qconfig: Any) -> Any:
    """The dtype that activations are quantised to."""
    return qconfig.activation().dtype


def weight_dtype(qconfig: Any) -> Any:
    """The dtype that weights are quantised to."""
    return qconfig.weight().dtype


def _is_dynamic(qconfig: Any) -> bool:
    return bool(getattr(qconfig.activation(), "is_dynamic", False))


def activation_is_statically_quantized(qconfig: Any) -> bool:
    """Whether activations are quantised with parameters that are known beforehand."""
    return activation_dtype(qconfig) in QUANTIZED and not _is_dynamic(qconfig)


def activation_is_dynamically_quantized(qconfig: Any) -> bool:
    """Whether the parameters of activations are computed for each tensor."""
    return _is_dynamic(qconfig)


def activation_is_int8_quantized(qconfig: Any) -> bool:
    """Whether activations become 8-bit integers."""
    return activation_dtype(qconfig) in (taeda.quint8, taeda.qint8, taeda.uint8, taeda.int8)


def activation_is_int32_quantized(qconfig: Any) -> bool:
    """Whether activations become 32-bit integers."""
    return activation_dtype(qconfig) in (taeda.qint32, taeda.int32)


def weight_is_quantized(qconfig: Any) -> bool:
    """Whether weights are quantised, to whatever dtype."""
    return weight_dtype(qconfig) in (*QUANTIZED, taeda.float16, taeda.quint4x2)


def weight_is_statically_quantized(qconfig: Any) -> bool:
    """Whether weights become 8-bit integers."""
    return weight_dtype(qconfig) in (taeda.quint8, taeda.qint8, taeda.uint8, taeda.int8)


def op_is_int8_dynamically_quantized(qconfig: Any) -> bool:
    """Whether activations are quantised on the fly, and weights to qint8."""
    return (
        activation_dtype(qconfig) in (taeda.quint8, taeda.uint8)
        and activation_is_dynamically_quantized(qconfig)
        and weight_dtype(qconfig) in (taeda.qint8, taeda.int8)
    )


def get_qconfig_dtypes(qconfig: Any) -> tuple[Any, Any, bool]:
    """The dtypes of activations and weights, and whether the former are quantised on the fly."""
    activation = qconfig.activation()
    return activation.dtype, qconfig.weight().dtype, getattr(activation, "is_dynamic", False)


def get_quant_type(qconfig: Any) -> QuantType:
    """Which way of quantising a qconfig asks for.

    Raises:
        Exception: none that is known.
    """
    if qconfig is None:
        raise AssertionError("get_quant_type: there is no qconfig")
    if _is_dynamic(qconfig):
        return QuantType.DYNAMIC
    if activation_dtype(qconfig) in QUANTIZED:
        return QuantType.STATIC
    if weight_dtype(qconfig) in (*QUANTIZED, taeda.quint4x2):
        return QuantType.WEIGHT_ONLY
    raise Exception(f"get_quant_type: {qconfig} asks for no way of quantising that is known")


# --- models


def getattr_from_fqn(obj: Any, fqn: str) -> Any:
    """What is at the end of the dotted path."""
    for name in fqn.split("."):
        obj = getattr(obj, name)
    return obj


def has_no_children_ignoring_parametrizations(module: nn.Module) -> bool:
    """Whether a module has no submodules but those that compute its parameters."""
    return {*module._modules} <= {"parametrizations"}


def get_fqn_to_example_inputs(model: nn.Module, example_inputs: tuple[Any, ...]) -> dict[str, tuple[Any, ...]]:
    """Runs the model and notes the positional arguments that each submodule, by its name, is called with."""
    found: dict[str, tuple[Any, ...]] = {}
    hooks = [
        module.register_forward_pre_hook(lambda _, args, name=name: found.__setitem__(name, args))
        for name, module in model.named_modules()
    ]
    try:
        model(*example_inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def get_swapped_custom_module_class(
    custom_module: nn.Module, custom_module_class_mapping: dict[Any, Any], qconfig: Any
) -> type[Any]:
    """The class that takes the place of a user's own module.

    Raises:
        AssertionError: the mapping has none.
    """
    kind: Any = get_quant_type(qconfig)
    by_class = custom_module_class_mapping.get(kind, {})
    if type(custom_module) not in by_class:
        raise AssertionError(f"no class is given to take the place of {type(custom_module).__name__} ({kind})")
    swapped: type[Any] = by_class[type(custom_module)]
    return swapped


def get_qparam_dict(observer_or_fake_quant: Any) -> dict[str, Any]:
    """Scale, zero point and what goes with them, as arguments."""
    qscheme = getattr(observer_or_fake_quant, "qscheme", None)
    dtype = observer_or_fake_quant.dtype
    qparams: dict[str, Any] = {"qscheme": qscheme, "dtype": dtype}
    if not qscheme or type(observer_or_fake_quant).__name__ == "PlaceholderObserver":
        return {"qscheme": None, "dtype": dtype}
    if is_symmetric(qscheme):
        qparams["qscheme"] = taeda.per_tensor_affine if is_per_tensor(qscheme) else taeda.per_channel_affine
    if is_per_channel(qscheme):
        qparams["axis"] = observer_or_fake_quant.ch_axis
    qparams["scale"], qparams["zero_point"] = observer_or_fake_quant.calculate_qparams()
    for name in ("quant_min", "quant_max"):
        if hasattr(observer_or_fake_quant, name):
            qparams[name] = getattr(observer_or_fake_quant, name)
    return qparams
