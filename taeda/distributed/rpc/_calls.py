"""Calls of functions on other workers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from taeda.distributed.rpc import _references as references
from taeda.distributed.rpc import constants
from taeda.distributed.rpc._agent import Agent, handles
from taeda.distributed.rpc._wire import Kind
from taeda.distributed.rpc._worker_info import WorkerInfo
from taeda.distributed.rpc.functions import Later
from taeda.futures import Future, wait_all

To = str | WorkerInfo | int
_UNSET = constants.UNSET_RPC_TIMEOUT
_thread = threading.local()


def rpc_sync(
    to: To, func: Callable[..., Any], args: Sequence[Any] | None = None, kwargs: dict[str, Any] | None = None,
    timeout: float = _UNSET,
) -> Any:  # fmt: skip
    """``func(*args, **kwargs)`` on another worker: its result, once it is there.

    Functions go by their name, arguments and results as copies.

    Args:
        to: the worker's name, number or `WorkerInfo`.
        timeout: seconds; 0 for no end, and by default ``rpc_timeout`` of the options.

    Raises:
        RuntimeError: the worker is not known, cannot be reached or did not answer in time.
        ValueError: ``to`` is no worker.
        Exception: what the function raised, with the traceback from there as its text.
    """
    agent = this_agent()
    return agent.ask(worker_of(agent, to), Kind.CALL, _checked(func, args, kwargs), timeout)


def rpc_async(
    to: To, func: Callable[..., Any], args: Sequence[Any] | None = None, kwargs: dict[str, Any] | None = None,
    timeout: float = _UNSET,
) -> Future[Any]:  # fmt: skip
    """Like `rpc_sync`, but gives a future of the result at once."""
    agent = this_agent()
    future = agent.call(worker_of(agent, to), Kind.CALL, _checked(func, args, kwargs), timeout)
    if (started := getattr(_thread, "started", None)) is not None:
        started.append(future)
    return future


def _checked(func: Any, args: Sequence[Any] | None, kwargs: dict[str, Any] | None) -> tuple[Any, ...]:
    if not callable(func):
        raise TypeError(f"taeda.distributed.rpc: func is wanted as a function; got {func!r}")
    return func, tuple(args or ()), kwargs or {}


def this_agent() -> Agent:
    """This process's.

    Raises:
        RuntimeError: it is no worker.
    """
    return references.current().agent


def worker_of(agent: Agent, to: Any) -> WorkerInfo:
    """The worker of that name or number.

    Raises:
        RuntimeError: there is none.
        ValueError: ``to`` is neither.
    """
    if isinstance(to, WorkerInfo):
        to = to.id
    if isinstance(to, str):
        found = next((worker for worker in agent.workers if worker.name == to), None)
    elif isinstance(to, int):
        found = agent.workers[to] if 0 <= to < len(agent.workers) else None
    else:
        raise ValueError(f"taeda.distributed.rpc: a worker is wanted as its name, number or WorkerInfo; got {to!r}")
    if found is None:
        names = ", ".join(worker.name for worker in agent.workers)
        raise RuntimeError(f"taeda.distributed.rpc: could not find destination {to!r}; there are {names}")
    return found


@handles(Kind.CALL)
def run_call(agent: Agent, sender: WorkerInfo, call: Any) -> Any:
    """What a call gives; a future where it says so."""
    func, args, kwargs = call
    result = func(*args, **kwargs)
    if hasattr(func, "_wrapped_async_rpc_function"):
        result = Later(result)
    return result.checked() if isinstance(result, Later) else result


@contextlib.contextmanager
def _wait_all() -> Iterator[None]:
    """A scope that waits, at its end, for all calls that `rpc_async` began in it."""
    _thread.started = []
    try:
        yield
    finally:
        started, _thread.started = _thread.started, None
        wait_all(started)
