"""Work: a collective or a message under way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

from taeda.futures import Future

__all__ = ["Work"]


class Work:
    """A collective or a message under way. One of a program's own derives from it and writes what it can say."""

    def __init__(self, result: Any = None) -> None:
        self._result = result

    def wait(self, timeout: timedelta | None = None) -> bool:
        """True, once it is done.

        Raises:
            DistBackendError: it failed, or took longer than ``timeout`` (by default the group's).
        """
        return True

    def is_completed(self) -> bool:
        """Whether it is done, well or not."""
        return True

    def is_success(self) -> bool:
        """Whether it is done, and well."""
        return self.is_completed() and self.exception() is None

    def exception(self) -> BaseException | None:
        """What went wrong; None if nothing did, or not yet."""
        return None

    def synchronize(self) -> None:
        """Orders the device's later work behind this; on a CPU, `wait`."""
        self.wait()

    def block_current_stream(self) -> None:
        """`synchronize`."""
        self.synchronize()

    def result(self) -> Any:
        """The tensors that it wrote."""
        return self._result

    def get_future(self) -> Future[Any]:
        """A future of `result`. Its callbacks run in threads where they may wait for other work."""
        future: Future[Any] = Future()
        future.set_result(self.result())
        return future

    def source_rank(self) -> int:
        """The rank that a receive came from.

        Raises:
            RuntimeError: it is no receive.
        """
        raise RuntimeError("taeda.distributed.Work.source_rank: only a receive has one")

    def _source_rank(self) -> int:
        return self.source_rank()


class FutureWork(Work):
    """Work that is done when a future is."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def wait(self, timeout: timedelta | None = None) -> bool:
        self._future.wait()
        return True

    def is_completed(self) -> bool:
        return self._future.done()

    def exception(self) -> BaseException | None:
        return self._future._error

    def result(self) -> Any:
        return self._future.value()

    def get_future(self) -> Future[Any]:
        return self._future


class EngineWork(Work):
    """Work of the library's engine."""

    def __init__(self, handle: Any, result: Any) -> None:
        self._handle = handle
        self._result = result

    def wait(self, timeout: timedelta | None = None) -> bool:
        return cast(bool, self._handle.wait(milliseconds(timeout)))

    def is_completed(self) -> bool:
        return cast(bool, self._handle.is_completed())

    def exception(self) -> BaseException | None:
        return cast("BaseException | None", self._handle.error())

    def get_future(self) -> Future[Any]:
        return WorkFuture(self)

    def source_rank(self) -> int:
        return cast(int, self._handle.source_rank())

    def _then(self, callback: Callable[[], Any]) -> None:
        """Has it called when this is done, in a thread that may wait."""
        self._handle.then(callback)


class WorkFuture(Future[Any]):
    """Is done when the work is, without anybody's help: a callback may wait for it."""

    def __init__(self, work: Any) -> None:
        super().__init__()
        self._work = work

    def _settle(self) -> None:
        with self._condition:
            if not self._done:
                self._error = self._work.exception()
                self._value = None if self._error else self._work.result()
                self._done = True

    def done(self) -> bool:
        if not self._done and self._work.is_completed():
            self._settle()
        return self._done

    def wait(self) -> Any:
        if not self._done:
            try:
                self._work.wait()
            finally:
                if self._work.is_completed():
                    self._settle()
        return self._get()

    def value(self) -> Any:
        self.done()
        return super().value()

    def _when_done(self, callback: Callable[[Future[Any]], Any]) -> None:
        if self.done():
            callback(self)
            return

        def run() -> None:
            self._settle()
            callback(self)

        self._work._then(run)


def milliseconds(timeout: timedelta | None) -> int:
    """For the library: 0 stands for no timeout of one's own."""
    return 0 if timeout is None else max(0, int(timeout.total_seconds() * 1000))
