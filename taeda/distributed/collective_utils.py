"""Collectives of values or of functions that make them, in which a failure of one process is raised on all."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import taeda.distributed as dist


@dataclass
class SyncPayload:
    """What a process tells the others: a value, or what went wrong. ``stage_name``: at what."""

    stage_name: str | None
    success: bool
    payload: Any
    exception: Exception | None = None


def _made(data_or_fn: Any, stage_name: str | None, success: bool = True) -> SyncPayload:
    try:
        return SyncPayload(stage_name, success, data_or_fn() if callable(data_or_fn) else data_or_fn)
    except Exception as error:
        return SyncPayload(stage_name, False, None, error)


def _sendable(told: SyncPayload) -> SyncPayload:
    """The same, with an exception that can be pickled."""
    try:
        pickle.dumps(told.exception)
    except Exception:
        return SyncPayload(told.stage_name, False, None, RuntimeError(repr(told.exception)))
    return told


def _checked(told: SyncPayload, name: str, rank: int) -> Any:
    if told.success:
        return told.payload
    at = "" if told.stage_name is None else f" at {told.stage_name}"
    raise RuntimeError(
        f"taeda.distributed.collective_utils.{name}: rank {rank} failed{at}: {told.exception}"
    ) from told.exception


def broadcast(
    data_or_fn: Any | Callable[[], Any],
    *,
    success: bool = True,
    stage_name: str | None = None,
    rank: int = 0,
    pg: dist.ProcessGroup | None = None,
) -> Any:
    """The value of ``rank``, on every process of the group; there, a function is called for it.

    Raises:
        RuntimeError: it raised there, or ``success`` was false there.
    """
    told = [SyncPayload(stage_name, False, None)]
    if pg is None or pg.rank() == rank:
        told = [_sendable(_made(data_or_fn, stage_name, success))]
    if pg is not None:
        dist.broadcast_object_list(told, dist.get_global_rank(pg, rank), pg)
    return _checked(told[0], "broadcast", rank)


def all_gather(
    data_or_fn: Any | Callable[[], Any], stage_name: str | None = None, pg: dist.ProcessGroup | None = None
) -> list[Any]:
    """The values of all processes of the group, on each; functions are called for theirs.

    Raises:
        RuntimeError: one raised.
    """
    own = _sendable(_made(data_or_fn, stage_name))
    told = [own]
    if pg is not None:
        told = [own] * pg.size()
        dist.all_gather_object(told, own, pg)
    return [_checked(one, "all_gather", rank) for rank, one in enumerate(told)]


def all_gather_object_enforce_type(
    pg: dist.ProcessGroup, object_list: list[Any], obj: Any,
    type_checker: Callable[[Any, Any], bool] = lambda x, y: type(x) is type(y),
) -> None:  # fmt: skip
    """`all_gather_object` of values that are to be alike.

    Raises:
        TypeError: neighbours in the list are not.
    """
    dist.all_gather_object(object_list, obj, pg)
    for first, second in zip(object_list, object_list[1:]):
        if not type_checker(first, second):
            raise TypeError(
                "taeda.distributed.collective_utils.all_gather_object_enforce_type: ranks gave values of types "
                f"{[type(one).__name__ for one in object_list]}"
            )
