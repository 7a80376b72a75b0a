"""Loggers, whose level LOGLEVEL sets."""

from __future__ import annotations

import logging
import os
import sys

from taeda.distributed.elastic.utils.log_level import get_log_level

__all__ = ["get_logger"]


def get_logger(name: str | None = None) -> logging.Logger:
    """The logger of that name, of the calling module without; LOGLEVEL sets its level, WARNING by default."""
    if name is None:
        name = str(sys._getframe(1).f_globals.get("__name__", "taeda"))
    logger = logging.getLogger(name)
    logger.setLevel(os.environ.get("LOGLEVEL", get_log_level()))
    return logger
