"""Numbers that a job tells of itself, and who takes them."""

from __future__ import annotations

from taeda.distributed.elastic.metrics.api import ConsoleMetricHandler as ConsoleMetricHandler
from taeda.distributed.elastic.metrics.api import MetricData as MetricData
from taeda.distributed.elastic.metrics.api import MetricHandler as MetricHandler
from taeda.distributed.elastic.metrics.api import MetricsConfig as MetricsConfig
from taeda.distributed.elastic.metrics.api import NullMetricHandler as NullMetricHandler
from taeda.distributed.elastic.metrics.api import configure as configure
from taeda.distributed.elastic.metrics.api import get_elapsed_time_ms as get_elapsed_time_ms
from taeda.distributed.elastic.metrics.api import getStream as getStream
from taeda.distributed.elastic.metrics.api import prof as prof
from taeda.distributed.elastic.metrics.api import profile as profile
from taeda.distributed.elastic.metrics.api import publish_metric as publish_metric
from taeda.distributed.elastic.metrics.api import put_metric as put_metric


def initialize_metrics(cfg: object | None = None) -> None:
    """For a program of one's own to replace; does nothing."""
