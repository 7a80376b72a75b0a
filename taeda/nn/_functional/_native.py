"""Natives by name. A build may leave ops out; then the function is there and says so when it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import _C
from taeda._main import left_out


def native(name: str, room: str = "_functions") -> Callable[..., Any]:
    """``_C.<room>.<name>``, or a function that raises RuntimeError if this build lacks it."""
    found = getattr(getattr(_C, room), name, None)
    if found is not None:
        return found

    def missing(*args: Any, **kwargs: Any) -> Any:
        why = left_out.hint(name) or f"this build of Taeda has no op '{name}'"
        raise RuntimeError(f"taeda.nn.functional.{name}: {why}")

    missing.__name__ = missing.__qualname__ = name
    return missing
