"""Where events go."""

from __future__ import annotations

import logging

__all__ = ["get_logging_handler", "log_handlers"]

log_handlers: dict[str, logging.Handler] = {
    "console": logging.StreamHandler(),
    "dynamic_rendezvous": logging.NullHandler(),
    "null": logging.NullHandler(),
}


def get_logging_handler(destination: str = "null") -> logging.Handler:
    """Who takes the events for ``"console"``, ``"null"``, or what a program put into `log_handlers`."""
    return log_handlers[destination]
