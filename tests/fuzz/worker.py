"""Runs cases in this process: ``python -m fuzz.worker KIND FIRST COUNT LOG [SIMPLER]``.

LOG holds the case last begun, so that a crash names it; what is wrong goes to standard output. SIMPLER lists the
arguments to make simpler, for kinds that can.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import warnings

SLOWNESS = 10 if "TAEDA_SANITIZED" in os.environ else 1


def main(kind: str, first: int, count: int, path: str, simpler: str = "") -> None:
    warnings.simplefilter("ignore")
    module = importlib.import_module(f"fuzz.{kind}")
    module.prepare()
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    options = {"simpler": frozenset(map(int, simpler.split(",")))} if simpler else {}
    for number in range(first, first + count):
        _note(log, number, "(while it was made)")
        signal.alarm(module.SECONDS * SLOWNESS)  # a case that hangs ends the process
        text, run = module.make(number, **options)
        _note(log, number, text)
        wrong = run()
        if wrong:
            print(json.dumps({"number": number, "text": text, "wrong": wrong}), flush=True)
    signal.alarm(0)


def _note(log: int, number: int, text: str) -> None:
    os.pwrite(log, json.dumps({"number": number, "text": text[:3000]}).ljust(8000).encode() + b"\n", 0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
