"""Recording what a thread calls: every op, every backward node and what ``record_function`` marks, with their times.

    with taeda.autograd.profiler.profile() as prof:
        loss(net(x), y).backward()
    print(prof.key_averages().table(sort_by="self_cpu_time_total"))

Only calls of the thread that entered the profile are seen. Recording takes time of its own, which shows in the times of
very small ops; without a profile it takes nothing. :mod:`taeda.profiler` adds schedules to this.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn, TypeVar

from taeda import _C
from taeda.autograd.profiler_util import DeviceType, EventList, FunctionEvent, FunctionEventAvg, Interval

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "emit_itt", "emit_nvtx", "kineto_available",
           "profile", "record_function"]  # fmt: skip

_F = TypeVar("_F", bound=Callable[..., Any])


def kineto_available() -> bool:
    """Whether there is a profiler: True. (PyTorch may be built without its own, which it asks for by this name.)"""
    return True


class WorkNote:
    """Work that other threads or processes do for this one: it ends whenever it does."""

    def __init__(self, name: str, start: int, tensors: list[Any]) -> None:
        self.name, self.start, self.end = name, start, 0  # nanoseconds of the steady clock
        self.arguments = [(list(tensor.shape), str(tensor.dtype)) for tensor in tensors]

    def done(self) -> None:
        """It ends now."""
        self.end = time.perf_counter_ns()


class _Notes(threading.local):
    def __init__(self) -> None:
        self.all: list[WorkNote] = []


_notes = _Notes()


def note_work(name: str, start: int, tensors: list[Any]) -> WorkNote:
    """An event of the profile of this thread, which is being profiled, for work that began at ``start``."""
    note = WorkNote(name, start, tensors)
    _notes.all.append(note)
    return note


class profile:
    """Inside the ``with`` block, record the calls of this thread.

    Args:
        enabled: False makes this do nothing.
        use_cuda, use_device: other devices are not recorded: a warning says so.
        record_shapes: also the shapes and dtypes of tensors among the arguments, and the values of others.
        with_flops: also the arithmetic of matrix products, convolutions, ``add`` and ``mul``; records shapes.
        profile_memory: also the bytes that each call allocated less those that it freed, as the CPU's allocator counts
            them: in blocks, whichever thread asks for them.
        with_stack: also the Python frames that each call was made from.
        with_modules: no effect, as in PyTorch for models that run eagerly.
        use_kineto, use_cpu, activity_filters, post_processing_timeout_s: for PyTorch's signature; no effect.
        acc_events: entered again, keeps the events of before.
        custom_trace_id_callback: gives the trace's identification; a random one if None.

    Raises:
        NotImplementedError: ``experimental_config`` is given.
        RuntimeError: on entering: it is entered already, or this thread is being profiled.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: Any = None,
    ) -> None:
        if experimental_config is not None:
            raise NotImplementedError("taeda.autograd.profiler.profile: there are no experimental settings here")
        if enabled and (use_cuda or use_device not in (None, "cpu")):
            device = use_device or "cuda"
            warnings.warn(f"taeda.autograd.profiler.profile: only the CPU is recorded, not {device}", stacklevel=2)
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.acc_events = acc_events
        self.function_events: EventList | None = None
        self.trace_id = ""
        self.trace_start_ns = 0  # since the epoch
        self._clock_start = 0  # of the steady clock
        self._make_trace_id = custom_trace_id_callback or (lambda: uuid.uuid4().hex.upper())
        self._hooks = contextlib.ExitStack()

    def __enter__(self) -> profile:
        if self.entered:
            raise RuntimeError("taeda.autograd.profiler.profile: it has been entered already")
        if not self.enabled:
            return self
        with contextlib.ExitStack() as hooks:
            hooks.enter_context(_steps_of_optimizers())
            if not self.acc_events or self.function_events is None:
                self.trace_id = self._make_trace_id()
                self.trace_start_ns, self._clock_start = time.time_ns(), time.perf_counter_ns()
            _notes.all.clear()
            _C._profiler_start(self.record_shapes, self.profile_memory, _python_frames if self.with_stack else None)
            self._hooks = hooks.pop_all()
        self.entered = True
        return self

    def __exit__(self, *exception: object) -> None:
        if not self.entered:
            return
        self.entered = False
        self._hooks.close()
        events = self._events_of(_C._profiler_stop())
        events += self._events_of_work(len(events))
        if self.acc_events and self.function_events is not None:
            self.function_events.extend(events)
        else:
            self.function_events = EventList(events, profile_memory=self.profile_memory, with_flops=self.with_flops)

    def _events_of(self, records: list[tuple[Any, ...]]) -> list[FunctionEvent]:
        first_id = len(self.function_events or ()) if self.acc_events else 0
        thread = threading.get_native_id()
        events: list[FunctionEvent] = []
        for name, overload, scope, start, end, parent, sequence, memory, arguments, stack in records:
            span = Interval((start - self._clock_start) / 1e3, (end - self._clock_start) / 1e3)
            event = FunctionEvent(
                first_id + len(events), name, thread, span, overload, scope, sequence,
                input_shapes=[sizes for sizes, _, _ in arguments],
                input_dtypes=["" if dtype is None else str(dtype) for _, dtype, _ in arguments],
                concrete_inputs=[value for _, _, value in arguments],
                stack=stack or [], cpu_memory_usage=memory, trace_name=name,
            )  # fmt: skip
            if name.startswith("ProfilerStep#"):
                event.name = "ProfilerStep*"  # so that averages hold all steps together
            if self.with_flops:
                event.flops = _flops(event)
            if parent >= 0:
                event.cpu_parent = events[parent]
                events[parent].cpu_children.append(event)
            events.append(event)
        return events

    def _events_of_work(self, first_id: int) -> list[FunctionEvent]:
        notes, _notes.all = _notes.all, []
        now, thread = time.perf_counter_ns(), threading.get_native_id()
        events: list[FunctionEvent] = []
        for note in notes:
            span = Interval((note.start - self._clock_start) / 1e3, ((note.end or now) - self._clock_start) / 1e3)
            arguments = note.arguments if self.record_shapes else []
            event = FunctionEvent(
                first_id + len(events), note.name, thread, span, trace_name=note.name,
                input_shapes=[sizes for sizes, _ in arguments], input_dtypes=[dtype for _, dtype in arguments],
            )  # fmt: skip
            event.is_async = True
            events.append(event)
        return events

    def _recorded(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError("taeda.autograd.profiler.profile: there are no events until the profile has ended")
        return self.function_events

    def __repr__(self) -> str:
        if self.function_events is None:
            return "<taeda.autograd.profiler.profile without events>"
        return repr(self.function_events)

    def __str__(self) -> str:
        return repr(self) if self.function_events is None else str(self.function_events)

    def table(self, *args: Any, **kwargs: Any) -> str:
        """:meth:`EventList.table` of the events. Raises RuntimeError before the profile has ended."""
        return self._recorded().table(*args, **kwargs)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The events by name; see :meth:`EventList.key_averages`. Raises RuntimeError before the profile has ended."""
        return self._recorded().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """All events together. Raises RuntimeError before the profile has ended."""
        return self._recorded().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events together. Raises RuntimeError before the profile has ended."""
        return self._recorded().self_cpu_time_total

    def export_chrome_trace(self, path: str, facts: dict[str, Any] | None = None) -> None:
        """Write the events in Chrome's trace format, compressed if ``path`` ends in ``.gz``.

        Args:
            facts: what else to say in the file, by name.

        Raises:
            RuntimeError: the profile has not ended.
        """
        from taeda.autograd._chrome_trace import write

        own = {"trace_id": self.trace_id, "baseTimeNanoseconds": self.trace_start_ns}
        write(self._recorded(), path, own | (facts or {}))

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the Python stacks with their times; see :meth:`EventList.export_stacks`.

        Raises:
            AssertionError: the profile does not record stacks.
            RuntimeError: it has not ended.
        """
        if not self.with_stack:
            raise AssertionError("export_stacks: the profile must be made with with_stack=True")
        self._recorded().export_stacks(path, metric)


class _Marks(threading.local):
    """How a thread's marks begin and end. Who records its ops as a program has them be ops, too."""

    def __init__(self) -> None:
        self.begin: Callable[[str, str | None], Any] = _C._profiler_enter
        self.end: Callable[[Any], Any] = _C._profiler_leave


_marks = _Marks()


class record_function:
    """A mark in the profile, around a ``with`` block or each call of a decorated function.

    Args:
        name: what the event is called.
        args: a text kept with it, as its only concrete input, if the profile records shapes.

    Raises:
        RuntimeError: on entering: one of them is not a string.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._event: Any = 0
        self._end: Callable[[Any], Any] = _C._profiler_leave

    def __enter__(self) -> record_function:
        if not isinstance(self.name, str) or not isinstance(self.args, (str, type(None))):
            raise RuntimeError(
                f"record_function: name must be a str and args a str or None; got {type(self.name).__name__} and "
                f"{type(self.args).__name__}"
            )
        self._end, self._event = _marks.end, _marks.begin(self.name, self.args)
        return self

    def __exit__(self, *exception: object) -> None:
        self._end(self._event)

    def __call__(self, function: _F) -> _F:
        @functools.wraps(function)
        def marked(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return marked  # type: ignore[return-value]


class _Emitter:
    """Marks for another profiler, which does not look into this build."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled

    def __enter__(self) -> _Emitter:
        if self.enabled:
            self._refuse()
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def _refuse(self) -> NoReturn:
        raise RuntimeError(f"taeda.autograd.profiler.{type(self).__name__}: this build cannot mark events for it")


class emit_nvtx(_Emitter):
    """Marks for NVIDIA's profiler: raises RuntimeError on entering unless ``enabled`` is False."""


class emit_itt(_Emitter):
    """Marks for Intel's profiler: raises RuntimeError on entering unless ``enabled`` is False."""


def _python_frames() -> list[str]:
    """The frames of the program, innermost first, as ``file(line): function``."""
    frame: FrameType | None = sys._getframe(1)
    frames = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename != __file__:
            frames.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return frames


@contextlib.contextmanager
def _steps_of_optimizers() -> Any:
    """Inside the ``with`` block, every optimiser's ``step`` is an event."""
    from taeda.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    marks: list[record_function] = []

    def before(optimizer: Any, *_: Any) -> None:
        if _C._profiler_enabled():  # the hooks are those of all threads
            marks.append(record_function(f"Optimizer.step#{type(optimizer).__name__}.step").__enter__())

    def after(*_: Any) -> None:
        if _C._profiler_enabled() and marks:
            marks.pop().__exit__()

    with register_optimizer_step_pre_hook(before), register_optimizer_step_post_hook(after):
        yield


def _flops(event: FunctionEvent) -> int:
    """The multiplications and additions of a call; 0 of an op whose arithmetic is not counted."""
    shapes, values = event.input_shapes, event.concrete_inputs
    match event.name:
        case "aten::add" | "aten::mul":
            return math.prod(shapes[0])
        case "aten::mm" | "aten::bmm":
            return 2 * math.prod(shapes[0]) * shapes[1][-1]
        case "aten::linear":
            return 2 * math.prod(shapes[0]) * math.prod(shapes[1][:-1])
        case "aten::addmm" | "aten::baddbmm":
            return 2 * math.prod(shapes[1]) * shapes[2][-1]
        case "aten::conv1d" | "aten::conv2d" | "aten::conv3d" if event.overload_name == "":
            kernel = shapes[1][2:]
            stride, pad, step = (value * len(kernel) if len(value) == 1 else value for value in values[3:6])
            size = shapes[0][-len(kernel) :]
            positions = [
                (size[i] + 2 * pad[i] - step[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(len(kernel))
            ]
            batch = math.prod(shapes[0][: -len(kernel) - 1])
            return 2 * batch * math.prod(positions) * math.prod(shapes[1])
    return 0


def _stop_in_fork() -> None:
    if _C._profiler_enabled():
        _C._profiler_stop()  # the child's calls are no part of its parent's profile


os.register_at_fork(after_in_child=_stop_in_fork)
