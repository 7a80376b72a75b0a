"""The logger of process groups, and decorators that note calls in it."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from typing import Any, TypeVar

import taeda.distributed as dist
from taeda.distributed.distributed_c10d import _get_process_group_name

__all__: list[str] = []
_F = TypeVar("_F", bound=Callable[..., Any])


def _get_or_create_logger(destination: str = "default") -> logging.Logger:
    """A logger that prints nothing of itself; handlers may be added."""
    logger = logging.getLogger(f"c10d-{destination}")
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


_c10d_logger = _get_or_create_logger()


def _get_msg_dict(func_name: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Which call, and of which group."""
    about: dict[str, Any] = {"func_name": func_name}
    if dist.is_initialized():
        group = kwargs.get("group") or kwargs.get("process_group")
        about |= {
            "pg_name": str(_get_process_group_name(group) if group else None),
            "backend": str(dist.get_backend(group)),
            "world_size": str(dist.get_world_size()),
            "group_size": str(dist.get_world_size(group)),
            "global_rank": str(dist.get_rank()),
            "local_rank": str(dist.get_rank(group)),
        }
    return about


def _exception_logger(func: _F) -> _F:
    """Notes calls that raise."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return func(*args, **kwargs)
        except Exception as error:
            _c10d_logger.debug(_get_msg_dict(func.__name__, *args, **kwargs) | {"error": str(error)})
            raise

    return call  # type: ignore[return-value]


def _time_logger(func: _F) -> _F:
    """Notes how long calls take."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter_ns()
        result = func(*args, **kwargs)
        spent = {"time_spent": f"{time.perf_counter_ns() - start}ns"}
        _c10d_logger.debug(_get_msg_dict(func.__name__, *args, **kwargs) | spent)
        return result

    return call  # type: ignore[return-value]
