"""How much the launcher says unless told."""

from __future__ import annotations

__all__ = ["get_log_level"]


def get_log_level() -> str:
    """``"WARNING"``."""
    return "WARNING"
