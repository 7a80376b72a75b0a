"""Rows as a table on the terminal, a Markdown page and a picture."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.timing import Budget, Row, geometric_mean


def number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def cells(row: Row) -> list[str]:
    budget = "" if row.budget is None else f"{row.budget:g} {row.unit}" if row.absolute else f"{row.budget:g}"
    verdict = {True: "kept", False: f"OVER: {row.why}" if row.why else "OVER", None: ""}[row.kept]
    theirs = "" if row.theirs is None else f"{number(row.theirs)} {row.unit}"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    return [row.name, f"{number(row.ours)} {row.unit}", theirs, ratio, budget, verdict]


HEAD = ["what", "Taeda", "PyTorch", "ratio", "budget", "verdict"]


def groups(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.group, []).append(row)
    return found


def summary(rows: list[Row], budget: Budget | None) -> str:
    """The geometric mean and the worst ratio of a group, beside its budget."""
    ratios = [row.ratio for row in rows if row.ratio is not None and not row.absolute]
    if not ratios or budget is None:
        return ""
    mean, worst = geometric_mean(ratios), max(ratios)
    told = all(row.why for row in rows if row.ratio is not None and row.ratio > budget.worst)
    verdict = "kept" if mean <= budget.mean and (worst <= budget.worst or told) else "OVER"
    return f"geometric mean {mean:.2f} (budget {budget.mean:g}), worst {worst:.2f} (budget {budget.worst:g}): {verdict}"


def table(rows: list[Row], budgets: Mapping[str, Budget]) -> str:
    """Aligned text, one block per group."""
    lines: list[str] = []
    for group, members in groups(rows).items():
        body = [HEAD, *map(cells, members)]
        widths = [max(len(line[k]) for line in body) for k in range(len(HEAD))]
        lines += ["", group]
        lines += [
            "  "
            + "  ".join(text.ljust(w) if k == 0 else text.rjust(w) for k, (text, w) in enumerate(zip(line, widths)))
            for line in body
        ]
        lines += [f"  {text}" for text in [summary(members, budgets.get(group))] if text]
    return "\n".join(lines)


def markdown(rows: list[Row], budgets: Mapping[str, Budget], quick: bool) -> str:
    """The page ``docs/benchmarks.md``."""
    import torch

    import taeda

    parts = [
        "# Benchmarks",
        "",
        f"Made by `python -m benchmarks{' --quick' * quick}` on {processor()} with "
        f"{taeda.backends.cpu.get_cpu_capability()}, Python {platform.python_version()}, PyTorch {torch.__version__}; "
        "one thread unless a row says two, both libraries timed in turn in one process, "
        "the least of many rounds. A ratio below 1 means that Taeda is faster.",
        "",
        "![ratios](benchmarks.png)",
        "",
    ]
    for group, members in groups(rows).items():
        parts += [f"## {group}", "", f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"]
        parts += [f"| {' | '.join(f'`{c}`' if k == 0 else c for k, c in enumerate(cells(row)))} |" for row in members]
        text = summary(members, budgets.get(group))
        parts += ["", *([f"{text[0].upper()}{text[1:]}.", ""] if text else [])]
    return "\n".join(parts)


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor() or platform.machine()


def picture(rows: list[Row], path: Path) -> None:
    """A dot per row at its ratio, a line of dots per group."""
    from matplotlib.figure import Figure

    measured = {group: [row.ratio for row in members if row.ratio] for group, members in groups(rows).items()}
    measured = {group: ratios for group, ratios in measured.items() if ratios}
    figure = Figure(figsize=(8, 0.55 * len(measured) + 1.2), layout="constrained")
    axes = figure.subplots()
    for k, ratios in enumerate(measured.values()):
        axes.plot(ratios, [k] * len(ratios), "o", color="#c4572a", alpha=0.45, markersize=6, markeredgewidth=0)
        axes.plot([geometric_mean(ratios)] * 2, [k - 0.3, k + 0.3], color="black", linewidth=2)
    axes.axvline(1, color="gray", linewidth=1)
    axes.set(
        xscale="log",
        yticks=range(len(measured)),
        yticklabels=list(measured),
        xlabel="time, memory or size as a share of PyTorch's (bar: geometric mean; left of 1 is better)",
    )
    axes.set_xticks([0.05, 0.1, 0.25, 0.5, 1, 2], ["0.05", "0.1", "0.25", "0.5", "1", "2"])
    axes.minorticks_off()
    axes.invert_yaxis()
    figure.savefig(path, dpi=130)
