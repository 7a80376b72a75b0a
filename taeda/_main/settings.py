"""Settings of the process, and those who ask for them."""

from __future__ import annotations

import warnings
from typing import Any

from taeda import _C
from taeda._main.precision import allow

_deterministic = {"warn_only": False, "fill": True}
_warn_always = False
_matmul_precision = "highest"
_interop_threads = 1


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Asks for deterministic kernels. All kernels of this library are; memory without values (``empty``, ``resize_``)
    is filled then, see ``utils.deterministic.fill_uninitialized_memory``. Calls whose result PyTorch leaves open
    raise, or warn with ``warn_only``: ``put_`` without ``accumulate``, ``max_unpool1d`` to ``max_unpool3d``, and
    ``resize_`` of quantised tensors."""
    for name, given in (("mode", mode), ("warn_only", warn_only)):
        if not isinstance(given, bool):
            raise TypeError(f"taeda.use_deterministic_algorithms: {name} must be a bool; got {type(given).__name__}")
    _deterministic["warn_only"] = warn_only
    _C._set_determinism(0 if not mode else 1 if warn_only else 2)


def fill_uninitialized_memory(mode: bool) -> None:
    """Whether deterministic mode fills memory without values; ``utils.deterministic`` has this setting."""
    _deterministic["fill"] = mode
    _C._set_fill_uninitialized(mode)


def fills_uninitialized_memory() -> bool:
    """What ``fill_uninitialized_memory`` was last told; True at first."""
    return _deterministic["fill"]


def are_deterministic_algorithms_enabled() -> bool:
    """What ``use_deterministic_algorithms`` was last told."""
    return _C._get_determinism() > 0


# Their names in torch._C.
_set_deterministic_algorithms = use_deterministic_algorithms
_get_deterministic_algorithms = are_deterministic_algorithms_enabled


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether the request was to warn only."""
    return _C._get_determinism() == 1 if are_deterministic_algorithms_enabled() else _deterministic["warn_only"]


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
    return _C._get_determinism()


def set_float32_matmul_precision(precision: str) -> None:
    """``"highest"``, ``"high"`` or ``"medium"``; float32 products are computed in float32 whatever is allowed."""
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"taeda.set_float32_matmul_precision: takes highest, high or medium; got {precision!r}")
    global _matmul_precision
    _matmul_precision = precision
    allow("cuda", "matmul", "ieee" if precision == "highest" else "tf32")
    allow("mkldnn", "matmul", {"highest": "ieee", "high": "tf32", "medium": "bf16"}[precision])


def get_float32_matmul_precision() -> str:
    """What ``set_float32_matmul_precision`` was last told."""
    return _matmul_precision


def set_warn_always(mode: bool) -> None:
    """Whether warnings that show once per line show each time."""
    warnings.filterwarnings("always" if mode else "default", module="taeda")
    global _warn_always
    _warn_always = bool(mode)
    _C._set_warn_always(_warn_always)


def is_warn_always_enabled() -> bool:
    """What ``set_warn_always`` was last told."""
    return _warn_always


def set_default_tensor_type(t: Any) -> None:
    """The old form of ``set_default_dtype``: takes ``torch.DoubleTensor`` or its name."""
    from taeda._serialization.old_names import dtype_of_type_name

    warnings.warn("taeda.set_default_tensor_type is deprecated; use set_default_dtype and set_default_device",
                  UserWarning, stacklevel=2)  # fmt: skip
    if t.startswith("torch.cuda.") if isinstance(t, str) else getattr(t, "device_type", "cpu") == "cuda":
        raise TypeError(f"taeda.set_default_tensor_type: this build of Taeda has no CUDA; got {t}")
    if isinstance(t, _C.dtype):
        raise TypeError(f"taeda.set_default_tensor_type: takes a tensor type or its name; got the dtype {t}")
    _C.set_default_dtype(dtype_of_type_name(t))


def set_num_interop_threads(threads: int) -> None:
    """Accepted: calls run in the thread that makes them.

    Raises:
        RuntimeError: ``threads`` is no positive integer.
    """
    if not isinstance(threads, int) or threads < 1:
        raise RuntimeError(f"taeda.set_num_interop_threads: threads must be a positive integer; got {threads!r}")
    global _interop_threads
    _interop_threads = threads


def get_num_interop_threads() -> int:
    """What ``set_num_interop_threads`` was last told."""
    return _interop_threads


def init_num_threads() -> None:
    """Nothing: the threads start when they are first needed."""
