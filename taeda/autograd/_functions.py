"""Functions for the graph itself: one that resizes, one whose gradient is undefined, one whose gradient is an error."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda.autograd.function import Function

__all__ = ["DelayedError", "Resize", "UndefinedGrad"]


class Resize(Function):
    """``Resize.apply(tensor, sizes)``: the elements of a tensor in another shape."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, sizes: Any) -> Tensor:
        ctx.shape = tensor.shape
        return tensor.contiguous().view(*sizes)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:  # type: ignore[override]
        return grad.reshape(ctx.shape), None


class Undefined(Function):
    """Passes a tensor on and its gradient not."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> None:  # type: ignore[override]
        return None


class _Failing(Function):
    @staticmethod
    def forward(ctx: Any, message: str, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.message = message
        return tuple(x.detach() for x in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(ctx.message)


class UndefinedGrad(Function):
    """An object of it passes a tensor on and its gradient not."""

    def __call__(self, tensor: Tensor) -> Any:
        return Undefined.apply(tensor)


class DelayedError(Function):
    """An object of it passes tensors on; a backward pass that reaches them raises RuntimeError with its message."""

    def __init__(self, msg: str, num_inputs: int) -> None:
        self.msg, self.num_inputs = msg, num_inputs

    def __call__(self, *tensors: Tensor) -> Any:
        passed = _Failing.apply(self.msg, *tensors)
        return passed if self.num_inputs > 1 else passed[0]
