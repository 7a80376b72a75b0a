"""The old home of a name that `taeda.library` has today: rules for fake tensors written for it import this module."""

from __future__ import annotations

from taeda.library import get_ctx

__all__ = ["get_ctx"]
