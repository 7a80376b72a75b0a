"""Threads: results do not depend on their number, nor on how busy the machine is."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import hashlib, time, taeda as torch
torch.set_num_threads(4)
torch.manual_seed(0)
x = torch.randn(700, 900)
sums = set()
until = time.monotonic() + 1
while time.monotonic() < until:
    y = (x @ x.T).softmax(1).sum(0) + x.exp().mean()
    sums.add(hashlib.sha256(y.numpy().tobytes()).hexdigest())
assert len(sums) == 1 and torch.get_num_threads() == 4
"""
BUSY = "import time\nuntil = time.monotonic() + 3\nwhile time.monotonic() < until: pass"


def test_results_while_other_processes_want_the_cores() -> None:
    others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        subprocess.run([sys.executable, "-c", PROGRAM], check=True)
    finally:
        for other in others:
            other.kill()
            other.wait()
