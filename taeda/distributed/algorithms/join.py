"""``Join``: training goes on until the process with the most batches is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import taeda
import taeda.distributed as dist

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a process that has no batches left does while others go on, and once all are done."""

    def main_hook(self) -> None:
        """Called again and again, in the place of what the others do in an iteration."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called once all are done; ``is_last_joiner`` if this process was among the last."""


class Joinable(ABC):
    """What can take part in a `Join`."""

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._joined_in: Join | None = None

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Made of the keyword arguments of `Join`."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """Where its collectives run."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The group of its collectives."""


class Join:
    """A context in which processes may have different numbers of batches.

    A process that has none left takes the part of nobody in what the others do, until all are done.

    Args:
        joinables: what takes part, of one group and one device.
        enable: False for a context that does nothing.
        throw_on_early_termination: raise on all processes once one has no batches left.

    Raises:
        ValueError: nothing takes part, or groups or devices differ.
    """

    def __init__(
        self, joinables: list[Joinable], enable: bool = True, throw_on_early_termination: bool = False, **kwargs: Any
    ) -> None:
        if not joinables:
            raise ValueError("taeda.distributed.algorithms.Join: at least one joinable is needed")
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        groups = {joinable.join_process_group for joinable in joinables}
        devices = {str(joinable.join_device) for joinable in joinables}
        if len(groups) > 1 or len(devices) > 1:
            raise ValueError(
                "taeda.distributed.algorithms.Join: the joinables are of different process groups, or on different "
                f"devices: {sorted(devices)}"
            )
        self._group, self._device = groups.pop(), joinables[0].join_device
        self._joinables = joinables
        self.present: Any = None  # how many processes go on: a tensor, once the work of asking is done
        self._enable = enable
        self._throw_on_early_termination = throw_on_early_termination

    def __enter__(self) -> None:
        for joinable in self._joinables:
            joinable._joined_in = self if self._enable else None

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        for joinable in self._joinables:
            joinable._joined_in = None
        if not self._enable or error is not None:
            return
        last = True
        while self._count(0):
            last = False
            if self._throw_on_early_termination:
                self._flag(1)
                raise RuntimeError(
                    f"taeda.distributed.algorithms.Join: process {dist.get_rank(self._group)} has no inputs left"
                )
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(last)

    def _count(self, own: int) -> int:
        """How many processes go on."""
        ones = taeda.full((1,), own, device=self._device)
        dist.all_reduce(ones, group=self._group)
        return int(ones)

    _flag = _count  # the second question of a round: whether anybody has ended

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Any:
        """To be called before an iteration's first collective: tells the others that this process goes on.

        Gives the `Work` of that, and None outside of an enabled context and for all but its first joinable.

        Raises:
            RuntimeError: another process has no inputs left, and that was to end all.
        """
        context = joinable._joined_in
        if context is None or joinable is not context._joinables[0]:
            return None
        context.present = taeda.ones(1, dtype=taeda.int64, device=context._device)
        work = dist.all_reduce(context.present, group=context._group, async_op=True)
        if context._throw_on_early_termination and context._flag(0):
            raise RuntimeError("taeda.distributed.algorithms.Join: another process has no inputs left")
        return work
