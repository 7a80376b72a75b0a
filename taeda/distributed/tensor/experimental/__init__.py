"""What may change."""

from __future__ import annotations

from taeda.distributed.tensor._special import implicit_replication as implicit_replication

__all__ = ["implicit_replication"]
