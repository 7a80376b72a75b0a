"""What the build cost: the slowest compile units, and the bytes that each family of ops adds. Read, not run."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from benchmarks.timing import Row

GROUP = "build"
BUILD = Path(__file__).resolve().parent.parent / "build" / "dev"
SECONDS_PER_UNIT = 15.0


def compile_seconds(log: Path) -> dict[str, float]:
    """Seconds of each output by ninja's log; the last entry of an output counts."""
    seconds = {}
    for line in log.read_text().splitlines():
        fields = line.split("\t")
        if len(fields) == 5 and fields[3].endswith(".o"):
            seconds[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return seconds


def family_of(output: str) -> str:
    """``linalg`` for ``.../generated/csrc/python/ops/linalg.cpp.o``."""
    return Path(output).name.split(".")[0]


def rows(quick: bool) -> list[Row]:
    """The ten slowest units in seconds, the ten largest families in KB of objects; empty before a build."""
    log = BUILD / ".ninja_log"
    if not log.exists():
        return []
    seconds = compile_seconds(log)
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:10]
    found = [
        Row(GROUP, f"compile {'/'.join(Path(o).parts[-3:])}", s, None, "s", SECONDS_PER_UNIT, absolute=True)
        for o, s in slowest
    ]
    sizes: dict[str, int] = defaultdict(int)
    for output in seconds:
        if "generated" in output and (BUILD / output).exists():
            sizes[family_of(output)] += (BUILD / output).stat().st_size
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:10]
    return found + [Row(GROUP, f"objects of family {family}", size / 1000, None, "KB") for family, size in largest]
