"""Results as text, JSON and a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taeda.utils.operator_benchmark.timing import Timing


@dataclass(frozen=True)
class Row:
    """One test's result; ``other`` is PyTorch's, measured in turn."""

    op: str
    name: str
    input: str
    direction: str  # Forward or Backward
    timing: Timing
    threads: str
    other: Timing | None = None

    @property
    def ratio(self) -> float | None:
        return None if self.other is None else self.timing.median / self.other.median

    def text(self, run: int | None = None, mode: str = "Eager") -> str:
        """Several lines; the one with the time is what PyTorch's tool prints."""
        prefix = "" if run is None else f"Run: {run}, "
        lines = [
            f"# Benchmarking PyTorch: {self.op}", f"# Mode: {mode}", f"# Name: {self.name}", f"# Input: {self.input}",
            f"# {self.timing}", f"# {self.threads}",
            f"{prefix}{self.direction} Execution Time (us) : {self.timing.median:.3f}",
        ]  # fmt: skip
        if self.other is not None:
            lines.append(f"torch: {self.other}\nRatio to torch : {self.ratio:.3f}")
        return "\n".join([*lines, ""])

    def record(self) -> dict[str, Any]:
        """For JSON."""
        found = {
            "op": self.op, "name": self.name, "input": self.input, "direction": self.direction.lower(),
            "threads": self.threads, **_numbers(self.timing),
        }  # fmt: skip
        return found if self.other is None else {**found, "torch": _numbers(self.other), "ratio": self.ratio}


def _numbers(timing: Timing) -> dict[str, Any]:
    return {
        "median_us": timing.median, "spread_us": timing.spread, "medians_us": list(timing.medians),
        "agree": timing.agree, "calls": timing.calls,
    }  # fmt: skip


def write(rows: Sequence[Row], to_json: str | None, to_plot: str | None) -> None:
    """Writes the files that were asked for."""
    if to_json:
        Path(to_json).write_text(json.dumps([row.record() for row in rows], indent=1) + "\n")
    if to_plot:
        _plot(rows, to_plot)


def _plot(rows: Sequence[Row], file: str) -> None:
    try:
        import matplotlib
    except ImportError:
        raise ImportError("operator_benchmark: --plot needs matplotlib; pip install matplotlib") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 1.5 + 0.35 * len(rows)), layout="constrained")
    places = range(len(rows))
    axes.barh(
        places, [row.timing.median for row in rows], 0.4, xerr=[row.timing.spread / 2 for row in rows], label="taeda"
    )
    if any(row.other for row in rows):
        theirs = [row.other.median if row.other else 0.0 for row in rows]
        axes.barh([p + 0.4 for p in places], theirs, 0.4, label="torch")
        axes.legend()
    axes.set_yticks(list(places), [f"{row.name} {row.direction.lower()}" for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("microseconds per call")
    figure.savefig(file)
    pyplot.close(figure)
