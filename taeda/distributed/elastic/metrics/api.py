"""Numbers that a job tells of itself."""

from __future__ import annotations

import abc
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

__all__ = [
    "ConsoleMetricHandler", "MetricData", "MetricHandler", "MetricStream", "MetricsConfig", "NullMetricHandler",
    "configure", "getStream", "get_elapsed_time_ms", "prof", "profile", "publish_metric", "put_metric",
]  # fmt: skip


class MetricData(NamedTuple):
    """A number, in which group and under which name, and when (seconds since 1970)."""

    timestamp: float
    group_name: str
    name: str
    value: float


class MetricsConfig:
    """Settings for a handler."""

    __slots__ = ("params",)

    def __init__(self, params: dict[str, str] | None = None) -> None:
        self.params = params or {}


class MetricHandler(abc.ABC):
    """Takes numbers."""

    @abc.abstractmethod
    def emit(self, metric_data: MetricData) -> None:
        """Takes one."""


class ConsoleMetricHandler(MetricHandler):
    """Prints them."""

    def emit(self, metric_data: MetricData) -> None:
        print(f"[{metric_data.timestamp}][{metric_data.group_name}]: {metric_data.name}={metric_data.value}")


class NullMetricHandler(MetricHandler):
    """Drops them."""

    def emit(self, metric_data: MetricData) -> None:
        pass


class MetricStream:
    """A group's way to its handler."""

    def __init__(self, group_name: str, handler: MetricHandler) -> None:
        self.group_name = group_name
        self.handler = handler

    def add_value(self, metric_name: str, metric_value: float) -> None:
        """Sends a number."""
        self.handler.emit(MetricData(time.time(), self.group_name, metric_name, metric_value))


_handlers: dict[str, MetricHandler] = {}
_default: list[MetricHandler] = [NullMetricHandler()]


def configure(handler: MetricHandler, group: str | None = None) -> None:
    """Has ``handler`` take a group's numbers; those of all groups without one of their own if ``group`` is None."""
    if group is None:
        _default[0] = handler
    else:
        _handlers[group] = handler


def getStream(group: str) -> MetricStream:
    """The stream of a group."""
    return MetricStream(group, _handlers.get(group, _default[0]))


def _name(fn: Callable[..., Any]) -> str:
    names = fn.__qualname__.split(".")
    return fn.__name__ if len(names) == 1 else ".".join(names[-2:])


def prof(fn: Callable[..., Any] | None = None, group: str = "torchelastic") -> Any:
    """A decorator that publishes ``NAME.success`` or ``NAME.failure`` and ``NAME.duration.ms`` of every call."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        name = _name(function)

        @wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.time()
            outcome = "failure"
            try:
                result = function(*args, **kwargs)
                outcome = "success"
                return result
            finally:
                put_metric(f"{name}.{outcome}", 1, group)
                put_metric(f"{name}.duration.ms", get_elapsed_time_ms(start), group)

        return timed

    return wrap if fn is None else wrap(fn)


def profile(group: str | None = None) -> Any:
    """The former name of `prof`."""
    return prof(group=group or "torchelastic")


def put_metric(metric_name: str, metric_value: float, metric_group: str = "torchelastic") -> None:
    """Publishes a number."""
    getStream(metric_group).add_value(metric_name, metric_value)


def publish_metric(metric_group: str, metric_name: str, metric_value: float) -> None:
    """`put_metric` with its arguments in another order, as programs used to call it."""
    put_metric(metric_name, metric_value, metric_group)


def get_elapsed_time_ms(start_time_in_seconds: float) -> int:
    """The milliseconds since then."""
    return int((time.time() - start_time_in_seconds) * 1000)
