"""``python -m fuzz [--seed S] [--minutes M] [--only KIND ...]``, or ``--replay KIND:FIRST[:COUNT]``.

Runs cases of each kind in processes of their own until the time is up, and prints what failed with the command that
repeats it; exit status 1 if anything did.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from fuzz.driver import KINDS, Finding, reproduce, run

NUMBERS_PER_SEED = 10**9


class Search:
    """What the whole run has done and found; several threads add to it."""

    def __init__(self, seed: int, end: float) -> None:
        self.seed, self.end = seed, end
        self.cases: Counter[str] = Counter()
        self.found: dict[str, list[Finding]] = {}

    def work(self, kind: str, first: int) -> None:
        """One batch; what it finds first of its sort is repeated and made smaller at once."""
        findings, done = run(kind, first, KINDS[kind])
        self.cases[kind] += done
        for finding in findings:
            known = self.found.setdefault(finding.sort, [])
            known.append(finding)
            if len(known) == 1:
                print(f"\nFOUND {reproduce(finding)}\n", flush=True)

    def keep_working(self, kind: str, lane: int, lanes: int) -> None:
        batch = lane
        while time.monotonic() < self.end:
            self.work(kind, self.seed * NUMBERS_PER_SEED + batch * KINDS[kind])
            batch += lanes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="by default another one each time")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="processes beside each other that make calls")
    parser.add_argument("--only", nargs="*", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--replay", metavar="KIND:FIRST[:COUNT]")
    options = parser.parse_args()
    if options.replay:
        kind, first, *count = options.replay.split(":")
        findings, _ = run(kind, int(first), int(count[0]) if count else 1)
        print("\n".join(str(finding) for finding in findings) or "nothing found")
        return int(bool(findings))
    seed = int(time.time()) % 10**6 if options.seed is None else options.seed
    print(f"seed {seed}, {options.minutes:g} minutes: {', '.join(options.only)}", flush=True)
    search = Search(seed, time.monotonic() + 60 * options.minutes)
    lanes = [(kind, lane) for kind in options.only for lane in range(options.jobs if kind == "calls" else 1)]
    with ThreadPoolExecutor(len(lanes)) as pool:
        for future in [
            pool.submit(search.keep_working, kind, lane, options.jobs if kind == "calls" else 1) for kind, lane in lanes
        ]:
            future.result()
    print("cases: " + ", ".join(f"{search.cases[kind]:,} {kind}" for kind in options.only))
    print(f"found (seed {seed}): {len(search.found) or 'nothing'}")
    for sort, findings in search.found.items():
        print(f"  {len(findings)} x {sort}: {' '.join(f'{f.kind}:{f.first}' for f in findings[:5])}")
    return int(bool(search.found))


if __name__ == "__main__":
    sys.exit(main())
