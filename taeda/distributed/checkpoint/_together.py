"""Steps that processes take together, one of them in the middle; what one raises, all raise."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from typing import Any

from taeda.distributed import _objects as objects
from taeda.distributed._queries import get_global_rank, get_rank, get_world_size
from taeda.distributed.checkpoint.api import CheckpointException

Failure = tuple[BaseException, traceback.StackSummary]


class _Failed:
    """What a step raised."""

    def __init__(self, error: BaseException) -> None:
        stack = traceback.extract_tb(error.__traceback__)
        try:
            pickle.dumps(error)
        except Exception:  # it is to reach the others
            error = RuntimeError(f"{type(error).__name__}: {error}")
        self.failure: Failure = error.with_traceback(None), stack


def _tried(step: Callable[..., Any], *args: Any) -> Any:
    try:
        return step(*args)
    except BaseException as error:
        return _Failed(error)


class Together:
    """The processes of ``group``; only this one without ``use_dist``."""

    def __init__(self, group: Any, use_dist: bool, coordinator_rank: int) -> None:
        self.group, self.use_dist, self.coordinator_rank = group, use_dist, coordinator_rank
        self.rank = get_rank(group) if use_dist else 0
        self.size = get_world_size(group) if use_dist else 1
        self.is_coordinator = self.rank == coordinator_rank

    def _root(self) -> int:
        return self.coordinator_rank if self.group is None else get_global_rank(self.group, self.coordinator_rank)

    def _gather(self, value: Any) -> list[Any] | None:
        if not self.use_dist:
            return [value]
        told: list[Any] | None = [None] * self.size if self.is_coordinator else None
        objects.gather_object(value, told, dst=self._root(), group=self.group)
        return told

    def _share(self, value: Any) -> Any:
        if not self.use_dist:
            return value
        told = [value]
        objects.broadcast_object_list(told, src=self._root(), group=self.group)
        return told[0]

    def reduce_scatter(self, step: str, local: Callable[[], Any], middle: Callable[[list[Any]], list[Any]]) -> Any:
        """Each process's part of what ``middle`` makes of all processes' ``local()``."""
        told = self._gather(_tried(local))
        made = self._in_the_middle(step, told, middle)
        if not self.use_dist:
            return self._checked(step, made)[0]
        if (failed := self._share(made if isinstance(made, CheckpointException) else None)) is not None:
            raise failed
        own = [None]
        objects.scatter_object_list(own, made, src=self._root(), group=self.group)
        return own[0]

    def all_reduce(self, step: str, local: Callable[[], Any], middle: Callable[[list[Any]], Any]) -> Any:
        """What ``middle`` makes of all processes' ``local()``, on all."""
        told = self._gather(_tried(local))
        return self._checked(step, self._share(self._in_the_middle(step, told, middle)))

    def broadcast(self, step: str, middle: Callable[[], Any]) -> Any:
        """What ``middle`` makes on the coordinator, on all."""
        made = self._in_the_middle(step, [None] if self.is_coordinator else None, lambda _: middle())
        return self._checked(step, self._share(made))

    def all_gather(self, step: str, local: Callable[[], Any]) -> list[Any]:
        """All processes' ``local()``, on all."""
        told: list[Any] = self.all_reduce(step, local, lambda values: values)
        return told

    def _in_the_middle(self, step: str, told: list[Any] | None, middle: Callable[[list[Any]], Any]) -> Any:
        if told is None:
            return None
        failures = {rank: one.failure for rank, one in enumerate(told) if isinstance(one, _Failed)}
        if not failures:
            made = _tried(middle, told)
            if not isinstance(made, _Failed):
                return made
            failures[self.rank] = made.failure
        return CheckpointException(step, failures)

    def _checked(self, step: str, value: Any) -> Any:
        if isinstance(value, CheckpointException):
            raise value
        return value
