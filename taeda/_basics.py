"""Small questions and settings of the main namespace."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from taeda import _C

_deterministic = {"mode": False, "warn_only": False}
_precision = {"matmul": "highest"}
_interop = {"threads": 1}


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, _C.TensorBase)


def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is a storage, with a dtype or without."""
    from taeda.storage import TypedStorage

    return isinstance(obj, (_C.UntypedStorage, TypedStorage))


@_C._overridable
def numel(input: Any) -> int:
    """The number of elements of ``input``."""
    return input.numel()


def typename(obj: Any) -> str:
    """The name of the type of ``obj``, or of a class or function itself, with its module; tensors give their old type
    name."""
    if isinstance(obj, _C.TensorBase):
        tensor: Any = obj
        return tensor.type()
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    prefix = "" if named.__module__ in (None, "builtins") else f"{named.__module__}."
    return prefix + named.__qualname__


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

    warnings.warn("taeda.set_default_tensor_type is deprecated; use set_default_dtype and set_default_device",
                  UserWarning, stacklevel=2)  # fmt: skip
    _C.set_default_dtype(dtype_of_type_name(t))


def set_num_interop_threads(threads: int) -> None:
    """Accepted: calls run in the thread that makes them.

    Raises:
        RuntimeError: ``threads`` is no positive integer.
    """
    if not isinstance(threads, int) or threads < 1:
        raise RuntimeError(f"taeda.set_num_interop_threads: threads must be a positive integer; got {threads!r}")
    _interop["threads"] = threads


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
    """The larger of two sizes; a float where either is one."""
    return _like_both(max, a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two sizes; a float where either is one."""
    return _like_both(min, a, b)


def _like_both(choose: Callable[..., Any], a: Any, b: Any) -> Any:
    chosen = choose(a, b)
    return float(chosen) if isinstance(a, float) or isinstance(b, float) else chosen


def sym_not(a: Any) -> bool:
    """The negation of a truth value."""
    return not a


@_C._overridable
def is_floating_point(input: Any) -> bool:
    """Whether the elements of ``input`` are floating-point numbers."""
    return input.is_floating_point()


@_C._overridable
def is_complex(input: Any) -> bool:
    """Whether the elements of ``input`` are complex numbers."""
    return input.is_complex()


@_C._overridable
def is_signed(input: Any) -> bool:
    """Whether the dtype of ``input`` has negative numbers."""
    return input.is_signed()


@_C._overridable
def is_conj(input: Any) -> bool:
    """Whether ``input`` is a conjugate that is computed only when it is read."""
    return input.is_conj()


@_C._overridable
def is_inference(input: Any) -> bool:
    """Whether ``input`` was made in inference mode."""
    return input.is_inference()


@_C._overridable
def is_neg(input: Any) -> bool:
    """Whether ``input`` is a negative that is computed only when it is read."""
    return input.is_neg()


def is_distributed(input: Any) -> bool:
    """Whether ``input`` lies on several machines: never."""
    return False


def is_vulkan_available() -> bool:
    """Whether there is a Vulkan device: no."""
    return False


def get_device(input: Any) -> int:
    """The index of the device of ``input``; -1 for the CPU."""
    return input.get_device()


def get_device_module(device: Any = None) -> Any:
    """The module ``taeda.<type>`` of a device, by default of the accelerator, or of the CPU if there is none.

    Raises:
        RuntimeError: there is no such module.
    """
    import taeda

    if device is None:
        device = taeda.accelerator.current_accelerator() or "cpu"
    kind = device.type if isinstance(device, taeda.device) else str(device)
    module = getattr(taeda, kind, None) if kind.isidentifier() else None
    if not hasattr(module, "is_available"):
        raise RuntimeError(f"taeda.get_device_module: there is no module taeda.{kind} for the device")
    return module


def result_type(tensor1: Any, tensor2: Any) -> Any:
    """The dtype of arithmetic between two values, each a tensor or a number.

    A tensor without dimensions, and more so a number, counts only if it is of a higher category (bool, integral,
    floating, complex) than the rest.
    """
    numbers = [value for value in (tensor1, tensor2) if not is_tensor(value)]
    if len(numbers) == 2:
        return _C.promote_types(*(_C.tensor(value).dtype for value in numbers))
    outlines = [_outline(value) for value in (tensor1, tensor2) if is_tensor(value)]
    return _C._functions.mul(outlines[0], *outlines[1:], *numbers).dtype


def _outline(tensor: Any) -> Any:
    """What matters of a tensor for promotion, without its values."""
    return _C._functions.empty([0] if tensor.dim() else [], dtype=tensor.dtype, device="meta")


@_C._overridable
def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """The coordinates, one int64 tensor per dimension of ``shape``, of flat indices into an array of that shape.

    Raises:
        TypeError: ``indices`` is no tensor of integers, or ``shape`` holds something else than integers.
        ValueError: ``shape`` is negative somewhere.
    """
    if not is_tensor(indices) or indices.is_floating_point() or indices.is_complex() or indices.dtype == _C.bool:
        raise TypeError(f"taeda.unravel_index: indices must be a tensor of integers; got {indices!r}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(isinstance(size, int) for size in sizes):
        raise TypeError(f"taeda.unravel_index: shape must hold integers; got {shape!r}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"taeda.unravel_index: shape must not be negative; got {sizes}")
    coordinates, indices = [], indices.long()
    for size in reversed(sizes):
        coordinates.append(indices % size)
        indices = indices // size
    return _C._functions.stack(coordinates[::-1], -1).unbind(-1) if coordinates else ()


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switches anomaly mode, in which backward names the forward call that a failing node belongs to."""
    _C._autograd.set_anomaly_enabled(mode, check_nan)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return _C._autograd.is_anomaly_enabled()


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN."""
    return _C._autograd.is_anomaly_check_nan_enabled()


def init_num_threads() -> None:
    """Nothing: the threads start when they are first needed."""


def sym_sqrt(a: Any) -> float:
    """The square root of a size."""
    return float(a) ** 0.5


def sym_sum(args: Any) -> Any:
    """The sum of sizes."""
    return sum(args)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """``t if b else f``."""
    return t if b else f


def detach_(input: Any) -> Any:
    """Cuts ``input`` out of the graph and returns it; see ``Tensor.detach_``."""
    return input.detach_()


@_C._overridable
def _assert(condition: Any, message: str) -> None:
    """An ``assert`` that is called.

    Raises:
        AssertionError: the condition is false.
    """
    if not condition:
        raise AssertionError(message)


def old_question(name: str) -> bool:
    """What ``has_cuda`` and its kin were before `taeda.backends`."""
    from importlib import import_module

    module = import_module(f"taeda.backends.{name.removeprefix('has_')}")
    ask = module.is_built if name in ("has_cuda", "has_mps") else module.is_available
    warnings.warn(f"taeda.{name}: ask {ask.__module__}.{ask.__name__}()", UserWarning, stacklevel=3)
    return bool(ask())
