"""Process groups, and the work that they do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

import taeda
from taeda.distributed._backend import BackendConfig
from taeda.futures import Future

__all__ = ["GroupMember", "ProcessGroup", "Work", "group"]


class ProcessGroup:
    """Some of the processes: as of now this one alone. Made by ``init_process_group`` and ``new_group``."""

    def __init__(self, rank: int, size: int) -> None:
        self._rank = rank
        self._size = size
        self.group_name = ""
        self.group_desc = "undefined"
        self.bound_device_id: taeda.device | None = None

    def rank(self) -> int:
        """This process's number in the group."""
        return self._rank

    def size(self) -> int:
        """How many processes there are."""
        return self._size

    def name(self) -> str:
        """The backend's name."""
        return world.groups[self].backend

    def __deepcopy__(self, memo: Any) -> ProcessGroup:
        return self


class Work:
    """A collective under way. In a group of one it is done before the caller gets it."""

    def __init__(self, result: list[Any]) -> None:
        self._result = result

    def wait(self, timeout: timedelta | None = None) -> bool:
        """True, once it is done."""
        return True

    def is_completed(self) -> bool:
        return True

    def is_success(self) -> bool:
        return True

    def exception(self) -> BaseException | None:
        """What went wrong; None if nothing did."""
        return None

    def synchronize(self) -> None:
        """Orders the device's later work behind this; on a CPU there is nothing to order."""

    def result(self) -> list[Any]:
        """The tensors that it wrote."""
        return self._result

    def get_future(self) -> Future[list[Any]]:
        """A future of `result`."""
        future: Future[list[Any]] = Future()
        future.set_result(self._result)
        return future

    def source_rank(self) -> int:
        raise RuntimeError("taeda.distributed.Work.source_rank: only a receive has one")


class Made(NamedTuple):
    """How a group was made."""

    backend: str
    config: BackendConfig
    ranks: list[int]  # the global rank of each of its processes


class World:
    """The groups of this process, and how each was made."""

    def __init__(self) -> None:
        self.default: ProcessGroup | None = None
        self.store: Any = None
        self.groups: dict[ProcessGroup, Made] = {}
        self.made = 0  # destroyed ones too


world = World()


class _WithWorld(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes; None before ``init_process_group``."""
        return world.default


class group(metaclass=_WithWorld):
    """``group.WORLD``: the group of all processes."""


class GroupMember(metaclass=_WithWorld):
    """``GroupMember.NON_GROUP_MEMBER`` stands for a group that this process is not in."""

    NON_GROUP_MEMBER = -100
