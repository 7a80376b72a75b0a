"""One worker: what it asks of others, and what others ask of it."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from taeda.distributed.rpc import _pickling as pickling
from taeda.distributed.rpc import constants
from taeda.distributed.rpc._links import Links
from taeda.distributed.rpc._meeting import Meeting
from taeda.distributed.rpc._pool import Pool
from taeda.distributed.rpc._wire import Connection, Failure, Kind, Message
from taeda.distributed.rpc._worker_info import WorkerInfo
from taeda.futures import Future

Handler = Callable[["Agent", WorkerInfo, Any], Any]
handlers: dict[Kind, Handler] = {}  # what to do with each kind of request; a Future as a result is waited for
_UNLIMITED = 1 << 30


def handles(kind: Kind) -> Callable[[Handler], Handler]:
    """Declares the function that answers requests of a kind."""

    def declare(function: Handler) -> Handler:
        handlers[kind] = function
        return function

    return declare


class Graphs:
    """What recorded graphs that cross workers need of each message; `taeda.distributed.autograd` puts its own here."""

    def leave(self, to: int, tensors: list[Any]) -> tuple[int, int] | None:
        """Notes the tensors that are sent."""
        return None

    def arrive(self, graph: tuple[int, int] | None, sender: int, message: Message) -> list[Any]:
        """The tensors that have come, as parts of the graph."""
        for tensor, shape in zip(message.tensors, message.shapes):
            tensor.requires_grad_(shape.requires_grad)
        return message.tensors

    def current(self) -> tuple[int, int] | None:
        """What this thread records for."""
        return None

    def within(self, graph: tuple[int, int] | None) -> Any:
        """A scope in which this thread records for ``graph``."""
        return contextlib.nullcontext()


graphs = Graphs()


class Waiter:
    """Who waits in the thread that asked, and there takes the answer out of its message: no other thread has to run.

    It takes a `Future`'s place while the request is under way.
    """

    __slots__ = ("_bell", "_error", "_finish", "_value")

    def __init__(self) -> None:
        self._bell = threading.Lock()
        self._bell.acquire()
        self._error: BaseException | None = None

    def hand(self, finish: Callable[[], None]) -> None:
        """Has `wait` call ``finish``, which sets the value or the error, and end."""
        self._finish = finish
        self._bell.release()

    def set_result(self, value: Any) -> None:
        """What `wait` is to give."""
        self._value = value

    def set_exception(self, error: BaseException) -> None:
        """What `wait` is to raise."""
        self._error = error

    def wait(self) -> Any:
        """The answer's value. What was raised in its place is raised."""
        self._bell.acquire()
        finish = self._finish
        del self._finish  # it holds this waiter, which holds what the answer brings: a cycle
        finish()
        del finish
        error, self._error = self._error, None  # whose traceback holds frames that know this waiter
        try:
            if error is not None:
                raise error
            return self._value
        finally:
            del error


class _Call(NamedTuple):
    """A request that waits for its answer."""

    future: Future[Any] | Waiter
    to: WorkerInfo
    connection: Connection
    graph: int | None


