"""What a worker does besides: to know the others, to wait for them, and to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from taeda.distributed.rpc import _references as references
from taeda.distributed.rpc import constants
from taeda.distributed.rpc._agent import Agent
from taeda.distributed.rpc._calls import _wait_all as _wait_all
from taeda.distributed.rpc._calls import rpc_async as rpc_async
from taeda.distributed.rpc._calls import rpc_sync as rpc_sync
from taeda.distributed.rpc._calls import this_agent, worker_of
from taeda.distributed.rpc._worker_info import WorkerInfo
from taeda.distributed.rpc.rref import remote as remote

__all__ = ["get_rpc_timeout", "get_worker_info", "remote", "rpc_async", "rpc_sync", "shutdown"]

_UNSET = constants.UNSET_RPC_TIMEOUT
_ignore_rref_leak = True  # without meaning: references that are left are deleted at the end


def get_worker_info(worker_name: str | None = None) -> WorkerInfo:
    """The worker of that name; without one, this process.

    Raises:
        RuntimeError: there is none.
    """
    agent = this_agent()
    return agent.worker if worker_name is None else worker_of(agent, worker_name)


def get_rpc_timeout() -> float:
    """Seconds after which a call fails if it does not say otherwise."""
    return this_agent().rpc_timeout


def _set_rpc_timeout(rpc_timeout: float) -> None:
    """Sets what `get_rpc_timeout` tells."""
    this_agent().rpc_timeout = rpc_timeout


def enable_gil_profiling(flag: bool) -> None:
    """Without effect: no lock of the interpreter is measured."""
    this_agent()


def _names(worker_names: Sequence[str] | None) -> list[str]:
    return [worker.name for worker in this_agent().workers] if worker_names is None else list(worker_names)


def _all_gather(obj: Any, worker_names: Sequence[str] | None = None, timeout: float = _UNSET) -> dict[str, Any]:
    """Each worker's object, by name; all of them call this."""
    agent = this_agent()
    return agent.meeting.gather(obj, _names(worker_names), agent.rpc_timeout if timeout == _UNSET else timeout)


def _barrier(worker_names: Sequence[str]) -> None:
    """Waits for the others."""
    _all_gather(None, worker_names)


def _wait_all_workers(timeout: float = constants.DEFAULT_SHUTDOWN_TIMEOUT, deadline: float | None = None) -> None:
    """Waits until no worker has anything to ask or to answer; at most ``timeout`` seconds, or to the ``deadline``."""
    agent = this_agent()
    if deadline is None and timeout:
        deadline = time.monotonic() + timeout
    before: Any = None
    while True:
        if not agent.wait_until_idle(deadline):
            raise RuntimeError(f"taeda.distributed.rpc.shutdown: timed out after {timeout:g} s: {agent.under_way()}")
        left = 0 if deadline is None else max(0.001, deadline - time.monotonic())
        counts = agent.meeting.gather((agent.sent, agent.handled), _names(None), left)
        sent, handled = (sum(values) for values in zip(*counts.values()))
        if sent == handled and counts == before:
            return
        before = counts


def shutdown(graceful: bool = True, timeout: float = constants.DEFAULT_SHUTDOWN_TIMEOUT) -> None:
    """Ends this worker: a graceful one waits until no worker has calls under way and the others end, too.

    Args:
        timeout: seconds for that; 0 for no end.

    Raises:
        RuntimeError: this process is no worker, or others took longer, or have died; it names them.
    """
    context = references.current()
    agent = context.agent
    deadline = time.monotonic() + timeout if timeout else None
    try:
        if graceful:
            _wait_all_workers(timeout, deadline)
            context.drain(deadline)
            _wait_all_workers(timeout, deadline)
    finally:
        references.set_current(None)
        context.stop()
        agent.close()
    if graceful:
        agent.meeting.leave(_names_of(agent), agent.worker.id == 0)


def _names_of(agent: Agent) -> list[str]:
    return [worker.name for worker in agent.workers]


def _require_initialized(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which raises RuntimeError where the process is no worker."""

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        this_agent()
        return func(*args, **kwargs)

    return wrapper


def _is_current_rpc_agent_set() -> bool:
    return references._current is not None


def _get_current_rpc_agent() -> Agent:
    return this_agent()


def _rref_context_get_debug_info() -> dict[str, str]:
    """How many objects and references there are, as text."""
    context = references.current()
    return {
        "num_owner_rrefs": str(len(context.owned)),
        "num_forks": str(sum(len(owned.forks) for owned in list(context.owned.values()))),
        "num_pending_users": str(len(context.unconfirmed)),
        "num_pending_futures": str(sum(not owned.value.done() for owned in list(context.owned.values()))),
    }
