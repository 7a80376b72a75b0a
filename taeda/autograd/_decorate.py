"""Functions, generators and classes that run in a mode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any

_IS_GENERATOR = 0x20  # the code flag that inspect calls CO_GENERATOR


def decorate(context: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """``func`` with its body in a clone of ``context``, which has ``clone()``, ``__enter__`` and ``__exit__``.

    A generator runs in the mode only while it computes its next value, never while the caller works with one. A class
    gets the mode for its constructor alone.
    """
    if isinstance(func, type):
        import warnings

        warnings.warn(
            f"taeda.{type(context).__name__}: on a class this serves its __init__ alone and is deprecated; decorate "
            "the methods that it is for",
            FutureWarning,
            stacklevel=3,
        )
        func.__init__ = decorate(context, func.__init__)  # type: ignore[misc]
        return func
    clone = context.clone
    code = getattr(func, "__code__", None)
    if code is not None and code.co_flags & _IS_GENERATOR:
        return _decorate_generator(clone, func)

    @functools.wraps(func)
    def in_mode(*args: Any, **kwargs: Any) -> Any:
        with clone():
            return func(*args, **kwargs)

    return in_mode


def _decorate_generator(clone: Callable[[], Any], func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def in_mode(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        with clone():
            inner = func(*args, **kwargs)
        step: Callable[[Any], Any] = inner.send
        sent: Any = None
        while True:
            try:
                with clone():
                    value = step(sent)
            except StopIteration as stop:
                return stop.value
            try:
                step, sent = inner.send, (yield value)
            except GeneratorExit:
                with clone():
                    inner.close()
                raise
            except BaseException as error:
                step, sent = inner.throw, error

    return in_mode
