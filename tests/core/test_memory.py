"""Memory limits, processes forked after use, and interrupting a long run."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import numpy
import pytest

import taeda


def run(program: str, timeout: float = 60, **kwargs: object) -> subprocess.CompletedProcess[str]:
    """Runs ``program`` in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=timeout, **kwargs
    )  # type: ignore[call-overload, no-any-return]


def test_too_large_a_tensor_says_how_much_was_asked_for() -> None:
    with pytest.raises(RuntimeError, match=r"(?i)asked|bytes|memory"):
        taeda.empty(1 << 50)


def test_the_limit_says_what_was_asked_for_and_what_is_held() -> None:
    done = run("""
        import taeda
        held = taeda.ones(1 << 20)
        taeda.cpu.set_memory_limit(8 << 20)
        try:
            taeda.ones(4 << 20)
        except RuntimeError as error:
            print(error)
        taeda.ones(1 << 10)
    """)
    assert done.returncode == 0, done.stderr
    for amount in (16 << 20, 4 << 20, 8 << 20):  # asked for, held, the limit
        assert f"{amount} bytes" in done.stdout, done.stdout


def test_freed_memory_is_used_again() -> None:
    done = run("""
        import taeda
        taeda.ones(1 << 22)
        before = taeda.cpu.memory_stats()
        for _ in range(100):
            taeda.ones(1 << 22)
        after = taeda.cpu.memory_stats()
        assert after["system_allocations"] == before["system_allocations"], (before, after)
    """)
    assert done.returncode == 0, done.stderr


def test_workers_forked_after_a_training_step_do_not_hang() -> None:
    done = run("""
        import taeda as torch
        torch.set_num_threads(2)
        model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.Flatten(), torch.nn.Linear(4 * 62 * 62, 8))
        model(torch.ones(16, 1, 64, 64)).sum().backward()

        class Squares(torch.utils.data.Dataset):
            def __len__(self):
                return 8
            def __getitem__(self, k):
                return (torch.ones(300, 300) @ torch.ones(300, 300)).sum() * 0 + k * k

        loader = torch.utils.data.DataLoader(Squares(), batch_size=4, num_workers=2)
        print([x.tolist() for x in loader])
    """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["[[0.0,", "1.0,", "4.0,", "9.0],", "[16.0,", "25.0,", "36.0,", "49.0]]"]


def test_a_forked_child_computes() -> None:
    done = run("""
        import os
        import taeda as torch
        torch.set_num_threads(2)
        a = torch.ones(500, 500)
        a @ a
        child = os.fork()
        if child == 0:
            os._exit(int((a @ a)[0, 0]) % 251)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert done.stdout.strip() == str(500 % 251), done.stderr


def test_an_interrupt_stops_a_long_loop() -> None:
    # A parent that ignores interrupts, as a shell does for what it runs in the background, hands that on.
    program = """
        import signal
        import taeda as torch
        signal.signal(signal.SIGINT, signal.default_int_handler)
        a = torch.ones(200, 200, requires_grad=True)
        print("ready", flush=True)
        while True:
            (a @ a).relu().sum().backward()
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline().strip() == "ready"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert "KeyboardInterrupt" in errors


def test_an_out_of_memory_error_is_a_runtime_error() -> None:
    assert issubclass(taeda.OutOfMemoryError, RuntimeError)


@pytest.mark.parametrize("memory_format", [taeda.contiguous_format, taeda.channels_last])
def test_a_format_for_an_expanded_tensor_gets_the_memory_that_it_reaches(memory_format: taeda.memory_format) -> None:
    one = taeda.ones(1, 1, 1, 1)
    wide = one.expand(2, 3, 4, 5)
    assert wide.resize_(2, 3, 4, 5, memory_format=memory_format).is_contiguous(memory_format=memory_format)
    assert wide.untyped_storage().nbytes() == 480 and one.item() == 1
    wide.fill_(2)
    assert wide.sum().item() == 240
    held = taeda.as_tensor(numpy.ones(1, dtype="float32")).expand(2, 3, 4, 5)
    with pytest.raises(RuntimeError, match="resized"):
        held.resize_(2, 3, 4, 5, memory_format=memory_format)
