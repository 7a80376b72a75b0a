"""The switch of the quick way of attention in evaluation, which drops padding; see `taeda.nn.TransformerEncoder`."""

from __future__ import annotations

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_enabled = True


def get_fastpath_enabled() -> bool:
    """Whether the quick way may be taken; True at first."""
    return _enabled


def set_fastpath_enabled(value: bool) -> None:
    global _enabled
    _enabled = value
