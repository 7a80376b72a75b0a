"""What schedules of others are built of."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from taeda.optim._schedules.base import LRScheduler, write_option
from taeda.optim.optimizer import Optimizer

__all__ = ["Optimizer", "_enable_get_lr_call", "_initial_mode", "_update_param_group_val"]


class _Mark:
    """A block in which an attribute of a schedule is True."""

    name: str

    def __init__(self, o: LRScheduler) -> None:
        self.o = o

    def __enter__(self) -> _Mark:
        setattr(self.o, self.name, True)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        setattr(self.o, self.name, False)


class _enable_get_lr_call(_Mark):
    """In the block ``get_lr()`` does not warn that it is called outside of a step."""

    name = "_get_lr_called_within_step"


class _initial_mode(_Mark):
    """The block is the schedule's first step, in its constructor."""

    name = "_is_initial"


def _update_param_group_val(param_group: dict[str, Any], key: str, val: Any) -> None:
    """Sets an option of a group, a tensor in place."""
    write_option(param_group, key, val)
