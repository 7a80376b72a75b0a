"""What a profile consists of: events, their averages, and the tables made of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from enum import IntEnum
from typing import Any

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]


class DeviceType(IntEnum):
    """Where an event ran. Here all run on the CPU."""

    CPU = 0
    CUDA = 1
    PrivateUse1 = 20


@dataclass
class Interval:
    """From ``start`` to ``end``, in microseconds since the profile began."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """Its length in microseconds."""
        return self.end - self.start


def _shown_time(microseconds: float, unit: str | None = None) -> str:
    """The time in ``"us"``, ``"ms"`` or ``"s"``; in the unit that suits it if None."""
    if unit is None:
        unit = "s" if microseconds >= 1e6 else "ms" if microseconds >= 1e3 else "us"
    return f"{microseconds / {'us': 1.0, 'ms': 1e3, 's': 1e6}[unit]:.3f}{unit}"


_format_time = _shown_time


def _shown_bytes(count: int) -> str:
    """A number of bytes in the unit that suits it."""
    for size, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"


class _Measured:
    """What events and averages have in common: times in microseconds, memory in bytes. Other devices did nothing."""

    key: str
    count: int
    cpu_time_total: float
    self_cpu_time_total: float

    device_type = DeviceType.CPU
    use_device = None
    is_async = is_remote = is_legacy = False
    node_id = -1
    device_time = device_time_total = self_device_time_total = 0.0
    cuda_time = cuda_time_total = self_cuda_time_total = 0.0
    device_memory_usage = self_device_memory_usage = self_cuda_memory_usage = 0

    @property
    def cpu_time(self) -> float:
        """Microseconds of one call, what it called included."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """``cpu_time`` with its unit."""
        return _shown_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """``cpu_time_total`` with its unit."""
        return _shown_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """``self_cpu_time_total`` with its unit."""
        return _shown_time(self.self_cpu_time_total)


@dataclass(eq=False)
class FunctionEvent(_Measured):
    """One call of an op, one backward node, or one run of what ``record_function`` marks.

    ``scope`` is 0 for an op, 1 for a backward node and 7 for a mark. ``sequence_nr`` links an op to the backward node
    that it recorded. ``input_shapes``, ``input_dtypes`` and ``concrete_inputs`` have an entry for each argument if the
    profile records shapes; ``stack`` holds the Python frames, innermost first, if it records them.
    """

    id: int
    name: str
    thread: int
    time_range: Interval = None  # type: ignore[assignment]
    overload_name: str = ""
    scope: int = 0
    sequence_nr: int = -1
    input_shapes: list[list[int]] = field(default_factory=list)
    input_dtypes: list[str] = field(default_factory=list)
    concrete_inputs: list[Any] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    cpu_memory_usage: int = 0
    flops: int = 0
    trace_name: str = ""
    cpu_parent: FunctionEvent | None = field(default=None, repr=False)
    cpu_children: list[FunctionEvent] = field(default_factory=list, repr=False)
    node_id: int = -1
    start_us: InitVar[float] = 0
    end_us: InitVar[float] = 0

    count = 1

    def __post_init__(self, start_us: float, end_us: float) -> None:
        if self.time_range is None:
            self.time_range = Interval(start_us, end_us)

    @property
    def key(self) -> str:  # type: ignore[override]
        """The name, by which averages are made."""
        return self.name

    @property
    def fwd_thread(self) -> int:
        """The thread of the forward pass, which is the same."""
        return self.thread

    @property
    def is_user_annotation(self) -> bool:
        """Whether ``record_function`` made it."""
        return self.scope == 7

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds, what it called included."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds, without what it called."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes allocated less bytes freed, without what it called."""
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)


