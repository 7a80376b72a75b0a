"""What was measured and what the model says of it, as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.scaling import cost
from benchmarks.scaling.job import JOBS

HOSTS = [8, 16, 32, 64, 128, 256, 512, 1024]
BEGIN, END = "<!-- made by python -m benchmarks.scaling -->", "<!-- the end of what it made -->"


def predicted(found: dict[str, dict[str, Any]], way: str, library: str, job: str) -> float:
    """Seconds of a step, by the model: of what its rank does alone and of what messages cost."""
    own = found[way][library][job]
    messages = found[way][library].get("messages")
    if messages is None:
        return float(own["alone"])
    waits = cost.exposed(own["alone"], own["parameters"], lambda size: cost.between(messages, size))
    return float(own["alone"]) + waits + (messages["broadcast"] if own["buffers"] else 0.0)


def measured(found: dict[str, dict[str, Any]]) -> str:
    """The table: a row for each network and way."""
    head = ["", "way", "batch_time", "model", "train_time", "accuracy", "batch_time", "model", "train_time", "accuracy"]
    lines = [
        "| | | PyTorch | | | | Taeda | | | |",
        "|" + "---|" * len(head),
        "| " + " | ".join(head) + " |",
    ]
    for job in JOBS:
        for way, both in found.items():
            cells = [job, way]
            for library in both:
                one = both[library][job]
                guess = predicted(found, way, library, job)
                cells += [f"{one['batch_time'] * 1e3:.1f} ms",
                          f"{guess * 1e3:.1f} ({guess / one['batch_time'] - 1:+.0%})",
                          f"{one['train_time']:.2f} s", f"{one['accuracy']:.3f}"]  # fmt: skip
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def links(found: dict[str, dict[str, Any]]) -> dict[str, cost.Link]:
    """The cable that was measured, and two that one finds elsewhere."""
    here = cost.link_of(found["multi-node-2"]["Taeda"]["messages"])
    return {
        f"measured here: {here.latency * 1e6:.0f} µs, {here.bandwidth * 8e-9:.1f} Gbit/s": here,
        "10 Gbit/s, 30 µs": cost.Link(30e-6, 1.25e9, here.message),
        "100 Mbit/s, 1 ms": cost.Link(1e-3, 12.5e6, here.message),
    }


def scaled(own: dict[str, Any], link: cost.Link, hosts: int) -> tuple[float, cost.Wait]:
    """Seconds of a step on so many hosts, one rank with a core each, and what it waits for."""
    waits = cost.Wait()
    for size in cost.buckets(own["parameters"]):
        waits += link.all_reduce(size, hosts)
    late = cost.exposed(own["alone"], own["parameters"], lambda size: link.all_reduce(size, hosts).whole)
    if own["buffers"]:
        waits += (told := link.broadcast(own["buffers"], hosts))
        late += told.whole
    return own["alone"] + late, waits


def extrapolated(found: dict[str, dict[str, Any]]) -> str:
    """The share of a step in which hosts compute, and what the rest mostly is."""
    lines = ["| | hosts | " + " | ".join(map(str, HOSTS)) + " |", "|" + "---|" * (len(HOSTS) + 2)]
    for job in JOBS:
        own = found["single"]["Taeda"][job]
        for name, link in links(found).items():
            cells = []
            for hosts in HOSTS:
                step, waits = scaled(own, link, hosts)
                reason = max(("latency", "messages", "bytes"), key=lambda cause: getattr(waits, cause))
                cells.append(f"{own['alone'] / step:.0%} {reason}")
            lines.append("| " + " | ".join([job, name, *cells]) + " |")
    return "\n".join(lines)


def put(page: Path, text: str) -> None:
    """Between the marks of the page."""
    before, rest = page.read_text().split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")
