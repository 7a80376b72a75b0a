"""Shared memory by names in /dev/shm, for the strategy ``file_system``.

Every holder of the memory has a name (a hard link) of its own and removes it with its storage; a message makes a name
for its receiver. So the kernel counts the users. What a killed process leaves behind the standard library's resource
tracker removes, at the latest when all processes have ended.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import weakref
from multiprocessing import resource_tracker, util
from typing import Any

_FOLDER = "/dev/shm"
_PREFIX = "taeda_"


def new_path() -> str:
    """A name that no file has."""
    return f"{_FOLDER}/{_PREFIX}{os.getpid()}_{secrets.token_hex(8)}"


def is_ours(path: str | None) -> bool:
    """Whether the file is one of these."""
    return path is not None and path.startswith(f"{_FOLDER}/{_PREFIX}")


# A fork while another thread speaks to the tracker copies its lock as taken, by a thread that the child does not have.
os.register_at_fork(after_in_child=resource_tracker._resource_tracker._lock._at_fork_reinit)  # type: ignore[attr-defined]


def start_tracker() -> None:
    """Starts the tracker; processes that are forked later then have the same."""
    resource_tracker.ensure_running()


def _tracker() -> int:
    """What tells this process's tracker from others: the number of the pipe to it."""
    start_tracker()
    return os.fstat(int(resource_tracker.getfd() or 0)).st_ino


def _register(path: str) -> int:
    resource_tracker.register(path.removeprefix(_FOLDER), "shared_memory")
    return _tracker()


def drop(path: str, tracker: int) -> None:
    """Removes a name."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    if tracker == _tracker():
        resource_tracker.unregister(path.removeprefix(_FOLDER), "shared_memory")


class _Names:
    """The names that this process holds, each with the tracker that knows it."""

    def __init__(self) -> None:
        self.begin()
        self.drop_at_exit()
        os.register_at_fork(after_in_child=self.begin)
        util.register_after_fork(self, _Names.drop_at_exit)  # the library forgets in each process what it was told

    def begin(self) -> None:
        """Starts anew: a fork has none of its parent's names."""
        self.held: dict[str, int] = {}
        self.process = os.getpid()

    def drop_at_exit(self) -> None:
        """Has this process remove its names when it ends."""
        util.Finalize(None, self.drop_all, exitpriority=0)

    def drop(self, path: str, process: int) -> None:
        """Removes a name, in the process that holds it and not in its forks."""
        tracker = self.held.pop(path, None)
        if tracker is not None and process == self.process:
            drop(path, tracker)

    def drop_all(self) -> None:
        """Removes all names."""
        for path in list(self.held):
            self.drop(path, self.process)


_names = _Names()


def own(storage: Any, path: str, tracker: int | None = None) -> None:
    """The name goes with ``storage``, or with this process."""
    _names.held[path] = _register(path) if tracker is None else tracker
    weakref.finalize(storage, _names.drop, path, _names.process).atexit = False


def for_receiver(path: str) -> tuple[str, int]:
    """Another name of the file, for one receiver, and the tracker that knows it.

    Raises:
        RuntimeError: the process that made the memory has let it go, and this one has no name for it.
    """
    name = new_path()
    try:
        os.link(path, name)
    except FileNotFoundError:
        raise RuntimeError(
            f"taeda.multiprocessing: the shared memory {path} has lost its name: the process that this one was forked "
            "from let it go. Keep the tensor there, or send a clone()"
        ) from None
    return name, _register(name)
