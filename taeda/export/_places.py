"""Where in the user's program something happens."""

from __future__ import annotations

import linecache
import os
import sys
from types import FrameType
from typing import NamedTuple

import taeda

OWN_FOLDER = os.path.dirname(os.path.abspath(taeda.__file__)) + os.sep


class Place(NamedTuple):
    """A line of a program, and how it was reached."""

    file: str
    line: int
    outer: tuple[tuple[str, int, str], ...] = ()

    @property
    def text(self) -> str:
        """The line itself."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def trace(self) -> str:
        """The way there as Python prints it, innermost last."""
        lines = []
        for file, line, function in reversed(self.outer):
            text = linecache.getline(file, line).strip()
            lines.append(f'  File "{file}", line {line}, in {function}\n' + (f"    {text}\n" if text else ""))
        return "".join(lines)

    def __str__(self) -> str:
        return f"  {self.file}:{self.line}: {self.text}"


def user_place() -> Place:
    """The innermost line that is not of this library, and its callers up to the export."""
    frame = sys._getframe(1)
    found: list[tuple[str, int, str]] = []
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        if not name.startswith(OWN_FOLDER):
            found.append((name, frame.f_lineno, code.co_name))
        elif code.co_name == "run_recorded":
            break
        frame = frame.f_back  # type: ignore[assignment]
    if not found:
        return Place("<unknown>", 0)
    return Place(found[0][0], found[0][1], tuple(found))


_MODULES = os.path.join(OWN_FOLDER, "nn", "modules") + os.sep
_RECORDERS = tuple(os.path.join(OWN_FOLDER, name) for name in ("export", "fx", "_schema", "_library", "_control_flow"))


def library_call() -> FrameType | None:
    """The library's outermost function, below the program and modules, that is running; None where the program called
    an op."""
    frame: FrameType | None = sys._getframe(2)
    found = None
    while frame is not None and frame.f_code.co_filename.startswith(OWN_FOLDER):
        name = frame.f_code.co_filename
        if name.startswith(_MODULES):
            break
        if not name.startswith(_RECORDERS):
            found = frame
        frame = frame.f_back
    return found


_MACHINERY = tuple(
    os.path.join(OWN_FOLDER, *path)
    for path in (("export", "_capture.py"), ("fx", "experimental", "_recording.py"), ("_schema",))
)


def asked_by_library() -> bool:
    """Whether a condition on sizes that is being told of is one of this library, not of the program."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_MACHINERY):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and frame.f_code.co_filename.startswith(OWN_FOLDER)
