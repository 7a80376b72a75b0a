"""Events in Chrome's trace format, a JSON file that chrome://tracing, Perfetto and TensorBoard's profile page show."""

from __future__ import annotations

import gzip
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from typing import IO, Any

from taeda.autograd.profiler_util import EventList, FunctionEvent


def write(events: EventList, path: str, facts: Mapping[str, Any] | None = None) -> None:
    """Writes the events, and ``facts`` beside them; compressed if ``path`` ends in ``.gz``."""
    process = os.getpid()
    trace = {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "host_name": platform.node(),
        **(facts or {}),
        "traceName": path,
        "traceEvents": [*_names(events, process), *(_slice(event, process) for event in events),
                        *_arrows(events, process)],
    }  # fmt: skip
    with _open(path) as file:
        json.dump(trace, file, default=str)


def _open(path: str) -> IO[str]:
    if path.endswith(".gz"):
        return gzip.open(path, "wt", encoding="utf-8")
    return open(path, "w", encoding="utf-8")


def _names(events: Iterable[FunctionEvent], process: int) -> Iterable[dict[str, Any]]:
    """Of the process and its threads."""
    program = os.path.basename(sys.argv[0] or sys.executable)
    yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": program}}
    for thread in sorted({event.thread for event in events}):
        yield {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": f"thread {thread}"}}


def _slice(event: FunctionEvent, process: int) -> dict[str, Any]:
    """One event, from its start to its end."""
    facts = {
        "External id": event.id,
        "Sequence number": event.sequence_nr if event.sequence_nr >= 0 else None,
        "Input Dims": event.input_shapes,
        "Input type": event.input_dtypes,
        "Concrete Inputs": ["" if value is None else str(value) for value in event.concrete_inputs],
        "Call stack": "\n".join(event.stack),
        "Bytes": event.cpu_memory_usage,
    }
    return {
        "ph": "X",
        "cat": "user_annotation" if event.is_user_annotation else "cpu_op",
        "name": event.trace_name,
        "pid": process,
        "tid": event.thread,
        "ts": event.time_range.start,
        "dur": event.time_range.elapsed_us(),
        "args": {name: value for name, value in facts.items() if value not in (None, [], "", 0)},
    }


def _arrows(events: Iterable[FunctionEvent], process: int) -> Iterable[dict[str, Any]]:
    """From each op to the backward node that it recorded: the op is the innermost of those that may have."""
    recorders: dict[int, FunctionEvent] = {}
    for event in events:
        if event.sequence_nr < 0:
            continue
        if event.scope == 0:
            recorders[event.sequence_nr] = event
        elif event.sequence_nr in recorders:
            for phase, end in (("s", recorders[event.sequence_nr]), ("f", event)):
                yield {
                    "ph": phase, "cat": "fwdbwd", "name": "fwdbwd", "id": event.id, "pid": process, "tid": end.thread,
                    "ts": end.time_range.start, **({"bp": "e"} if phase == "f" else {}),
                }  # fmt: skip