class Agent:
    """What this process is among the workers."""

    def __init__(self, meeting: Meeting, worker: WorkerInfo, secret: bytes, host: str, options: Any) -> None:
        self.worker, self.meeting = worker, meeting
        self.rpc_timeout: float = options.rpc_timeout
        self.workers: list[WorkerInfo] = []
        self.addresses: list[tuple[str, int]] = []
        self.idle = threading.Condition()
        self.sent = self.handled = self._running = 0
        self.closed = False
        self._numbers = itertools.count(1)
        self._calls: dict[int, _Call] = {}
        self._connections: dict[int, Connection] = {}
        self._connecting = threading.Lock()
        self._requests = Pool("taeda rpc request", options.num_worker_threads)
        self._answers = Pool("taeda rpc answer", _UNLIMITED)
        self._links = Links(host, worker.id, secret, self._arrived, self._lost)
        self.address = host, self._links.port
        meeting.has_ended = self._has_ended

    def get_worker_info(self, worker: str | int | None = None) -> WorkerInfo:
        """The worker of that name or number; without one, this."""
        return self.worker if worker is None else next(one for one in self.workers if worker in one)

    def get_worker_infos(self) -> list[WorkerInfo]:
        """All workers."""
        return list(self.workers)

    def get_debug_info(self) -> dict[str, str]:
        """What is under way, as text."""
        return {
            "agent.thread_pool_size": str(self._requests.limit),
            "agent.num_pending_requests": str(self._running),
            "agent.client_active_calls": str(len(self._calls)),
            "agent.server_active_calls": str(self._running),
        }

    # What others are asked.

    def call(self, to: WorkerInfo, kind: Kind, value: Any, timeout: float = constants.UNSET_RPC_TIMEOUT) -> Future[Any]:
        """Asks a worker; a future of its answer.

        Raises:
            RuntimeError: the value cannot be sent, or the worker cannot be reached.
        """
        future: Future[Any] = Future()
        self._send(to, kind, value, timeout, future)
        return future

    def ask(self, to: WorkerInfo, kind: Kind, value: Any, timeout: float = constants.UNSET_RPC_TIMEOUT) -> Any:
        """Asks a worker, and waits for the answer.

        Raises:
            RuntimeError: the value cannot be sent, or the worker cannot be reached or has not answered in time.
            Exception: what was raised there.
        """
        waiter = Waiter()
        self._send(to, kind, value, timeout, waiter)
        return waiter.wait()

    def _send(self, to: WorkerInfo, kind: Kind, value: Any, timeout: float, future: Future[Any] | Waiter) -> None:
        seconds = self.rpc_timeout if timeout == constants.UNSET_RPC_TIMEOUT else timeout
        deadline = time.monotonic() + seconds if seconds > 0 else None
        packed = pickling.pack(value)
        number = next(self._numbers)
        graph = graphs.leave(to.id, packed.tensors)
        try:
            connection = self._connection(to)
            with self.idle:
                self._calls[number] = _Call(future, to, connection, graph[0] if graph else None)
                self.sent += 1
            connection.send(kind, number, graph, packed, deadline)
        except OSError as error:
            self._end(number, error=_unreachable(to, error))
            if isinstance(future, Waiter) or not future.done():
                self._changed()
                raise _unreachable(to, error) from None
        if deadline is not None:
            self._links.at(deadline, lambda: self._late(number, seconds))

    def _connection(self, to: WorkerInfo) -> Connection:
        found = self._connections.get(to.id)
        if found is not None:
            return found
        with self._connecting:
            if self.closed:
                raise OSError("this worker has shut down")
            if to.id not in self._connections:
                wait = self.rpc_timeout or constants.DEFAULT_RPC_TIMEOUT_SEC
                made = self._links.connect(*self.addresses[to.id], to.id, wait)
                if self.closed:
                    made.close()
                    raise OSError("this worker has shut down")
                self._connections[to.id] = made
            return self._connections[to.id]

    def _take(self, number: int) -> _Call | None:
        return self._calls.pop(number, None)

    def _end(self, number: int, *, error: BaseException) -> None:
        """Ends a request without an answer."""
        call = self._take(number)
        if call is not None:
            self._settle(call, lambda: call.future.set_exception(error))

    def _settle(self, call: _Call, finish: Callable[[], None]) -> None:
        """Has the answer set in a thread in which callbacks may wait."""

        def run() -> None:
            try:
                finish()
            except Exception:
                traceback.print_exc()
            finally:
                self._changed()

        if isinstance(call.future, Waiter):
            call.future.hand(run)
        else:
            self._answers.submit(run)

    def _late(self, number: int, seconds: float) -> None:
        call = self._calls.get(number)
        if call is not None:
            self._end(number, error=RuntimeError(
                f"taeda.distributed.rpc: {call.to} has not answered: the RPC ran for more than the timeout of "
                f"{1000 * seconds:.0f} ms; give timeout= or rpc_timeout= of the options"
            ))  # fmt: skip

    # What arrives: in the thread that listens, which must not wait.

    def _arrived(self, connection: Connection, message: Message) -> None:
        if message.kind not in (Kind.ANSWER, Kind.ERROR):
            with self.idle:
                self._running += 1
            pool = self._requests if message.kind == Kind.CALL else self._answers
            pool.submit(lambda: self._serve(connection, message))
            return
        call = self._take(message.number)
        if call is not None:
            self._settle(call, lambda: self._finish(call, message))

    def _finish(self, call: _Call, message: Message) -> None:
        try:
            tensors = graphs.arrive(message.graph, call.to.id, message)
            value = pickling.unpack(message.data, tensors)
        except Exception as error:
            call.future.set_exception(error)
            return
        if message.kind == Kind.ERROR:
            call.future.set_exception(value.exception())
        else:
            call.future.set_result(value)

    def _lost(self, connection: Connection, error: BaseException) -> None:
        with self._connecting:
            if self._connections.get(connection.peer) is connection:
                del self._connections[connection.peer]
        for number, call in list(self._calls.items()):
            if call.connection is connection:
                self._end(number, error=_unreachable(call.to, error))

    # What others ask.

    def _serve(self, connection: Connection, message: Message) -> None:
        with graphs.within(message.graph):
            try:
                tensors = graphs.arrive(message.graph, connection.peer, message)
                value = pickling.unpack(message.data, tensors)
                result = handlers[message.kind](self, self.workers[connection.peer], value)
                del value, tensors
            except BaseException as error:
                self._answer(connection, message, error=error)
                return
        if isinstance(result, Future):
            result._when_done(lambda done: self._answer_later(connection, message, done))
        else:
            self._answer(connection, message, result)

    def _answer_later(self, connection: Connection, message: Message, done: Future[Any]) -> None:
        with graphs.within(message.graph):
            try:
                value = done.value()
            except BaseException as error:
                self._answer(connection, message, error=error)
            else:
                self._answer(connection, message, value)

    def _answer(self, connection: Connection, message: Message, value: Any = None, error: Any = None) -> None:
        try:
            with graphs.within(message.graph):
                try:
                    kind = Kind.ANSWER if error is None else Kind.ERROR
                    packed = pickling.pack(value if error is None else self._failure(error))
                    graph = graphs.leave(connection.peer, packed.tensors)
                except Exception as problem:
                    kind, graph = Kind.ERROR, None
                    packed = pickling.pack(self._failure(problem))
                del value
                connection.send(kind, message.number, graph, packed)
        except OSError:
            pass  # who asked is gone
        finally:
            with self.idle:
                self._running -= 1
                self.handled += 1
                self.idle.notify_all()

    def _failure(self, error: BaseException) -> Failure:
        text = "".join(traceback.format_exception(error))
        failure = Failure(type(error), f"On {self.worker}: {error!r}\n{text}")
        try:
            pickling.pack(failure)
        except Exception:
            return Failure(RuntimeError, failure.text)
        return failure

    def aside(self, job: Callable[[], None], graph: tuple[int, int] | None) -> None:
        """Runs ``job``, which raises nothing, as if somebody had asked for it."""

        def run() -> None:
            try:
                with graphs.within(graph):
                    job()
            finally:
                with self.idle:
                    self._running -= 1
                    self.idle.notify_all()

        with self.idle:
            self._running += 1
        self._requests.submit(run)

    # The end.

    def _has_ended(self, name: str) -> bool:
        """Whether nobody listens where the worker did."""
        for worker, address in zip(self.workers, self.addresses):
            if worker.name == name:
                return self._links.is_deserted(*address)
        return False

    def _changed(self) -> None:
        with self.idle:
            self.idle.notify_all()

    def wait_until_idle(self, deadline: float | None) -> bool:
        """Whether, before the deadline, there was nothing asked and nothing to answer."""
        left = None if deadline is None else deadline - time.monotonic()
        with self.idle:
            return self.idle.wait_for(lambda: not self._calls and not self._running, left)

    def under_way(self) -> str:
        """What this worker waits for, in words."""
        asked = sorted({call.to.name for call in list(self._calls.values())})
        if asked:
            return f"{self.worker.name} waits for answers from {', '.join(asked)}"
        return f"{self.worker.name} has calls of others to answer"

    def close(self) -> None:
        """Ends all connections. What waits for an answer is told so."""
        self.closed = True  # whoever is about to connect sees it
        self._links.close()
        for number in list(self._calls):
            self._end(number, error=RuntimeError("taeda.distributed.rpc: this worker has shut down"))
        self._requests.close()
        self._answers.close()


def _unreachable(to: WorkerInfo, error: BaseException) -> RuntimeError:
    return RuntimeError(f"taeda.distributed.rpc: {to} cannot be reached: {error}")
