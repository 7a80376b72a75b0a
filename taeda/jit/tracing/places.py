"""The line of the user's program that a call comes from."""

from __future__ import annotations

import functools
import linecache
import os
import sys
from types import FrameType

import taeda
from taeda import Tensor
from taeda.jit.source import Source, SourceRange

_OWN = os.path.dirname(os.path.abspath(taeda.__file__)) + os.sep


@functools.lru_cache(1000)
def _line(file: str, number: int) -> Source:
    return Source(linecache.getline(file, number).rstrip("\n"), file, number)


def _user_frame() -> FrameType | None:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    return frame


def user_name(tensor: Tensor) -> str | None:
    """What a tensor is called in the innermost function outside of this library; None if it has no name there."""
    frame = _user_frame()
    return None if frame is None else next((n for n, held in frame.f_locals.items() if held is tensor), None)


def user_place() -> SourceRange | None:
    """The innermost line outside of this library."""
    frame = _user_frame()
    return None if frame is None else place_in(frame.f_code.co_filename, frame.f_lineno)


def place_in(file: str, number: int) -> SourceRange:
    """A whole line of a file."""
    source = _line(file, number)
    return SourceRange(source, len(source.text) - len(source.text.lstrip()), len(source.text))
