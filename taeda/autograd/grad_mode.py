"""Whether calls are recorded: context managers that also decorate functions, generators and classes."""

from __future__ import annotations

from taeda._C import _autograd

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]

enable_grad = _autograd.enable_grad
inference_mode = _autograd.inference_mode
no_grad = _autograd.no_grad
set_grad_enabled = _autograd.set_grad_enabled
is_grad_enabled = _autograd.is_grad_enabled
is_inference_mode_enabled = _autograd.is_inference_mode_enabled
