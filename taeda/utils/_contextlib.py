"""Bases of context managers that decorate functions, too, as `no_grad` does; for programs that derive from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.autograd._decorate import decorate


class _DecoratorContextManager:
    """Whose subclass has ``__enter__`` and ``__exit__``, and `clone` where its constructor takes arguments."""

    def __call__(self, orig_func: Any) -> Any:
        """``orig_func``, each call of which runs within one of these."""
        return decorate(self, orig_func)

    def __enter__(self) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no __enter__")

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no __exit__")

    def clone(self) -> Any:
        """Another one."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that decorates without parentheses, too."""

    def __new__(cls, orig_func: Any = None) -> Any:
        return super().__new__(cls) if orig_func is None else cls()(orig_func)


class _Made(_DecoratorContextManager):
    """What ``make`` makes anew for each call."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __enter__(self) -> Any:
        self.made = self.make()
        return self.made.__enter__()

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        return self.made.__exit__(exc_type, exc_value, traceback)

    def clone(self) -> Any:
        return _Made(self.make)


def context_decorator(ctx: Any, func: Any) -> Any:
    """``func``, each call of which runs within ``ctx``, a context manager or a function that makes one.

    Raises:
        AssertionError: it is both.
    """
    is_manager = hasattr(ctx, "__enter__") and hasattr(ctx, "__exit__")
    if is_manager and callable(ctx):
        raise AssertionError(f"taeda.utils._contextlib.context_decorator: {ctx!r} makes contexts and is one; which?")
    return decorate(_Made((lambda: ctx) if is_manager else ctx), func)
