"""Compilers' commands run side by side, and only where something changed since."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """A command that makes ``output`` of ``inputs`` and, for a compilation, of what its dependency file lists."""

    command: tuple[str, ...]
    output: Path
    inputs: tuple[Path, ...]
    depends: Path | None = field(default=None)


def compilation(command: Sequence[str], source: Path, output: Path, after: Sequence[str] = ()) -> Job:
    """Compiles one source; ``after`` are flags that must come last."""
    depends = output.with_name(output.name + ".d")
    whole = (*command, "-MD", "-MF", str(depends), "-c", str(source), "-o", str(output), *after)
    return Job(whole, output, (source,), depends)


def run(jobs: Sequence[Job], verbose: bool = False, workers: int | None = None) -> bool:
    """Runs those jobs whose output is missing or older than what it is made of, ``MAX_JOBS`` of them at a time.

    Returns:
        Whether any was run.

    Raises:
        RuntimeError: a command failed; the message has its output.
    """
    stale = [job for job in jobs if _is_stale(job)]
    with ThreadPoolExecutor(max_workers=workers or worker_count()) as pool:
        for _ in pool.map(lambda job: _run(job, verbose), stale):
            pass
    return bool(stale)


def worker_count() -> int:
    """What ``MAX_JOBS`` says, else one for each processor."""
    said = os.environ.get("MAX_JOBS", "")
    return max(int(said), 1) if said.isdigit() else len(os.sched_getaffinity(0))


def _stamp(job: Job) -> Path:
    return job.output.with_name(job.output.name + ".command")


def _is_stale(job: Job) -> bool:
    stamp = _stamp(job)
    if not job.output.exists() or not stamp.exists() or stamp.read_text() != shlex.join(job.command):
        return True
    made = job.output.stat().st_mtime_ns
    files = [*job.inputs, *(_listed(job.depends) if job.depends else [])]
    return any(not file.exists() or file.stat().st_mtime_ns > made for file in files)


def _listed(depends: Path) -> list[Path]:
    """The files that a compiler's dependency file names."""
    if not depends.exists():
        return [depends]  # which is missing: stale
    text = depends.read_text().replace("\\\n", " ").partition(": ")[2]
    return [Path(name.replace("\\ ", " ")) for name in re.findall(r"(?:\\ |\S)+", text)]


def _run(job: Job, verbose: bool) -> None:
    job.output.parent.mkdir(parents=True, exist_ok=True)
    if verbose:
        print(shlex.join(job.command), file=sys.stderr)
    done = subprocess.run(job.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(
            f"taeda.utils.cpp_extension: building {job.output.name} failed with status {done.returncode}:\n"
            f"{shlex.join(job.command)}\n{done.stdout}"
        )
    if done.stdout and verbose:
        print(done.stdout, file=sys.stderr)
    _stamp(job).write_text(shlex.join(job.command))