@dataclass(eq=False)
class FunctionEventAvg(_Measured):
    """Events of one name together."""

    key: str = ""
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    cpu_memory_usage: int = 0
    self_cpu_memory_usage: int = 0
    flops: int = 0
    overload_name: str = ""
    input_shapes: Any = ""
    stack: list[str] = field(default_factory=list)
    scope: int = 0
    is_user_annotation: bool = False
    cpu_parent: FunctionEvent | None = field(default=None, repr=False)

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Counts an event, or those of another average, in; the first names what all are."""
        if not self.count:
            self.key, self.scope, self.cpu_parent = other.key, other.scope, other.cpu_parent
            self.is_user_annotation = other.is_user_annotation
        for name in ("count", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage",
                     "flops"):  # fmt: skip
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    __iadd__ = add


class EventList(list[Any]):
    """Events in the order of their starts, or averages in the order of their first."""

    def __init__(self, events: Iterable[Any] = (), *, profile_memory: bool = False, with_flops: bool = False) -> None:
        super().__init__(events)
        self._profile_memory = profile_memory
        self._with_flops = with_flops

    def __str__(self) -> str:
        return self.table()

    def _populate_cpu_children(self) -> None:
        """Puts each event into the innermost one of its thread that lasts as long or longer."""
        open_by_thread: dict[int, list[FunctionEvent]] = {}
        for event in sorted(self, key=lambda e: (e.time_range.start, -e.time_range.end)):
            outer = open_by_thread.setdefault(event.thread, [])
            while outer and (
                event.time_range.start >= outer[-1].time_range.end or event.time_range.end > outer[-1].time_range.end
            ):
                outer.pop()
            if outer:
                event.cpu_parent = outer[-1]
                outer[-1].cpu_children.append(event)
            outer.append(event)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all together."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The events by name: one ``FunctionEventAvg`` for each.

        Args:
            group_by_input_shapes: apart by the shapes of their arguments, which the profile must have recorded.
            group_by_stack_n: apart by the innermost so many Python frames, which it must have recorded.
            group_by_overload_name: apart by overload.
        """
        groups: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shapes else ""
            stack = event.stack[:group_by_stack_n] if group_by_stack_n > 0 else []
            overload = event.overload_name if group_by_overload_name else ""
            key = event.key, event.is_user_annotation, str(shapes), tuple(stack), overload
            if key not in groups:
                groups[key] = FunctionEventAvg(overload_name=overload, input_shapes=shapes, stack=stack)
            groups[key].add(event)
        return EventList(groups.values(), profile_memory=self._profile_memory, with_flops=self._with_flops)

    def total_average(self) -> FunctionEventAvg:
        """All events together; the times of those within others count in ``cpu_time_total`` more than once."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        total.key = "Total"
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as a table.

        Args:
            sort_by: what to sort by, largest first: ``"cpu_time_total"``, ``"self_cpu_time_total"``, ``"cpu_time"``,
                ``"cpu_memory_usage"``, ``"self_cpu_memory_usage"``, ``"count"``, ...; as they are if None.
            row_limit: how many rows at most; all if -1.
            max_src_column_width, max_name_column_width, max_shapes_column_width: longer texts are cut.
            header: a line to put above.
            top_level_events_only: without the events inside others.
            time_unit: ``"us"``, ``"ms"`` or ``"s"``; for each time what suits it if None.

        Raises:
            AttributeError: events have no number named ``sort_by``.
        """
        if not self:
            return ""
        chosen = [event for event in self if not (top_level_events_only and event.cpu_parent)]
        if sort_by is not None:
            _check_sortable(chosen, sort_by)
            chosen.sort(key=lambda event: getattr(event, sort_by), reverse=True)
        if row_limit >= 0:
            chosen = chosen[:row_limit]
        columns = [
            ("Name", [_cut(event.key, max_name_column_width) for event in chosen]),
            *self._number_columns(chosen, time_unit),
            ("Input Shapes", [_cut(str(event.input_shapes or []), max_shapes_column_width) for event in chosen]),
            ("Source Location", ["\n".join(_cut_front(f, max_src_column_width) for f in e.stack) for e in chosen]),
        ]
        if not any(event.input_shapes for event in self):
            columns = [column for column in columns if column[0] != "Input Shapes"]
        if not any(event.stack for event in self):
            columns = [column for column in columns if column[0] != "Source Location"]
        total = f"Self CPU time total: {_shown_time(self.self_cpu_time_total, time_unit)}\n"
        return "\n".join([*([header] if header else []), *_lines(columns), total])

    def _number_columns(self, chosen: Sequence[Any], unit: str | None) -> list[tuple[str, list[str]]]:
        whole = self.self_cpu_time_total

        def share(part: float) -> str:
            return f"{100 * part / whole if whole else math.nan:.2f}%"

        columns = [
            ("Self CPU %", [share(event.self_cpu_time_total) for event in chosen]),
            ("Self CPU", [_shown_time(event.self_cpu_time_total, unit) for event in chosen]),
            ("CPU total %", [share(event.cpu_time_total) for event in chosen]),
            ("CPU total", [_shown_time(event.cpu_time_total, unit) for event in chosen]),
            ("CPU time avg", [_shown_time(event.cpu_time, unit) for event in chosen]),
        ]
        if self._profile_memory:
            columns.append(("CPU Mem", [_shown_bytes(event.cpu_memory_usage) for event in chosen]))
            columns.append(("Self CPU Mem", [_shown_bytes(event.self_cpu_memory_usage) for event in chosen]))
        columns.append(("# of Calls", [str(event.count) for event in chosen]))
        if self._with_flops:
            columns.append(_flops_column([event.flops for event in chosen]))
        return columns

    def export_chrome_trace(self, path: str) -> None:
        """Write the events in Chrome's trace format, for chrome://tracing or Perfetto."""
        from taeda.autograd._chrome_trace import write

        write(self, path)

    def supported_export_stacks_metrics(self) -> list[str]:
        """What ``export_stacks`` can count."""
        return ["self_cpu_time_total"]

    def export_stacks(self, path: str, metric: str) -> None:
        """Write one line for each Python stack, outermost frame first, and its number: what flame graphs are made of.

        Raises:
            ValueError: the metric is none of ``supported_export_stacks_metrics``.
        """
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(
                f"export_stacks: metric must be one of {self.supported_export_stacks_metrics()}; got {metric!r}"
            )
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                number = int(getattr(event, metric))
                if event.stack and number > 0:
                    frames = (frame.translate(_NO_SEPARATORS) for frame in reversed(event.stack))
                    file.write(f"{';'.join(frames)} {number}\n")


