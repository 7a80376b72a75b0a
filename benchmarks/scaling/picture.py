"""How the hosts' time is spent, over their number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.scaling.job import JOBS
from benchmarks.scaling.table import links, scaled

COLOURS = "#c4572a", "#2a6fc4", "#7a7a7a"


def draw(found: dict[str, dict[str, Any]], path: Path) -> None:
    """A line for each link, by what the model says; dots where something was measured."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.8), layout="constrained")
    hosts = [1 << k for k in range(11)]
    for axes, job in zip(figure.subplots(1, len(JOBS), sharey=True), JOBS, strict=True):
        own = found["single"]["Taeda"][job]
        for colour, (name, link) in zip(COLOURS, links(found).items(), strict=True):
            axes.plot(hosts, [100 * own["alone"] / scaled(own, link, n)[0] for n in hosts], color=colour, label=name)
        pair = found["multi-node-2"]["Taeda"][job]  # beside its own time, since two share this machine
        axes.plot([2], [100 * pair["alone"] / pair["batch_time"]], "o", color=COLOURS[0], label="measured, 2 hosts")
        axes.set(xscale="log", title=f"{job}: {own['alone'] * 1e3:.1f} ms of computing a step", xlabel="hosts")
        axes.set_xticks(hosts, list(map(str, hosts)))
        axes.minorticks_off()
        axes.set_ylim(0, 105)
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("computing, % of the time")
    figure.axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=110)
