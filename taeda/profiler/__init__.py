"""Where a program's time goes: what each op, backward node and marked part of it takes.

with taeda.profiler.profile(record_shapes=True) as prof:
    loss(net(x), y).backward()
print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
prof.export_chrome_trace("trace.json")
"""

from __future__ import annotations

from taeda.autograd.profiler import kineto_available, record_function
from taeda.autograd.profiler_util import DeviceType
from taeda.profiler.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "DeviceType",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
