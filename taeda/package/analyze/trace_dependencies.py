"""What modules a call runs code of."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any


def trace_dependencies(callable: Callable[[Any], Any], inputs: Iterable[tuple[Any, ...]]) -> list[str]:
    """The modules whose functions a callable runs, as a guess at what its package needs.

    Args:
        callable: what to call.
        inputs: the arguments of each call.
    """
    used: set[str] = set()

    def note(frame: Any, event: str, arg: Any) -> None:
        of = frame.f_globals.get("__name__") if event == "call" else getattr(arg, "__module__", None)
        if event in ("call", "c_call") and of:
            used.add(of)

    before = sys.getprofile()
    try:
        sys.setprofile(note)
        for args in inputs:
            callable(*args)
    finally:
        sys.setprofile(before)
    return sorted(used)
