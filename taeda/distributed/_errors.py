"""What goes wrong between processes."""

from __future__ import annotations

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError"]


class DistError(RuntimeError):
    """Something about a process group failed."""


class DistBackendError(DistError):
    """A backend failed."""


class DistNetworkError(DistError):
    """The network failed."""


class DistStoreError(DistError):
    """A store failed, or waited in vain."""
