"""Random, mostly wrong calls of every function and method: exceptions are fine, a crash is not.

Each batch runs in a process of its own that writes down a call before it makes it, so that a crash names its call.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BATCHES, CALLS = 10, 2000
DRIVER = Path(__file__).with_name("random_calls.py")


@pytest.mark.parametrize("seed", range(BATCHES))
def test_random_calls_do_not_crash(seed: int, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(seed), str(CALLS), str(log)], capture_output=True, text=True, timeout=300
    )
    last = log.read_text().splitlines()[-1] if log.exists() else "none"
    assert done.returncode == 0, f"exit {done.returncode} in: {last}\n{done.stderr[-1500:]}"
