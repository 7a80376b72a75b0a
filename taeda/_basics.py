"""Small questions and settings of the main namespace."""

from __future__ import annotations

import warnings
from typing import Any

from taeda import _C

_deterministic = {"mode": False, "warn_only": False}
_precision = {"matmul": "highest"}
_interop = {"threads": 1}


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, _C.TensorBase)


def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is a storage."""
    return isinstance(obj, _C.UntypedStorage)


def numel(input: Any) -> int:
    """The number of elements of ``input``."""
    return input.numel()


def typename(obj: Any) -> str:
    """The name of the type of ``obj``, with its module; tensors give their old type name."""
    if isinstance(obj, _C.TensorBase):
        return obj.type()
    module = getattr(type(obj), "__module__", "")
    prefix = "" if module in ("", "builtins", "__builtin__") else f"{module}."
    return prefix + type(obj).__qualname__


def is_grad_enabled() -> bool:
    """Whether calls record gradients in this thread."""
    return _C._autograd.is_grad_enabled()


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return _C._autograd.is_inference_mode_enabled()


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Asks for deterministic kernels. All kernels of this library are: the setting is remembered for those who ask."""
    _deterministic.update(mode=bool(mode), warn_only=bool(warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    """What ``use_deterministic_algorithms`` was last told."""
    return _deterministic["mode"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether the request was to warn only."""
    return _deterministic["warn_only"]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """``"default"``, ``"warn"`` or ``"error"`` (or 0 to 2), as ``use_deterministic_algorithms`` in one word."""
    names = {"default": 0, "warn": 1, "error": 2}
    level = names.get(debug_mode, debug_mode) if isinstance(debug_mode, str) else debug_mode
    if level not in (0, 1, 2):
        raise RuntimeError(
            f"taeda.set_deterministic_debug_mode: takes default, warn, error or 0 to 2; got {debug_mode!r}"
        )
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2, see ``set_deterministic_debug_mode``."""
    return 0 if not _deterministic["mode"] else 1 if _deterministic["warn_only"] else 2


def set_float32_matmul_precision(precision: str) -> None:
    """``"highest"``, ``"high"`` or ``"medium"``; float32 products are computed in float32 whatever is allowed."""
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"taeda.set_float32_matmul_precision: takes highest, high or medium; got {precision!r}")
    _precision["matmul"] = precision


def get_float32_matmul_precision() -> str:
    """What ``set_float32_matmul_precision`` was last told."""
    return _precision["matmul"]


def set_warn_always(mode: bool) -> None:
    """Whether warnings that show once per place show each time."""
    warnings.filterwarnings("always" if mode else "default", module="taeda")
    _deterministic["warn_always"] = bool(mode)


def is_warn_always_enabled() -> bool:
    """What ``set_warn_always`` was last told."""
    return _deterministic.get("warn_always", False)


def set_default_tensor_type(t: Any) -> None:
    """The old form of ``set_default_dtype``: takes ``torch.DoubleTensor`` or its name."""
    from taeda._utils import dtype_of_type_name

    _C.set_default_dtype(getattr(t, "dtype", None) or dtype_of_type_name(t))


def set_num_interop_threads(threads: int) -> None:
    """Accepted: calls run in the thread that makes them."""
    _interop["threads"] = int(threads)


def get_num_interop_threads() -> int:
    """What ``set_num_interop_threads`` was last told."""
    return _interop["threads"]


def sym_int(a: Any) -> int:
    """``int(a)`` rounding toward zero."""
    return int(a)


def sym_float(a: Any) -> float:
    """``float(a)``."""
    return float(a)


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two sizes."""
    return max(a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two sizes."""
    return min(a, b)


def sym_not(a: Any) -> bool:
    """The negation of a truth value."""
    return not a


def is_floating_point(input: Any) -> bool:
    """Whether the elements of ``input`` are floating-point numbers."""
    return input.is_floating_point()


def is_complex(input: Any) -> bool:
    """Whether the elements of ``input`` are complex numbers."""
    return input.is_complex()


def is_signed(input: Any) -> bool:
    """Whether the dtype of ``input`` has negative numbers."""
    return input.is_signed()


def is_conj(input: Any) -> bool:
    """Whether ``input`` is a conjugate that is not carried out yet: never, conjugates are computed at once."""
    return input.is_conj()


def is_inference(input: Any) -> bool:
    """Whether ``input`` was made in inference mode."""
    return input.is_inference()


def is_autocast_enabled(device_type: Any = None) -> bool:
    """Whether autocast is on in this thread."""
    return False


def is_autocast_cache_enabled() -> bool:
    """Whether autocast keeps converted weights."""
    return True


def get_autocast_dtype(device_type: str) -> Any:
    """The dtype that autocast computes in on this device type."""
    return _C.float16 if device_type == "cuda" else _C.bfloat16
