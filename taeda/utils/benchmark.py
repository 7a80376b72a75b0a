"""Timing small pieces of code, and tables of the results.

A ``Timer`` runs a statement many times over, after a warm-up and with a known number of threads; a ``Measurement``
holds what came out; ``Compare`` lays measurements side by side.
"""

from __future__ import annotations

import enum
import math
import statistics
import textwrap
import timeit
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import taeda
from taeda.utils._fuzzer import FuzzedParameter, FuzzedSparseTensor, FuzzedTensor, Fuzzer, ParameterAlias

__all__ = [
    "Compare",
    "FuzzedParameter",
    "FuzzedSparseTensor",
    "FuzzedTensor",
    "Fuzzer",
    "Language",
    "Measurement",
    "ParameterAlias",
    "TaskSpec",
    "Timer",
    "select_unit",
    "timer",
    "trim_sigfig",
]

timer = timeit.default_timer


class Language(enum.Enum):
    """In which a statement is written."""

    PYTHON = 0
    CPP = 1


_UNITS = [(1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s")]
# Fewer runs than this leave too little to say how far they spread.
_MIN_CONFIDENT_RUNS = 4
_MAX_SIGNIFICANT_FIGURES = 4


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time in seconds reads best, and its length in seconds."""
    scale, unit = next(((s, u) for s, u in reversed(_UNITS) if t >= s), _UNITS[0])
    return unit, scale


def trim_sigfig(x: float, n: int) -> float:
    """``x`` rounded to ``n`` significant figures."""
    return float(f"{x:.{n - 1}e}")


@dataclass(frozen=True)
class TaskSpec:
    """What was timed."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The labels, or the statement if there are none."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        return self.stmt if "\n" not in self.stmt else f"stmt:\n  {self.stmt.strip()}"

    @property
    def as_row_name(self) -> str:
        """How a table names it."""
        return self.sub_label or self.stmt or "[Unknown]"


@dataclass
class Measurement:
    """The times of several batches of runs.

    Args:
        number_per_run: how often a batch ran the statement.
        raw_times: the seconds of each batch.
        task_spec: what was timed.
        metadata: anything that shall stay with it.
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = field(default=None)

    @property
    def times(self) -> list[float]:
        """Seconds per run, one for each batch."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The median of ``times``."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean of ``times``."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """From the first to the third quartile of ``times``."""
        if len(self.times) < 2:
            return 0.0
        first, _, third = statistics.quantiles(self.times, n=4, method="inclusive")
        return third - first

    @property
    def significant_figures(self) -> int:
        """How many figures of the median the spread leaves meaning to, from 1 to 4."""
        if len(self.times) < 2 or self.iqr == 0:
            return _MAX_SIGNIFICANT_FIGURES
        # Of a normal distribution the quartiles are 1.349 deviations apart, and the median errs 1.253 times as much as
        # the mean.
        error = 1.253 * self.iqr / 1.349 / math.sqrt(len(self.times))
        figures = math.floor(math.log10(self.median / error)) if error < self.median else 0
        return min(max(figures, 1), _MAX_SIGNIFICANT_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether there are too few batches, or they spread by more than a tenth of the median."""
        return len(self.times) < _MIN_CONFIDENT_RUNS or not self.meets_confidence()

    def meets_confidence(self, threshold: float = 0.1) -> bool:
        """Whether the quartiles lie within ``threshold`` of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """What was timed, in words."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """Where it was timed, as the timer was told."""
        return self.task_spec.env or ""

    @property
    def as_row_name(self) -> str:
        """How a table names it."""
        return self.task_spec.as_row_name

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        spec = self.task_spec
        lines = [f"{type(self).__name__} of {self.title}"]
        lines += [spec.description] if spec.description else []
        lines += [f"setup: {spec.setup}"] if spec.setup not in ("", "pass") else []
        lines.append(f"  {trim_sigfig(self.median, self.significant_figures) / scale:.6g} {unit} (median)")
        if len(self.times) > 1:
            lines.append(f"  {self.iqr / scale:.3g} {unit} between the quartiles")
        threads = f"{spec.num_threads} thread{'s' if spec.num_threads > 1 else ''}"
        lines.append(f"  {len(self.times)} batches of {self.number_per_run} runs, {threads}")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement for each thing that was timed, with the times of all of them per run."""
        grouped: dict[TaskSpec, list[Measurement]] = {}
        for measurement in measurements:
            grouped.setdefault(measurement.task_spec, []).append(measurement)
        return [Measurement(1, [t for m in group for t in m.times], spec) for spec, group in grouped.items()]


def _is_cpp(language: Language | str) -> bool:
    known = {"py": False, "python": False, "c++": True, "cpp": True}
    if isinstance(language, Language):
        return language is Language.CPP
    if str(language).lower() not in known:
        raise ValueError(f"taeda.utils.benchmark.Timer: language must be one of {', '.join(known)}; got {language!r}")
    return known[str(language).lower()]


class Timer:
    """Times a statement.

    Args:
        stmt: the statement.
        setup: runs once before the statement, in its namespace.
        global_setup: of statements in C++: what stands outside of the function that runs them, such as includes.
        timer: gives the time in seconds.
        globals: the namespace that both run in.
        label: what is computed; with ``sub_label`` and ``description`` it places the result in a table.
        sub_label: which variant; the table's row.
        description: in which circumstances; the table's column.
        env: where, for instance which version.
        num_threads: how many threads a call may use meanwhile.
        language: of the statement and its setup: ``"python"`` or ``"c++"``, which is compiled first.

    Raises:
        ValueError: there is no such language; ``global_setup`` is given for Python, or ``globals`` for C++.
        RuntimeError: what is written in C++ does not compile.
    """

    _timer_cls: type = timeit.Timer  # what runs a statement in Python

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        stmt, setup, global_setup = (textwrap.dedent(text).strip("\n") for text in (stmt, setup, global_setup))
        if _is_cpp(language):
            if globals:
                raise ValueError("taeda.utils.benchmark.Timer: globals is for Python; C++ has global_setup")
            from taeda.utils._cpp_timer import compiled

            setup = "" if setup == "pass" else setup
            self._run: Callable[[int], float] = compiled(stmt, setup, global_setup)
        else:
            if global_setup:
                raise ValueError("taeda.utils.benchmark.Timer: global_setup is for statements in C++; use setup")
            namespace = {"taeda": taeda, "torch": taeda, **(globals or {})}
            self._run = self._timer_cls(stmt, setup, timer, namespace).timeit
        self._spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _seconds(self, number: int) -> float:
        before = taeda.get_num_threads()
        taeda.set_num_threads(self._spec.num_threads)
        try:
            return max(self._run(number), 1e-9)
        finally:
            taeda.set_num_threads(before)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One batch of ``number`` runs, after a warm-up."""
        self._seconds(max(number // 100, 2))
        return Measurement(number, [self._seconds(number)], self._spec)

    def _batch_size(self, seconds: float) -> int:
        """How many runs take about so long; the first ones only warm up."""
        self._seconds(2)
        number = 1
        while (taken := self._seconds(number)) < seconds:
            number = max(number * 2, min(int(number * seconds / taken), number * 10))
        return number

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Batches, long enough for the clock, until they have taken ``min_run_time`` seconds together.

        Args:
            callback: called with the size and the seconds of each batch.
            min_run_time: when to stop.
        """
        number = self._batch_size(min_run_time / 1000)
        return Measurement(number, self._batches(number, min_run_time, callback), self._spec)

    def _batches(self, number: int, run_time: float, callback: Callable[[int, float], Any] | None) -> list[float]:
        times: list[float] = []
        while not times or sum(times) < run_time:
            times.append(self._seconds(number))
            if callback is not None:
                callback(number, times[-1])
        return times

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Batches until their quartiles are within ``threshold`` of the median, or for ``max_run_time`` seconds."""
        number = self._batch_size(0.05 * min_run_time)
        times: list[float] = []
        while True:
            times += self._batches(number, min_run_time, callback)
            measurement = Measurement(number, times, self._spec)
            enough = len(times) >= _MIN_CONFIDENT_RUNS and measurement.meets_confidence(threshold)
            if enough or sum(times) >= max_run_time:
                return measurement


class Compare:
    """A table of measurements: a row for each variant, a column for each description.

    Args:
        results: the measurements.
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = self._warn = False
        self._colour_by: str | None = None
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements; ValueError for anything else."""
        results = list(results)
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"taeda.utils.benchmark.Compare: takes Measurements; got {type(result).__name__}")
        self._results += results

    def trim_significant_figures(self) -> None:
        """Show no more figures than mean something."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Show the fastest of each column in green and what takes three times as long in red; of each row, if
        ``rowwise``."""
        self._colour_by = "row" if rowwise else "column"

    def highlight_warnings(self) -> None:
        """Show beside a median how far the quartiles lie apart, where that is more than a tenth of it."""
        self._warn = True

    def print(self) -> None:
        """Print the tables."""
        print(self)

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = dict.fromkeys(m.task_spec.label for m in merged)
        return "\n".join(self._table(label, [m for m in merged if m.task_spec.label == label]) for label in labels)

    def _table(self, label: str | None, results: list[Measurement]) -> str:
        columns = list(dict.fromkeys(m.task_spec.description or "" for m in results))
        rows = list(dict.fromkeys(_row(m) for m in results))
        unit, scale = select_unit(min(m.median for m in results))
        places = {(_row(m), m.task_spec.description or ""): m for m in results}
        names = [" ".join(filter(None, (env, name, f"({threads} threads)"))) for threads, env, name in rows]
        lines = [
            ["", *columns],
            *([n, *(self._cell(places.get((r, c)), scale) for c in columns)] for n, r in zip(names, rows, strict=True)),
        ]
        widths = [max(len(line[i]) for line in lines) for i in range(len(columns) + 1)]
        padded = [[cell.rjust(w) for cell, w in zip(line, widths, strict=True)] for line in lines]
        if self._colour_by is not None:
            for line, row in zip(padded[1:], rows, strict=True):
                line[1:] = [self._coloured(t, places, row, c) for t, c in zip(line[1:], columns, strict=True)]
        return "\n".join([f"{label or 'times'}, in {unit}", *map(" | ".join, padded)])

    def _cell(self, measurement: Measurement | None, scale: float) -> str:
        if measurement is None:
            return ""
        value = measurement.median
        text = f"{(trim_sigfig(value, measurement.significant_figures) if self._trim else value) / scale:.4g}"
        spread = f" (! {measurement.iqr / value:.0%})" if self._warn and not measurement.meets_confidence() else ""
        return text + spread

    def _coloured(self, text: str, places: dict[Any, Measurement], row: Any, column: str) -> str:
        if (row, column) not in places:
            return text
        peers = [m for (r, c), m in places.items() if (r == row if self._colour_by == "row" else c == column)]
        ratio = places[row, column].median / min(m.median for m in peers)
        colour = next((code for most, code in _COLOURS if ratio <= most), "")
        return f"\033[{colour}m{text}\033[0m" if colour else text


_COLOURS = ((1.1, "92"), (3.0, ""), (math.inf, "91"))  # by how often the fastest one's time: bright green, none, red


def _row(measurement: Measurement) -> tuple[int, str, str]:
    return measurement.task_spec.num_threads, measurement.env, measurement.as_row_name
