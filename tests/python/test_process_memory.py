"""What the process holds: requests beyond the machine, memory that goes back, threads that cannot be had, forks."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import taeda

HEAD = """
import os, sys, threading, time
import taeda as torch

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

def fill(sizes, megabytes):
    for n in sizes:
        blocks = [torch.ones(n) for _ in range(megabytes * 2**20 // (4 * n))]
        del blocks
"""


def run(program: str, timeout: float = 120) -> str:
    code = HEAD + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("make", [taeda.empty, taeda.zeros, taeda.ones, taeda.rand])
def test_more_than_the_machine_has_is_refused(make: object) -> None:
    with pytest.raises(RuntimeError, match=r"cannot allocate \d+ bytes on the CPU: this machine"):
        make(10 * 2**40)  # type: ignore[operator]


def test_a_limit_beyond_64_bits() -> None:
    with pytest.raises(OverflowError, match="the limit.*64 bits"):
        taeda.cpu.set_memory_limit(2**70)


@pytest.mark.skipif("TAEDA_SANITIZED" in os.environ, reason="a sanitizer holds freed blocks back")
def test_small_blocks_serve_other_sizes_and_go_back() -> None:
    found = run("""
        fill([1000], 1)
        start = resident()
        fill([1000, 2000, 4000, 8000, 15000], 100)
        kept = resident() - start
        torch.cpu.empty_cache()
        print(kept, resident() - start)
    """)
    kept, left = map(float, found.split())
    assert kept < 300 and left < 20, found


def test_a_peak_is_forgotten() -> None:
    found = run("""
        torch.ones(100 * 2**18)
        for _ in range(60):
            torch.ones(2**18)
            time.sleep(0.1)
        print(torch.cpu.memory_stats()["cached"] / 2**20)
    """)
    assert float(found) < 90, found


def test_a_process_that_gets_no_threads_goes_on_alone() -> None:
    run("""
        import resource
        torch.set_num_threads(2)
        used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**22, used + 2**22))
        a = torch.ones(2**18)
        assert (a + a).sum() == 2**19
    """)


def test_forks_during_draws() -> None:
    run("""
        import signal
        signal.alarm(60)
        def draw():
            while True:
                torch.rand(3_000_000)
        threading.Thread(target=draw, daemon=True).start()
        time.sleep(0.05)
        numbers = set()
        for _ in range(10):
            child = os.fork()
            if child == 0:
                torch.manual_seed(3)
                os._exit(int(torch.randint(200, (1,))))
            numbers.add(os.waitpid(child, 0)[1])
        assert len(numbers) == 1 and min(numbers) % 256 == 0, numbers
        os._exit(0)
    """)
