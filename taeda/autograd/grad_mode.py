"""Whether calls are recorded: context managers that also decorate functions, generators and classes."""

from __future__ import annotations

from typing import Any

from taeda._C import _autograd
from taeda.autograd._decorate import decorate

__all__ = [
    "enable_grad", "enforce_grad_layout_policy", "inference_mode", "no_grad", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip

enable_grad = _autograd.enable_grad
inference_mode = _autograd.inference_mode
no_grad = _autograd.no_grad
set_grad_enabled = _autograd.set_grad_enabled
is_grad_enabled = _autograd.is_grad_enabled
is_inference_mode_enabled = _autograd.is_inference_mode_enabled
is_multithreading_enabled = _autograd._is_multithreading_enabled


class _Switch:
    """Sets something of this thread at once; as a context manager or decorator, until the scope ends."""

    _read: Any
    _write: Any

    def __init__(self, mode: bool) -> None:
        self.mode, self.prev = bool(mode), type(self)._read()
        type(self)._write(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        type(self)._write(self.prev)

    def clone(self) -> Any:
        """Another one with the same setting."""
        return type(self)(self.mode)

    def __call__(self, func: Any) -> Any:
        type(self)._write(self.prev)
        return decorate(self, func)


class set_multithreading_enabled(_Switch):
    """Whether a backward pass may use the threads of devices. On the CPU it runs in the calling thread anyway."""

    _read = staticmethod(_autograd._is_multithreading_enabled)
    _write = staticmethod(_autograd._set_multithreading_enabled)


class enforce_grad_layout_policy(_Switch):
    """Whether ``.grad`` lies in memory as its tensor does; if not, a gradient that nobody else holds becomes it
    without a copy, as it lies."""

    _read = staticmethod(_autograd._is_grad_layout_enforced)
    _write = staticmethod(_autograd._set_grad_layout_enforced)

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)
