"""Profiles that go by a schedule and hand on what they recorded."""

from __future__ import annotations

import json
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from enum import Enum, IntEnum
from typing import Any

from taeda.autograd import profiler as autograd_profiler
from taeda.autograd.profiler_util import EventList

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "schedule",
           "supported_activities", "tensorboard_trace_handler"]  # fmt: skip


class ProfilerActivity(Enum):
    """Whose work to record. Here only ``CPU`` can be."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(IntEnum):
    """What a profile does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3  # the last step of a cycle


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set[ProfilerActivity]:
    """What can be recorded: the CPU."""
    return {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A schedule for ``profile``: steps in cycles that wait, warm up and record, in this order.

    Args:
        wait: steps of a cycle in which nothing happens.
        warmup: steps to warm up; nothing is recorded in them.
        active: steps to record; after the last of them ``on_trace_ready`` is called.
        repeat: how many cycles; without end if 0.
        skip_first: steps before the first cycle.
        skip_first_wait: unless 0, the first cycle does not wait.

    Raises:
        AssertionError: ``active`` is not positive, or another number is negative; also by the schedule, for a step.
    """
    given = {"wait": wait, "warmup": warmup, "repeat": repeat, "skip_first": skip_first}
    if min(given.values()) < 0 or active <= 0:
        raise AssertionError(
            f"taeda.profiler.schedule: active must be positive and the others not negative; got {active=}, {given}"
        )
    if not warmup:
        warnings.warn(
            "taeda.profiler.schedule: without a step to warm up, the first recorded step pays for what runs only once",
            stacklevel=2,
        )
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"taeda.profiler.schedule: a step is not negative; got {step}")
        step -= skip_first
        if step >= 0 and skip_first_wait:
            step += wait
        if step < 0 or (repeat and step >= repeat * cycle):
            return ProfilerAction.NONE
        position = step % cycle - wait
        if position < 0:
            return ProfilerAction.NONE
        if position < warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if position < warmup + active - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def _always(_: int) -> ProfilerAction:
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[profile], None]:
    """For ``on_trace_ready``: writes each trace to a file of its own in a folder, where TensorBoard finds it.

    Args:
        dir_name: the folder, made if it is not there.
        worker_name: how the file's name begins; host and process if None.
        use_gzip: compresses the file.
        use_python_export: no effect: all traces are written by Python.

    Raises:
        RuntimeError: on a trace: the folder cannot be made.
    """

    def handle(prof: profile) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(
                f"taeda.profiler.tensorboard_trace_handler: cannot make {dir_name!r}: {error}"
            ) from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handle


def _chosen(activities: Iterable[Any] | None) -> set[ProfilerActivity]:
    """The activities that can be recorded; a warning names the others."""
    if activities is None:
        return supported_activities()
    named = {name for entry in activities for name in (entry if isinstance(entry, dict) else [entry])}
    wrong = [name for name in named if not isinstance(name, ProfilerActivity)]
    if wrong:
        raise AssertionError(f"taeda.profiler.profile: activities must be ProfilerActivity members; got {wrong[0]!r}")
    left_out = sorted(activity.name for activity in named - supported_activities())
    if left_out:
        warnings.warn(f"taeda.profiler.profile: only the CPU is recorded, not {', '.join(left_out)}", stacklevel=3)
    if ProfilerActivity.CPU not in named:
        raise AssertionError("taeda.profiler.profile: activities holds nothing that can be recorded; add CPU")
    return {ProfilerActivity.CPU}


class profile:
    """Record this thread's calls, in all of a ``with`` block or in those of its steps that a schedule chooses.

    What it records, and what of it is only taken for PyTorch's signature, is told by
    :class:`taeda.autograd.profiler.profile`. Without a CUDA device PyTorch records the same: what runs on the CPU.

    Args:
        activities: what to record, of which only ``ProfilerActivity.CPU`` can be; others cause a warning.
        schedule: from the number of a step, counted from 0, to a ``ProfilerAction``; ``step()`` ends a step.
        on_trace_ready: called with the profile when a cycle or the block has been recorded.
        record_shapes, profile_memory, with_stack, with_flops, with_modules: as there.
        acc_events: keeps the events of all cycles instead of the latest.
        custom_trace_id_callback: gives each trace its identification; a random one if None.
        experimental_config, use_cuda, post_processing_timeout_s: as there.
        execution_trace_observer: must be None.

    Raises:
        AssertionError: ``activities`` is empty or names nothing that can be recorded.
        NotImplementedError: ``execution_trace_observer`` or ``experimental_config`` is given.
        TypeError: ``schedule`` cannot be called.
        RuntimeError: on starting: this thread is being profiled.
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        if execution_trace_observer is not None:
            raise NotImplementedError("taeda.profiler.profile: execution traces are not recorded")
        self.activities = _chosen(activities)
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.schedule = schedule or _always
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._marks_steps = schedule is not None
        self._step_mark: autograd_profiler.record_function | None = None
        self._facts: dict[str, Any] = {}
        self._started = False
        self.profiler = autograd_profiler.profile(
            use_cuda=bool(use_cuda),
            record_shapes=record_shapes,
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            experimental_config=experimental_config,
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
        )

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begins; what ``with`` calls."""
        self._started = True
        self._begin_step()

    def stop(self) -> None:
        """Ends; what ``with`` calls. What was being recorded is ready then.

        Raises:
            AssertionError: it was not started.
        """
        self._check_started("stop")
        self._end_step(ready=True)

    def step(self) -> None:
        """Ends a step and begins the next. Without a schedule the steps are only counted."""
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        goes_on = before == ProfilerAction.RECORD and self.current_action in _RECORDING
        if self._step_mark is not None:
            self._step_mark.__exit__()
            self._step_mark = None
        if not goes_on:
            if before == ProfilerAction.RECORD:
                warnings.warn(
                    f"taeda.profiler.profile: the schedule ends a cycle at step {self.step_num - 1} without "
                    "RECORD_AND_SAVE: on_trace_ready is not called",
                    stacklevel=2,
                )
            self._end_step(ready=before == ProfilerAction.RECORD_AND_SAVE)
        self._begin_step()

    def _begin_step(self) -> None:
        if self.current_action not in _RECORDING:
            return
        if not self.profiler.entered:
            self.profiler.__enter__()
        if self._marks_steps:
            self._step_mark = autograd_profiler.record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end_step(self, ready: bool) -> None:
        if not self.profiler.entered:
            return
        self.profiler.__exit__()
        self._step_mark = None
        if ready and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _check_started(self, function: str) -> None:
        if not self._started:
            raise AssertionError(f"taeda.profiler.profile.{function}: the profile has not been started")

    def events(self) -> EventList:
        """What was recorded last; nothing yet while the first cycle is recorded.

        Raises:
            AssertionError: the profile was not started.
        """
        self._check_started("events")
        return self.profiler.function_events or EventList()

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The events by name; see :meth:`EventList.key_averages`.

        Raises:
            AssertionError: the profile was not started.
        """
        self._check_started("key_averages")
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path: str) -> None:
        """Write what was recorded last in Chrome's trace format, compressed if ``path`` ends in ``.gz``.

        Raises:
            AssertionError: the profile was not started.
            RuntimeError: nothing has been recorded yet.
        """
        self._check_started("export_chrome_trace")
        settings = ("record_shapes", "profile_memory", "with_stack", "with_flops")
        facts = {name: 1 for name in settings if getattr(self, name)}
        self.profiler.export_chrome_trace(path, facts | self._facts)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the Python stacks with their times; see :meth:`EventList.export_stacks`.

        Raises:
            AssertionError: the profile was not started, or does not record stacks.
            RuntimeError: nothing has been recorded yet.
        """
        self._check_started("export_stacks")
        self.profiler.export_stacks(path, metric)

    def add_metadata(self, key: str, value: str) -> None:
        """Says something more in the files of ``export_chrome_trace``."""
        self._facts[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """As ``add_metadata``, for a value in JSON. Raises ValueError for text that is none."""
        self._facts[key] = json.loads(value)

    preset_metadata_json = add_metadata_json

    def get_trace_id(self) -> str | None:
        """The identification of what was recorded last; None before."""
        return self.profiler.trace_id or None
