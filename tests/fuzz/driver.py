"""Runs batches of cases in processes, and makes what failed smaller."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

# Each kind of case and how many of them one process runs.
KINDS = {"calls": 2000, "inner": 10_000, "files": 1000, "faults": 4, "exits": 4}
TESTS = Path(__file__).resolve().parents[1]
BATCH_SECONDS = 3600


@dataclass(frozen=True)
class Finding:
    """``count`` cases from ``first`` on, of which the last failed."""

    kind: str
    first: int
    text: str
    wrong: str
    count: int = 1
    details: str = ""

    @property
    def sort(self) -> str:
        """What findings of one cause probably share: the call's name, and how it ended."""
        return f"{self.kind}: {self.text.partition('(')[0][:80]}: {self.wrong.partition(':')[0][:80]}"

    def __str__(self) -> str:
        last = self.first + self.count - 1
        lines = [
            f"{self.kind} {last}: {self.wrong}",
            f"  {self.text}",
            f"  repeat: PYTHONPATH=tests .venv/bin/python -m fuzz --replay {self.kind}:{self.first}:{self.count}",
        ]
        return "\n".join([*lines, *("  | " + line for line in self.details.splitlines()[-12:])])


def run(kind: str, first: int, count: int, simpler: str = "") -> tuple[list[Finding], int]:
    """What is wrong with these cases, and how many were run. A crash ends a process, not the run."""
    findings: list[Finding] = []
    at, end = first, first + count
    while at < end:
        found, at = _run_process(kind, at, end - at, simpler)
        findings += found
    return findings, count


def _run_process(kind: str, first: int, count: int, simpler: str) -> tuple[list[Finding], int]:
    """What one process finds, and the case after the last that it ran."""
    with tempfile.TemporaryDirectory(prefix="taeda-fuzz-") as folder:
        log = Path(folder, "case")
        command = [sys.executable, "-m", "fuzz.worker", kind, str(first), str(count), str(log)]
        paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "TMPDIR": folder, "FUZZ_FOLDER": folder}
        try:
            done = subprocess.run(
                [*command, simpler] if simpler else command, capture_output=True, text=True, errors="replace",
                env=environment, timeout=BATCH_SECONDS, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            done = subprocess.CompletedProcess(command, -signal.SIGALRM, "", str(late))
        told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"number"')]
        findings = [Finding(kind, one["number"], one["text"], one["wrong"]) for one in told]
        if done.returncode == 0:
            return findings, first + count
        if not log.exists():
            raise RuntimeError(f"no case of '{kind}' could be begun:\n{done.stderr[-3000:]}")
        last = json.loads(log.read_text())
        if "AddressSanitizer: allocator is out of memory" not in done.stderr:  # where it ends, std::bad_alloc is thrown
            wrong = _end_of(done.returncode)
            findings.append(Finding(kind, last["number"], last["text"], wrong, details=done.stderr[-2000:]))
        return findings, last["number"] + 1


def _end_of(status: int) -> str:
    if status == -signal.SIGALRM:
        return "hangs"
    return f"ends the process by {signal.Signals(-status).name}" if status < 0 else f"ends the process with {status}"


def reproduce(finding: Finding) -> Finding:
    """The same failure from as few cases, and as simple arguments, as will do."""
    batched = KINDS[finding.kind] > 100  # the others are programs of their own, which no case before them changes
    for before in (0, 1, 3, 15, 127, 1023) if batched else (0,):
        start = max(finding.first - before, 0)
        again, _ = run(finding.kind, start, finding.first - start + 1)
        same = [one for one in again if one.sort == finding.sort and one.first == finding.first]
        if same:
            found = replace(same[-1], first=start, count=finding.first - start + 1)
            return _simplify(found) if before == 0 and finding.kind == "calls" else found
    return replace(finding, details=finding.details + "\n(not seen again when repeated)")


def _simplify(finding: Finding) -> Finding:
    """With those arguments made simpler, one after the other, which it does not need as they are."""
    kept: list[int] = []
    best = finding
    for argument in range(12):
        again, _ = run(finding.kind, finding.first, 1, ",".join(map(str, [*kept, argument])))
        if again and again[-1].sort == finding.sort:
            kept.append(argument)
            best = replace(finding, text=again[-1].text)
    return best
