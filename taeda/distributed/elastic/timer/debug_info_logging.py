"""What is logged of timers that have run out."""

from __future__ import annotations

import logging

__all__ = ["log_debug_info_for_expired_timers"]

_log = logging.getLogger(__name__)


def log_debug_info_for_expired_timers(run_id: str, expired_timers: dict[int, list[str]]) -> None:
    """Tells which timers of which processes ran out in the job ``run_id``."""
    if expired_timers:
        _log.info("job %s: timers have run out, by process: %s", run_id, expired_timers)
