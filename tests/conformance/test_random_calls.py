"""Random, mostly wrong calls of every operator, function and method: exceptions are fine, a crash or a hang is not.

Each batch runs in a process of its own that writes down a call before it makes it, so that a crash names its call.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from random_calls import target_count

BATCHES, CALLS = 10, 2000
DRIVER = Path(__file__).parents[1] / "random_calls.py"


def test_every_target_is_called() -> None:
    assert 3 * target_count() <= BATCHES * CALLS


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_calls_do_not_crash(batch: int, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    command = [sys.executable, str(DRIVER), str(batch * CALLS), str(CALLS), str(log)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500)
    last = log.read_text().splitlines()[-1].strip() if log.exists() else "none"
    assert done.returncode == 0, f"exit {done.returncode} in: {last}\n{done.stderr[:1500]}\n...\n{done.stderr[-1500:]}"
