"""Numbers out of tensors under record: ``item()`` is a value of the graph, what Python needs at once is refused. And
back: ``tensor`` of such numbers is a value, too, and so is a parameter made of a value."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._control_flow import current_capture
from taeda._schema.symbols import _Symbol
from taeda.utils._pytree import tree_leaves

_REFUSED = {
    "__bool__": "a branch on a tensor's value",
    "__int__": "int() of a tensor",
    "__float__": "float() of a tensor",
    "__index__": "a tensor as an index of a list, or in range(),",
    "__complex__": "complex() of a tensor",
    "numpy": "an array of a tensor's elements",
}


_lock = threading.Lock()
_captures = 0  # those that are under way, in any thread
_before: dict[str, Callable[..., Any] | None] = {}
_MAKERS = ("tensor", "as_tensor")
_OF_NUMBERS = ("arange", "full", "linspace", "logspace")
_makers: dict[str, Callable[..., Any]] = {}


@contextlib.contextmanager
def watched_values() -> Iterator[None]:
    """Within, this thread's capture is asked before a number is taken out of a tensor. Captures of several threads and
    one inside another share the methods that ask."""
    global _captures
    with _lock:
        if not _captures:
            _watch()
        _captures += 1
    try:
        yield
    finally:
        with _lock:
            _captures -= 1
            if not _captures:
                _unwatch()


def _watch() -> None:
    _before.update({name: vars(Tensor).get(name) for name in (*_REFUSED, *_TAKEN, "_make_subclass")})
    for name, what in _REFUSED.items():
        setattr(Tensor, name, _refusing(getattr(Tensor, name), what))
    for name, how in _TAKEN.items():
        setattr(Tensor, name, how(getattr(Tensor, name)))
    Tensor._make_subclass = staticmethod(_subclass(Tensor._make_subclass))  # type: ignore[method-assign]
    for name in _MAKERS:
        _makers[name] = getattr(taeda, name)
        setattr(taeda, name, _maker(_makers[name]))
    for name in _OF_NUMBERS:
        _makers[name] = getattr(taeda, name)
        setattr(taeda, name, _of_numbers(_makers[name]))


def _unwatch() -> None:
    for name, maker in _makers.items():
        setattr(taeda, name, maker)
    for name, function in _before.items():
        if function is None:
            delattr(Tensor, name)
        else:
            setattr(Tensor, name, function)


def _refusing(function: Callable[..., Any], what: str) -> Callable[..., Any]:
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        capture = current_capture()
        if capture is not None and capture.depends(self):
            capture.refuse(what)
        return function(self, *args, **kwargs)

    return ask


def _item(function: Callable[..., Any]) -> Callable[..., Any]:
    def take(self: Any) -> Any:
        capture = current_capture()
        if capture is None or not capture.depends(self):
            return function(self)
        return capture.take_number(self, function)

    return take


def _list(function: Callable[..., Any]) -> Callable[..., Any]:
    def take(self: Any) -> Any:
        capture = current_capture()
        if capture is None or not capture.depends(self):
            return function(self)
        return [part.tolist() for part in self.unbind()] if self.dim() else self.item()

    return take


def _text(function: Callable[..., Any]) -> Callable[..., Any]:
    """Programs print what they calculate: no value takes part in that."""

    def show(self: Any, *args: Any, **kwargs: Any) -> Any:
        capture = current_capture()
        if capture is None or not capture.depends(self):
            return function(self, *args, **kwargs)
        return capture.shown(self, lambda: function(self, *args, **kwargs))

    return show


_TAKEN = {"item": _item, "tolist": _list, "__repr__": _text, "__format__": _text}


def _subclass(function: Callable[..., Any]) -> Callable[..., Any]:
    def make(cls: type, data: Tensor, *args: Any, **kwargs: Any) -> Any:
        capture = current_capture()
        if capture is None:
            return function(cls, data, *args, **kwargs)
        return capture.take_alias(data, lambda plain: function(cls, plain, *args, **kwargs))

    return make


def _maker(function: Callable[..., Any]) -> Callable[..., Any]:
    def make(data: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Any:
        if current_capture() is None or not any(isinstance(leaf, _Symbol) for leaf in tree_leaves(data)):
            return function(data, dtype=dtype, device=device, **kwargs)
        kinds = {leaf.node.pytype if isinstance(leaf, _Symbol) else type(leaf) for leaf in tree_leaves(data)}
        number = taeda.get_default_dtype() if float in kinds else taeda.int64 if int in kinds else taeda.bool
        return _put_together(data, {"dtype": dtype or number, "device": device})

    return functools.wraps(function)(make)


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Tensors of one element are numbers to it."""

    def make(*args: Any, **kwargs: Any) -> Any:
        capture = current_capture()
        if capture is None:
            return function(*args, **kwargs)
        taken = [value.item() if capture.depends(value) else value for value in args]
        named = {k: value.item() if k != "out" and capture.depends(value) else value for k, value in kwargs.items()}
        return function(*taken, **named)

    return functools.wraps(function)(make)


def _put_together(data: Any, how: dict[str, Any]) -> Tensor:
    if isinstance(data, (list, tuple)):
        return taeda.stack([_put_together(item, how) for item in data])
    return taeda.ops.aten.scalar_tensor.default(data, **how)
