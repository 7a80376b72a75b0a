"""The groups that this process is in, and what stands for one that it is not in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from taeda.distributed._backend import BackendConfig
from taeda.distributed._backend_class import ProcessGroup as ProcessGroup
from taeda.distributed._work import Work as Work
from taeda.distributed.constants import default_pg_timeout

__all__ = ["GroupMember", "ProcessGroup", "Work", "group"]

for _kind in (ProcessGroup, Work):
    _kind.__module__ = "taeda.distributed.distributed_c10d"


class Made(NamedTuple):
    """How a group was made."""

    backend: str
    config: BackendConfig
    ranks: list[int]  # the global rank of each of its processes
    store: Any = None
    timeout: timedelta = default_pg_timeout


class World:
    """The groups of this process, and how each was made."""

    def __init__(self) -> None:
        self.default: ProcessGroup | None = None
        self.store: Any = None
        self.groups: dict[ProcessGroup, Made] = {}
        self.made = 0  # destroyed ones too
        self.local: dict[str, int] = {}  # how many were made by their members alone, by members


world = World()


class _WithWorld(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes; None before ``init_process_group``."""
        return world.default

    @WORLD.setter
    def WORLD(cls, value: ProcessGroup | None) -> None:
        world.default = value


class group(metaclass=_WithWorld):
    """``group.WORLD``: the group of all processes."""


class GroupMember(metaclass=_WithWorld):
    """``GroupMember.NON_GROUP_MEMBER`` stands for a group that this process is not in."""

    NON_GROUP_MEMBER = -100
