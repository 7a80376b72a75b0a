"""The names that the system shows for threads."""

from __future__ import annotations

import threading
from pathlib import Path


def _file() -> Path:
    return Path(f"/proc/self/task/{threading.get_native_id()}/comm")


def _set_thread_name(name: str) -> None:
    """Names this thread for ``top``, ``ps`` and debuggers; the system keeps 15 bytes of a name."""
    _file().write_bytes(name.encode()[:15])


def _get_thread_name() -> str:
    """This thread's name."""
    return _file().read_bytes().removesuffix(b"\n").decode(errors="replace")