def _flops_column(flops: list[int]) -> tuple[str, list[str]]:
    """In the unit in which the largest is at least 1."""
    power, unit = next((p for p in ((12, "T"), (9, "G"), (6, "M"), (3, "K")) if max(flops, default=0) >= 10 ** p[0]),
                       (0, ""))  # fmt: skip
    return f"Total {unit}FLOPs", [f"{n / 10**power:.3f}" if n else "--" for n in flops]


_NO_SEPARATORS = str.maketrans(" ;\t\n", "____")


def _check_sortable(events: Sequence[Any], name: str) -> None:
    for event in events:
        if not isinstance(getattr(event, name, None), (int, float)):
            raise AttributeError(f"table: sort_by must name a number that events have; got {name!r}")


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width or width < 0 else text[: max(0, width - 3)] + "..."


def _cut_front(text: str, width: int) -> str:
    return text if len(text) <= width or width < 0 else "..." + text[-max(1, width - 3) :]


def _lines(columns: Sequence[tuple[str, list[str]]]) -> list[str]:
    """Aligned to the right, between rules; a cell may have several lines."""
    rows = [[title for title, _ in columns], *zip(*(cells for _, cells in columns), strict=True)]
    split = [list(itertools.zip_longest(*(cell.split("\n") for cell in row), fillvalue="")) for row in rows]
    widths = [max(map(len, column)) for column in zip(*itertools.chain(*split), strict=True)]
    rule = "  ".join("-" * width for width in widths)
    title, *shown = ("  ".join(map(str.rjust, line, widths)) for line in itertools.chain(*split))
    return [rule, title, rule, *shown, rule]
