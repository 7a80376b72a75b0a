"""``_Await``: a call that is made when somebody wants its result."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Generic, NoReturn, TypeVar

T = TypeVar("T")
_UNSET: Any = object()


class _Await(Generic[T]):
    """A call that is made when its result is first waited for, or an attribute of the result is asked for."""

    def __init__(self, function: Callable[..., T] | None, args: tuple[Any, ...], result: Any = _UNSET) -> None:
        self._function, self._given, self._result = function, args, result

    def wait(self) -> T:
        """The result; the first time, this makes the call."""
        if self._result is _UNSET:
            assert self._function is not None
            self._result = self._function(*self._given)
        return self._result

    def fn(self) -> Callable[..., T]:
        """The function that is called.

        Raises:
            RuntimeError: there is none: the result was given.
        """
        if self._function is None:
            raise RuntimeError("_Await.fn: it was made by _awaitable_nowait, of a result instead of a function")
        return self._function

    def args(self) -> tuple[Any, ...]:
        """What the function is called with; the result where that was given."""
        return self._given

    def is_nowait(self) -> bool:
        """Whether the result was given, so that nothing is called."""
        return self._function is None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.wait(), name)

    def __reduce__(self) -> NoReturn:
        raise TypeError("an _Await cannot be saved or copied; wait for it and keep the result")


def _awaitable(func: Callable[..., T], *args: Any, **kwargs: Any) -> _Await[T]:
    """A call of ``func`` that is made when `_awaitable_wait` asks for its result.

    Raises:
        TypeError: ``func`` is no function, or does not take these arguments.
    """
    if not callable(func):
        raise TypeError(f"taeda.jit._awaitable: wants a function; got {type(func).__name__}")
    if kwargs:
        bound = inspect.signature(func).bind(*args, **kwargs)
        return _Await(lambda *given: func(*args, **kwargs), bound.args)
    return _Await(func, args)


def _awaitable_wait(aw: _Await[T]) -> T:
    """The result of what `_awaitable` returned.

    Raises:
        TypeError: ``aw`` is none.
    """
    if not isinstance(aw, _Await):
        raise TypeError(f"taeda.jit._awaitable_wait: wants an _Await; got {type(aw).__name__}")
    return aw.wait()


def _awaitable_nowait(o: T) -> _Await[T]:
    """An `_Await` whose result is ``o``."""
    return _Await(None, (o,), o)
