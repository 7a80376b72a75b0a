"""Arithmetic on lists of tensors: one update rule runs over either of the two namespaces below.

``foreach`` hands a whole list to one native call. ``Each`` walks the list with public tensor operations: slower, but it
takes sparse gradients, tensor-valued options and recorded gradients. Both have the names of the tensor methods; an
operand is a list (one item per tensor) or a single value for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

Tensors = list[Tensor]


def number(value: Any) -> Any:
    """A Python number for ``value``, which may be a tensor of one element."""
    return value.item() if isinstance(value, Tensor) else value


def numbers(values: Tensors) -> list[Any]:
    """Their values as numbers, but the tensors themselves where they live on an accelerator (reading would wait) or
    are differentiated by."""
    return [t.item() if t.device.type == "cpu" and not t.requires_grad else t for t in values]


class Foreach:
    """``foreach.mul_(xs, 2)`` is ``taeda._foreach_mul_(xs, 2)``."""

    number = staticmethod(number)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        native = getattr(taeda, "_foreach_" + name)
        setattr(self, name, native)
        return native

    def add_own(self, xs: Tensors, value: Any) -> Tensors:
        """``xs + value`` where the caller made ``xs`` and needs it no more."""
        taeda._foreach_add_(xs, value)
        return xs

    def steps(self, steps: Tensors) -> list[Any]:
        """Counts up ``steps`` and returns the new counts as numbers."""
        taeda._foreach_add_(steps, 1)
        return [t.item() for t in steps]


class Each:
    """One tensor at a time. With ``traced`` nothing is overwritten that a recorded derivative may need."""

    def __init__(self, traced: bool) -> None:
        self.traced = traced

    def number(self, value: Any) -> Any:
        """``value`` as a number, but as a tensor where derivatives with respect to it may be wanted."""
        return value if self.traced else number(value)

    def _own(self, operand: Any) -> Any:
        """``operand`` as a derivative may keep it: the state is overwritten by later steps."""
        return operand.clone() if self.traced and isinstance(operand, Tensor) else operand

    def __getattr__(self, name: str) -> Callable[..., Tensors]:
        method = getattr(Tensor, name)
        own = self._own
        target = (lambda x: x) if name.endswith("_") else own

        def walk(xs: Tensors, *operands: Any) -> Tensors:
            return [method(target(x), *(own(_at(o, i)) for o in operands)) for i, x in enumerate(xs)]

        self.__dict__[name] = walk
        return walk

    def add_own(self, xs: Tensors, value: Any) -> Tensors:
        """``xs + value`` where the caller made ``xs`` and needs it no more."""
        return [(x.add if self.traced else x.add_)(_at(value, i)) for i, x in enumerate(xs)]

    def add(self, xs: Tensors, ys: Any, alpha: Any = 1) -> Tensors:
        """``xs + alpha * ys``."""
        return [_plus(x.add, _at(ys, i), _at(alpha, i)) for i, x in enumerate(xs)]

    def add_(self, xs: Tensors, ys: Any, alpha: Any = 1) -> None:
        """``xs += alpha * ys``."""
        for i, x in enumerate(xs):
            _plus(x.add_, _at(ys, i), _at(alpha, i))

    def addcmul_(self, xs: Tensors, a: Tensors, b: Tensors, value: Any = 1) -> None:
        """``xs += value * a * b``."""
        for i, x in enumerate(xs):
            v = _at(value, i)
            if isinstance(v, Tensor):
                x.add_(self._own(a[i]) * self._own(b[i]) * v)
            else:
                x.addcmul_(self._own(a[i]), self._own(b[i]), value=v)

    def addcdiv_(self, xs: Tensors, a: Tensors, b: Tensors, value: Any = 1) -> None:
        """``xs += value * a / b``."""
        for i, x in enumerate(xs):
            v = _at(value, i)
            if isinstance(v, Tensor):
                x.add_(self._own(a[i]) / self._own(b[i]) * v)
            else:
                x.addcdiv_(self._own(a[i]), self._own(b[i]), value=v)

    def maximum_(self, xs: Tensors, ys: Tensors) -> None:
        """``xs = maximum(xs, ys)`` in place."""
        for x, y in zip(xs, ys, strict=True):
            x.copy_(taeda.maximum(x.clone(), y.clone()) if self.traced else taeda.maximum(x, y))

    def steps(self, steps: Tensors) -> list[Any]:
        """Counts up ``steps`` and returns the new counts as ``numbers`` does."""
        for t in steps:
            t.add_(1)
        return numbers(steps)


def _at(operand: Any, i: int) -> Any:
    return operand[i] if isinstance(operand, (list, tuple)) else operand


def _plus(add: Callable[..., Tensor], y: Any, alpha: Any) -> Tensor:
    if isinstance(y, Tensor) and not isinstance(alpha, Tensor):
        return add(y, alpha=alpha)
    return add(y * alpha)
