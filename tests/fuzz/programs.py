"""Runs small programs that are to end well whatever they do to themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def run_program(text: str, seconds: float, arguments: tuple[str, ...] = ()) -> tuple[int | None, str]:
    """The exit status (None: it had to be ended) and what the program said last; its processes are gone after it."""
    child = subprocess.Popen(
        [sys.executable, "-c", text, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", stdin=subprocess.DEVNULL, start_new_session=True,
        env=os.environ | {"OMP_NUM_THREADS": "2"},
    )  # fmt: skip
    try:
        said, _ = child.communicate(timeout=seconds)
        status: int | None = child.returncode
    except subprocess.TimeoutExpired:
        status, said = None, ""
    left = _members(child.pid) if status is None else _still_there(child.pid)
    for process in left:
        os.kill(process, signal.SIGKILL)
    if status is None:
        return None, child.communicate()[0][-1500:]
    return (status, said[-1500:]) if not left else (None, f"{said[-1000:]}\n{len(left)} processes stayed behind")


def _still_there(session: int, seconds: float = 10) -> list[int]:
    """Processes of the session after a while in which they may notice that their parent is gone."""
    end = time.monotonic() + seconds
    while (found := _members(session)) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def _members(session: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(folder.name))
    return found
