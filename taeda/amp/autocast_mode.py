"""``autocast``: ops that gain from a smaller dtype compute in it, ops that lose by it compute in float32.

Which op does which stands in its declaration (``autocast=`` one of ``"lower"``, ``"fp32"``, ``"promote"``); the others
take their arguments as they come.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.autograd._decorate import decorate

__all__ = ["autocast", "autocast_decorator", "cast_tensors", "custom_bwd", "custom_fwd", "is_autocast_available"]

_HALF_TYPES_ON = {"cpu", "xpu", "mps", "hpu", "xla", "ipu", "mtia", "maia"}


def is_autocast_available(device_type: str) -> bool:
    """Whether there is autocast on devices of this type.

    Raises:
        RuntimeError: there is no such device type.
    """
    kind = taeda.device(device_type).type
    try:
        _C.is_autocast_enabled(kind)
    except RuntimeError:
        return False
    return True


class autocast:
    """A context, and a decorator, in which ops choose the dtype they compute in.

    Args:
        device_type: whose ops: ``"cpu"``, ``"cuda"``, or the name of a backend of one's own.
        dtype: the lower-precision dtype; by default ``get_autocast_dtype(device_type)``, on the CPU bfloat16.
        enabled: False switches autocast off inside of a block where it is on.
        cache_enabled: whether a weight that is used several times is cast once; by default as it is.

    Weights stay in float32, and so do their gradients; run the backward pass outside of the block.

    Raises:
        ValueError: ``device_type`` is not a string.
        RuntimeError: there is no autocast on such devices.
        AssertionError: the module of a backend of one's own has no ``get_amp_supported_dtype``.

    Warns and stays off where the device is absent, or cannot compute in ``dtype``.
    """

    def __init__(
        self,
        device_type: str,
        dtype: taeda.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"taeda.autocast: device_type must be a str; got {type(device_type).__name__}")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"taeda.autocast: there is no autocast on the device type '{device_type}'")
        self.device = taeda.device(device_type).type
        self.fast_dtype = _C.get_autocast_dtype(self.device) if dtype is None else dtype
        self._cache_enabled = _C.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = bool(enabled) and self._is_possible()
        self._before: list[tuple[bool, Any, bool]] = []

    def _is_possible(self) -> bool:
        if self.device == "cuda":
            if not taeda.cuda.is_available():
                warnings.warn("taeda.autocast: there is no CUDA device; autocast stays off", stacklevel=3)
                return False
            return True
        supported = [taeda.bfloat16, taeda.float16] if self.device in _HALF_TYPES_ON else self._supported_by_module()
        if self.fast_dtype not in supported:
            warnings.warn(
                f"taeda.autocast: '{self.device}' computes in {supported} but not in {self.fast_dtype}; "
                "autocast stays off",
                stacklevel=3,
            )
            return False
        return True

    def _supported_by_module(self) -> list[taeda.dtype]:
        module: Any = getattr(taeda, self.device, None)
        if not hasattr(module, "get_amp_supported_dtype"):
            raise AssertionError(
                f"taeda.autocast: the backend '{self.device}' needs a module, registered with "
                "taeda._register_device_module, that has get_amp_supported_dtype() -> list of dtypes"
            )
        return module.get_amp_supported_dtype()

    def __enter__(self) -> autocast:
        kind = self.device
        self._before.append((_C.is_autocast_enabled(kind), _C.get_autocast_dtype(kind), _C.is_autocast_cache_enabled()))
        _C.autocast_increment_nesting()
        self._put(self._enabled, self.fast_dtype, self._cache_enabled)
        return self

    def __exit__(self, *exception: Any) -> None:
        if _C.autocast_decrement_nesting() == 0:
            _C.clear_autocast_cache()
        self._put(*self._before.pop())

    def _put(self, enabled: bool, dtype: Any, cache_enabled: bool) -> None:
        _C.set_autocast_enabled(self.device, enabled)
        _C.set_autocast_dtype(self.device, dtype)
        _C.set_autocast_cache_enabled(cache_enabled)

    def clone(self) -> autocast:
        """The same block again, for another call of a decorated function."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _before=[])
        return other

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return autocast_decorator(self, func)


def autocast_decorator(autocast_instance: autocast, func: Callable[..., Any]) -> Callable[..., Any]:
    """``func`` with its body in a block like ``autocast_instance``."""
    return decorate(autocast_instance, func)


# For taeda.autograd.Function


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: taeda.dtype | None = None
) -> Callable[..., Any]:
    """Decorates ``forward`` of an ``autograd.Function`` that is called where autocast may be on.

    Args:
        fwd: the function; None gives a decorator.
        device_type: whose autocast.
        cast_inputs: where autocast is on, cast floating-point arguments (not float64) on that device to this dtype and
            run with autocast off; by default ``forward`` runs with autocast as it is.

    Raises:
        ValueError: ``device_type`` is not a string.
    """
    _check_device_type("custom_fwd", device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        ctx, enabled = args[0], _C.is_autocast_enabled(device_type)
        ctx._dtype = _C.get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = enabled and cast_inputs is None
        if cast_inputs is None or not enabled:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*cast_tensors(args, device_type, cast_inputs), **cast_tensors(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorates ``backward`` of a Function whose ``forward`` has ``custom_fwd``: it runs with autocast as forward did.

    Args:
        bwd: the function; None gives a decorator.
        device_type: whose autocast.

    Raises:
        ValueError: ``device_type`` is not a string.
    """
    _check_device_type("custom_bwd", device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return backward


def _check_device_type(name: str, device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"taeda.amp.{name}: device_type must be a str; got {type(device_type).__name__}")


def cast_tensors(value: Any, device_type: str, dtype: taeda.dtype) -> Any:
    """``value`` with the tensors that autocast would cast, at any depth of its containers, in ``dtype``."""
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.device.type == device_type and value.dtype != taeda.float64
        return value.to(dtype) if eligible else value
    if isinstance(value, Mapping):
        return {cast_tensors(k, device_type, dtype): cast_tensors(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(cast_tensors(v, device_type, dtype) for v in value))
    if isinstance(value, list | tuple):
        return type(value)(cast_tensors(v, device_type, dtype) for v in value)
    return value
