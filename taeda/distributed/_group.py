"""The groups that this process is in, and what stands for one that it is not in."""

from __future__ import annotations

import threading
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
    tag: str = ""  # under which a program asks for it


class World:
    """The groups of this process, and how each was made."""

    def __init__(self, engine: Any = None) -> None:
        self.engine = engine  # what makes a group's backend in place of the usual one
        self.default: ProcessGroup | None = None
        self.store: Any = None
        self.groups: dict[ProcessGroup, Made] = {}
        self.made = 0  # destroyed ones too
        self.local: dict[str, int] = {}  # how many were made by their members alone, by members


class _Worlds(threading.local):
    own: World | None = None


class _Current:
    """The process's `World`, or in a thread that plays a rank that rank's."""

    def __init__(self) -> None:
        object.__setattr__(self, "_process", World())
        object.__setattr__(self, "_threads", _Worlds())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._threads.own or self._process, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._threads.own or self._process, name, value)

    def clear(self) -> None:
        """Forgets all groups."""
        (self._threads.own or self._process).__init__()

    def enter(self, own: World | None) -> None:
        """Has this thread be a rank of its own; None makes it the process's again."""
        self._threads.own = own


world = _Current()


class _WithWorld(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes; None before ``init_process_group``."""
        return world.default  # type: ignore[no-any-return]

    @WORLD.setter
    def WORLD(cls, value: ProcessGroup | None) -> None:
        world.default = value


class group(metaclass=_WithWorld):
    """``group.WORLD``: the group of all processes."""


class GroupMember(metaclass=_WithWorld):
    """``GroupMember.NON_GROUP_MEMBER`` stands for a group that this process is not in."""

    NON_GROUP_MEMBER = -100
