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

    Args:
        joinables: what takes part, of one group.
        enable: False for a context that does nothing.
        throw_on_early_termination: raise on all processes once one has no batches left.

    Raises:
        ValueError: nothing takes part, or the groups differ.
    """

    def __init__(
        self, joinables: list[Joinable], enable: bool = True, throw_on_early_termination: bool = False, **kwargs: Any
    ) -> None:
        if not joinables:
            raise ValueError("taeda.distributed.algorithms.Join: at least one joinable is needed")
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        if len({joinable.join_process_group for joinable in joinables}) > 1:
            raise ValueError("taeda.distributed.algorithms.Join: the joinables are of different process groups")
        self._joinables = joinables
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
        # A process on its own is the last one that joins: the main hooks are for those that wait for others.
        for hook in self._hooks:
            hook.post_hook(True)

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Any:
        """To be called before an iteration's first collective: tells the others that this process goes on.

        Gives the `Work` of that, and None outside of an enabled context and for all but its first joinable.
        """
        context = joinable._joined_in
        if context is None or joinable is not context._joinables[0]:
            return None
        ones = taeda.ones(1, device=joinable.join_device)
        return dist.all_reduce(ones, group=joinable.join_process_group, async_op=True)
