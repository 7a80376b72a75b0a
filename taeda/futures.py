"""``Future``: a value that is there later, set by whoever computes it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value that another thread sets. ``devices`` are those of its tensors; on a CPU they need no care."""

    def __init__(self, *, devices: list[Any] | None = None) -> None:
        self._devices = list(devices or ())
        self._condition = threading.Condition()
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Whether the value, or an error in its place, has been set."""
        return self._done

    def wait(self) -> T:
        """Waits until it is done and gives the value, or raises the error that took its place."""
        with self._condition:
            self._condition.wait_for(self.done)
        try:
            return self._get()
        finally:
            del self  # the error's traceback holds this frame: they would be a cycle

    def value(self) -> T:
        """The value, without waiting.

        Raises:
            RuntimeError: it is not there yet.
        """
        if not self._done:
            raise RuntimeError("Future.value: not done yet; wait() waits for it")
        try:
            return self._get()
        finally:
            del self

    def _get(self) -> T:
        if self._error is None:
            return self._value
        try:
            raise self._error
        finally:
            del self

    def set_result(self, result: T) -> None:
        """Sets the value and runs the callbacks, in this thread.

        Raises:
            RuntimeError: it is done already.
        """
        self._finish(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Sets an error in place of the value.

        Raises:
            AssertionError: ``result`` is no exception.
            RuntimeError: it is done already.
        """
        if not isinstance(result, BaseException):
            raise AssertionError(f"Future.set_exception: wants an exception; got {type(result).__name__}")
        self._finish(None, result)

    def _finish(self, value: Any, error: BaseException | None) -> None:
        with self._condition:
            if self._done:
                raise RuntimeError("Future: it is done already; a result can be set once")
            self._value, self._error, self._done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._condition.notify_all()
        for callback in callbacks:
            callback(self)

    def _when_done(self, callback: Callable[[Future[T]], Any]) -> None:
        with self._condition:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of ``callback(self)``, which is called once this one is done.

        If that raises, waiting for the new future raises ``RuntimeError``.

        Raises:
            TypeError: ``callback`` is no function.
        """
        _check_function("then", callback)
        result: Future[S] = Future(devices=self._devices)

        def run(future: Future[T]) -> None:
            try:
                value = callback(future)
            except Exception as error:
                wrapped = RuntimeError(f"Future.then: the callback raised {type(error).__name__}: {error}")
                wrapped.__cause__ = error
                result.set_exception(wrapped)
            else:
                result.set_result(value)

        self._when_done(run)
        return result

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Calls ``callback(self)`` once it is done, at once if it is; its errors are printed, not raised.

        Raises:
            TypeError: ``callback`` is no function.
        """
        _check_function("add_done_callback", callback)

        def run(future: Future[T]) -> None:
            try:
                callback(future)
            except Exception as error:
                print(f"Future.add_done_callback: the callback raised {type(error).__name__}: {error}")

        self._when_done(run)


def _check_function(where: str, callback: Any) -> None:
    if not callable(callback):
        raise TypeError(f"Future.{where}: wants a function; got {type(callback).__name__}")


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future of the list ``futures``, done when they are. The first error among them is its own.

    Raises:
        TypeError: one of them is no future.
    """
    for future in futures:
        if not isinstance(future, Future):
            raise TypeError(f"taeda.futures.collect_all: wants futures; got {type(future).__name__}")
    result: Future[list[Future[Any]]] = Future()
    left = len(futures)
    lock = threading.Lock()

    def one_is_done(_: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            finished = left == 0
        if finished:
            error = next((future._error for future in futures if future._error is not None), None)
            result._finish(list(futures) if error is None else None, error)

    if not futures:
        result.set_result([])
    for future in futures:
        future._when_done(one_is_done)
    return result


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The values of ``futures``, in order, once all are done; the first error is raised."""
    return [future.wait() for future in collect_all(futures).wait()]
