"""Where registrations come from, for error messages and ``explain``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

_OWN_FOLDER = os.path.dirname(os.path.dirname(__file__)) + os.sep


def caller() -> tuple[str, int]:
    """File and line of the nearest caller outside of Taeda."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FOLDER):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def location_of(function: Callable[..., Any]) -> str:
    """``file:line`` of a Python function; of the caller for anything else."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code else caller()
    return f"{file}:{line}"
