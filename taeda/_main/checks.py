"""``taeda._check`` and its kin, by which programs raise their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import Tensor


def _check_with(error_type: type[Exception], cond: Any, message: Any = None) -> None:
    """Raises ``error_type`` with what ``message()`` returns unless ``cond``, a bool, is true.

    Raises:
        TypeError: ``cond`` is no bool, or ``message`` cannot be called.
    """
    from taeda import SymBool

    if not isinstance(cond, (bool, SymBool)):
        raise TypeError(f"taeda._check: cond must be a bool; got {type(cond).__name__}")
    recorder = cond.node.recorder if isinstance(cond, SymBool) else None
    if cond.node.hint if recorder is not None and recorder.check(cond.node) else cond:  # type: ignore[union-attr]
        return
    if message is not None and not callable(message):
        raise TypeError(f"taeda._check: message must be a function that returns it; got {type(message).__name__}")
    raise error_type("the condition of a check does not hold" if message is None else str(message()))


def _checks(error_type: type[Exception], name: str) -> Callable[..., None]:
    def check(cond: Any, message: Callable[[], Any] | None = None) -> None:
        _check_with(error_type, cond, message)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Raises {error_type.__name__} with what ``message()`` returns unless ``cond`` is true."
    return check


_check = _checks(RuntimeError, "_check")
_check_index = _checks(IndexError, "_check_index")
_check_value = _checks(ValueError, "_check_value")
_check_type = _checks(TypeError, "_check_type")
_check_not_implemented = _checks(NotImplementedError, "_check_not_implemented")


def _check_is_size(i: Any, message: Callable[[], Any] | None = None, *, max: int | None = None) -> None:
    """RuntimeError unless ``i`` can be a size, of at most ``max``."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(error_type: type[Exception], cond: Any, message: Any = None) -> None:
    """Raises ``error_type`` unless all elements of ``cond``, a bool tensor, are true.

    Raises:
        TypeError: ``cond`` is no bool tensor.
    """
    if not isinstance(cond, Tensor) or str(cond.dtype) != "torch.bool":
        kind = f"a tensor of {cond.dtype}" if isinstance(cond, Tensor) else type(cond).__name__
        raise TypeError(f"taeda._check_tensor_all: cond must be a tensor of truth values; got {kind}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """RuntimeError unless all elements of ``cond`` are true."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert_async(tensor: Tensor, assert_msg: str = "") -> None:
    """RuntimeError unless the only element of ``tensor`` is not zero."""
    if tensor.numel() != 1:
        raise RuntimeError(f"taeda._assert_async: takes a tensor of one element; got shape {tuple(tensor.shape)}")
    if not tensor.is_meta and not bool(tensor):
        raise RuntimeError(assert_msg or "taeda._assert_async: the element is zero")
