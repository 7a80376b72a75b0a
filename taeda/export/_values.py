"""Numbers out of tensors under record: ``item()`` is a value of the graph, what Python needs at once is refused."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from taeda import Tensor
from taeda._control_flow import current_capture

_REFUSED = {
    "__bool__": "a branch on a tensor's value",
    "__int__": "int() of a tensor",
    "__float__": "float() of a tensor",
    "__index__": "a tensor as an index of a list, or in range(),",
    "__complex__": "complex() of a tensor",
    "tolist": "a list of a tensor's elements",
    "numpy": "an array of a tensor's elements",
}


_lock = threading.Lock()
_captures = 0  # those that are under way, in any thread
_before: dict[str, Callable[..., Any] | None] = {}


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
    _before.update({name: vars(Tensor).get(name) for name in (*_REFUSED, "item")})
    for name, what in _REFUSED.items():
        setattr(Tensor, name, _refusing(getattr(Tensor, name), what))
    Tensor.item = _item(Tensor.item)  # type: ignore[method-assign]


def _unwatch() -> None:
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
