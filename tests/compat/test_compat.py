"""A sample of ``make compat``: a few calls per check of every op of PyTorch's table, in a process of its own.

An op may fail only where the record of the last full run, of which docs/coverage.md tells, says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .known import KNOWN

pytest.importorskip("torch")
pytest.importorskip("expecttest")  # PyTorch's table needs it
pytestmark = pytest.mark.torch

TESTS = Path(__file__).resolve().parents[1]
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_ops_of_the_table_pass(part: int) -> None:
    command = [sys.executable, "-m", "compat", "--cap", "2", "--jobs", "1", "--part", f"{part}/{PARTS}"]
    environment = os.environ | {"PYTHONPATH": f"{TESTS.parent}:{TESTS}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_what_is_known_to_fail_fails_in_the_record() -> None:
    record = json.loads(Path(__file__).with_name("result.json").read_text())
    assert set(KNOWN) <= set(record["failing"])
