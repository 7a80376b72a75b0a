"""How long a group waits for its processes unless told otherwise."""

from __future__ import annotations

from datetime import timedelta

__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]

default_pg_timeout = timedelta(minutes=30)
default_pg_nccl_timeout: timedelta | None = None  # there is no NCCL
