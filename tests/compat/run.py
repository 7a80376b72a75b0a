"""Runs every check of every op, each op in a child process, so that a crash or a hang is a result like any other."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

import taeda

from . import kinds
from .checks import CHECKS, Check
from .op_db import Case, Entry
from .programs import PROGRAM_CHECKS

SECONDS = 240  # that one op may take
SHOWN = 6  # mistakes of a check that are kept in full


@dataclass
class Result:
    """What the checks of one op found."""

    name: str
    excluded: str = ""
    cases: int = 0
    seconds: float = 0.0
    mistakes: dict[str, list[str]] = field(default_factory=dict)  # by check; the first few
    counts: dict[str, int] = field(default_factory=dict)  # by check; of all
    kinds: dict[str, Any] = field(default_factory=dict)  # what `run_kinds` found

    @property
    def passed(self) -> bool:
        return not self.excluded and not self.counts

    def add(self, check: str, mistake: str) -> None:
        self.counts[check] = self.counts.get(check, 0) + 1
        kept = self.mistakes.setdefault(check, [])
        if len(kept) < SHOWN:
            kept.append(mistake[:400])


def one_check(entry: Entry, check: Check, case: Case) -> str:
    try:
        return check.run(entry, case)
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(line.filename).name}:{line.lineno})"


def run_op(entry: Entry, progress: Callable[[str], Any], cap: int | None = None) -> Result:
    """Every check of an op, of at most ``cap`` samples each; ``progress`` hears of each call before it is made."""
    result = Result(entry.name, entry.excluded())
    if result.excluded:
        return result
    started = time.monotonic()
    for check in (*CHECKS, *PROGRAM_CHECKS):
        for case in check.cases(entry, cap):
            progress(f"{check.name}, {case.dtype or 'wrong call'} sample {case.index}")
            result.cases += 1
            if mistake := one_check(entry, check, case):
                result.add(check.name, f"{case.dtype or 'wrong call'} sample {case.index}: {mistake}")
    if cap is None:
        result.kinds = run_kinds(entry, progress)
    result.seconds = round(time.monotonic() - started, 2)
    return result


def run_kinds(entry: Entry, progress: Callable[[str], Any]) -> dict[str, Any]:
    """Sparse and quantised operands: of each kind that PyTorch or Taeda takes, the counts and the first mistake."""
    found = {}
    for kind in kinds.KINDS:
        progress(f"{kind.name} operands")
        try:
            tally = kinds.run(entry, kind)
        except Exception as error:
            tally = kinds.Tally(1, 0, [f"{type(error).__name__}: {error}"])
        if tally.taken or tally.beyond:
            first = " ".join(tally.mistakes[0].split())[:160] if tally.mistakes else ""
            found[kind.name] = {"taken": tally.taken, "beyond": tally.beyond, "mistake": first}
    return found


class Child:
    """A forked process that runs one op and leaves its result in a file."""

    def __init__(self, entry: Entry, folder: Path, cap: int | None) -> None:
        self.entry, self.cap, self.started = entry, cap, time.monotonic()
        self.answer, self.place = folder / f"{id(entry)}.json", folder / f"{id(entry)}.at"
        self.pid = os.fork()
        if self.pid == 0:
            self._work()

    def _work(self) -> None:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        try:
            with self.place.open("w") as place:

                def progress(where: str) -> None:
                    place.seek(0)
                    place.write(where.ljust(120))
                    place.flush()

                result = run_op(self.entry, progress, self.cap)
            self.answer.write_text(json.dumps(asdict(result)))
            os._exit(0)
        except BaseException:
            self.place.write_text(traceback.format_exc()[-300:])
            os._exit(70)

    def result(self) -> Result | None:
        """None while it runs."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0 and time.monotonic() - self.started < SECONDS:
            return None
        if pid and os.waitstatus_to_exitcode(status) == 0:
            return Result(**json.loads(self.answer.read_text()))
        if not pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            how = f"no end after {SECONDS} s"
        else:
            how = f"exit {os.waitstatus_to_exitcode(status)}"
        result = Result(self.entry.name)
        where = self.place.read_text().strip() if self.place.exists() else "the start"
        result.add("crash" if pid else "hang", f"{how} in {where}")
        return result


def run_all(
    chosen: Iterable[Entry], jobs: int, report: Callable[[Result], Any] = lambda result: None, cap: int | None = None
) -> list[Result]:
    """The results of all entries, ``jobs`` at a time, in the entries' order."""
    torch.set_num_threads(1)
    taeda.set_num_threads(1)
    chosen = list(chosen)
    waiting, running, done = list(reversed(chosen)), [], {}
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Child(waiting.pop(), Path(folder), cap))
            time.sleep(0.01)
            for child in list(running):
                if (result := child.result()) is not None:
                    running.remove(child)
                    done[id(child.entry)] = result
                    report(result)
    return [done[id(entry)] for entry in chosen]
