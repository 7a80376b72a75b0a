"""``python -m compat`` (``make compat``): runs PyTorch's table of ops through Taeda and PyTorch, and counts."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from .kinds import KINDS
from .known import KNOWN
from .op_db import entries
from .run import Result, run_all

RECORD = Path(__file__).with_name("result.json")
GOAL = 0.97  # of the ops pass wholly


def record(results: list[Result]) -> dict[str, Any]:
    """What docs/coverage.md tells: counts, and of each failing op the checks, the first mistake and the reason."""
    concerned = [r for r in results if not r.excluded]
    failing = {
        r.name: {"checks": list(r.counts), "reason": KNOWN.get(r.name) or short(next(iter(r.mistakes.values()))[0])}
        for r in concerned
        if r.counts
    }
    excluded = Counter(r.excluded for r in results if r.excluded)
    return {
        "entries": len(results),
        "left out": dict(sorted(excluded.items())),
        "passed": sum(r.passed for r in concerned),
        "failing": failing,
        "kinds": {kind.name: of_kind(concerned, kind.name) for kind in KINDS},
    }


def of_kind(results: list[Result], kind: str) -> dict[str, Any]:
    """The ops that PyTorch computes on a kind of operand: how many, and those that differ; and which do more here."""
    found = {r.name: r.kinds[kind] for r in results if kind in r.kinds}
    taken = {name: tally for name, tally in found.items() if tally["taken"]}
    return {
        "ops": len(taken),
        "beyond": sum(tally["beyond"] > 0 for tally in found.values()),
        "failing": {name: tally["mistake"] for name, tally in taken.items() if tally["mistake"]},
    }


def short(mistake: str) -> str:
    """A mistake on one line."""
    return " ".join(mistake.split())[:160]


def summary(results: list[Result]) -> str:
    """Failing ops with the first mistake of each check, then the counts."""
    lines = [
        f"{r.name} | {check} | {count} | {short(r.mistakes[check][0])}"
        for r in results
        for check, count in r.counts.items()
    ]
    made = record(results)
    lines += ["", *(f"left out, {why}: {count}" for why, count in made["left out"].items())]
    concerned = made["passed"] + len(made["failing"])
    share = made["passed"] / max(1, concerned)
    cases = sum(r.cases for r in results)
    for kind, of in made["kinds"].items():
        same = of["ops"] - len(of["failing"])
        lines.append(f"{kind}: {same} of {of['ops']} ops as PyTorch, {of['beyond']} take more")
    lines.append(f"{made['passed']} of {concerned} ops pass wholly ({share:.1%}); {cases} calls compared")
    return "\n".join(lines)


def verdict(results: list[Result]) -> list[str]:
    """What is wrong with the results as a whole."""
    concerned = [r for r in results if not r.excluded]
    wrong = [f"{r.name}: {how}" for r in results for how in ("crash", "hang") if how in r.counts]
    wrong += [
        f"{name} passes: take it out of known.py" for name in KNOWN if any(r.name == name and r.passed for r in results)
    ]
    if sum(r.passed for r in concerned) < GOAL * len(concerned):
        wrong.append(f"less than {GOAL:.0%} of the ops pass wholly")
    return wrong


def regressions(results: list[Result]) -> list[str]:
    """Ops that fail here and not in the record of the last full run."""
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {"failing": {}, "kinds": {}}
    wrong = [f"{r.name} fails: {r.mistakes}" for r in results if r.counts and r.name not in known["failing"]]
    for r in results:
        for kind, tally in r.kinds.items():
            if tally["mistake"] and r.name not in known["kinds"].get(kind, {"failing": ()})["failing"]:
                wrong.append(f"{r.name} fails with {kind} operands: {tally['mistake']}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="compat", description=__doc__)
    parser.add_argument("--only", action="append", help="a name or pattern; may be given several times")
    parser.add_argument("--part", default="0/1", help="i/n: every n-th op, from the i-th on")
    parser.add_argument("--cap", type=int, help="samples per check and dtype at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--verbose", action="store_true", help="show every mistake that was kept")
    parser.add_argument("--details", type=Path, help="a file for all results as JSON")
    options = parser.parse_args()
    first, step = map(int, options.part.split("/"))
    chosen = [e for e in entries() if not options.only or any(fnmatch(e.name, p) for p in options.only)][first::step]
    started = time.monotonic()

    def report(result: Result) -> None:
        if result.counts:
            print(f"{result.name}: {', '.join(f'{c} {n}' for c, n in result.counts.items())}", flush=True)

    results = run_all(chosen, options.jobs, report, options.cap)
    if options.verbose:
        print(
            *(f"{r.name} | {check} | {m}" for r in results for check in r.mistakes for m in r.mistakes[check]), sep="\n"
        )
    print(summary(results), f"in {time.monotonic() - started:.0f} s")
    if options.details:
        options.details.write_text(json.dumps([vars(r) for r in results], indent=1))
    whole = not options.only and step == 1 and options.cap is None
    wrong = verdict(results) if whole else regressions(results)
    if whole:
        RECORD.write_text(json.dumps(record(results), indent=1) + "\n")
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
