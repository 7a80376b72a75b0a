"""``TorchDispatchMode``: taking over calls below autograd, where only plain ops on plain tensors are left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import taeda


class TorchDispatchMode:
    """Inside ``with mode:`` every op that reaches a backend goes to ``mode.__torch_dispatch__``.

    Autograd, autocast and the Python functions built over ops have done their part by then: the mode sees ops like
    ``aten::mm.default``, in the backward pass too. Modes nest; the innermost is asked first and is off while it
    answers. A mode can be entered again, also while it is on.
    """

    def __init__(self) -> None:
        pass

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __torch_dispatch__(func, types, args, kwargs)")

    def __enter__(self) -> TorchDispatchMode:
        taeda._C._push_torch_dispatch_mode(self)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        taeda._C._pop_torch_dispatch_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchDispatchMode:
        """``cls(*args, **kwargs)``: the older spelling of making a mode."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Whether the mode is part of the machinery rather than of a program."""
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that lets every op through."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """The innermost mode; None outside of all."""
    count = taeda._C._len_torch_dispatch_stack()
    return taeda._C._get_dispatch_stack_at(count - 1) if count else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """All modes, outermost first."""
    return [taeda._C._get_dispatch_stack_at(i) for i in range(taeda._C._len_torch_dispatch_stack())]


@contextmanager
def _pop_mode_temporarily() -> Iterator[TorchDispatchMode]:
    """Take the innermost mode off for the length of a ``with`` block, which it is given to."""
    mode = taeda._C._pop_torch_dispatch_mode()
    try:
        yield mode
    finally:
        taeda._C._push_torch_dispatch_mode(mode)


@contextmanager
def _disable_current_modes() -> Iterator[list[TorchDispatchMode]]:
    """Take all dispatch modes off for the length of a ``with`` block; yields them, outermost first."""
    modes = [taeda._C._pop_torch_dispatch_mode() for _ in range(taeda._C._len_torch_dispatch_stack())][::-1]
    try:
        yield modes
    finally:
        for mode in modes:
            taeda._C._push_torch_dispatch_mode(mode)


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether ``t`` is a tensor subclass that says how it flattens into inner tensors and back."""
    is_subclass = isinstance(t, taeda.Tensor) and type(t) is not taeda.Tensor
    return is_subclass and hasattr(t, "__tensor_flatten__") and hasattr(type(t), "__tensor_unflatten__")


def transform_subclass(
    t: Any, callback: Callable[[str, Any], Any], outer_size: Any = None, outer_stride: Any = None
) -> Any:
    """The wrapper ``t`` over ``callback(name, inner)`` for each of its inner tensors.

    Args:
        t: a traceable wrapper subclass.
        callback: gives the inner tensor that takes the place of one.
        outer_size: the wrapper's sizes; unchanged if None.
        outer_stride: the wrapper's strides; unchanged if None.
    """
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    return type(t).__tensor_unflatten__(inner, context, size, stride)


def return_and_correct_aliasing(func: Any, args: Any, kwargs: dict[str, Any] | None, out: Any) -> Any:
    """What a wrapper subclass's ``__torch_dispatch__`` gives back for ``out``, its new wrappers.

    An op in place or with ``out=`` gives its argument itself, as its schema says, and not a new wrapper of the same
    data. A view is a wrapper that shares what its base wraps, which the class sees to.

    Args:
        func: the op.
        args: what it was called with, wrapped.
        kwargs: likewise.
        out: the results, wrapped anew.
    """
    schema = func._schema
    given: dict[str, Any] = {}
    for parameter, value in zip(schema.arguments, args, strict=False):
        given[parameter.name] = value
    given |= kwargs or {}
    written = {
        parameter.alias_info.before_set.copy().pop(): given.get(parameter.name)
        for parameter in schema.arguments
        if parameter.alias_info is not None and parameter.alias_info.is_write and parameter.alias_info.before_set
    }

    def corrected(result: Any, value: Any) -> Any:
        info = result.alias_info
        if info is None or not info.is_write or not info.before_set:
            return value
        return written.get(next(iter(info.before_set)), value)

    if isinstance(out, tuple) and len(schema.returns) == len(out):
        return type(out)(corrected(r, value) for r, value in zip(schema.returns, out, strict=True))
    return corrected(schema.returns[0], out) if len(schema.returns) == 1 else out
