"""A short run of ``make fuzz``, always the same, and that it sees what it looks for."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import files, inner
from fuzz.calls import ops, target_count
from fuzz.driver import KINDS, reproduce, run

BATCHES = 10


def test_every_target_is_called() -> None:
    assert 3 * target_count() <= BATCHES * KINDS["calls"]


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_calls_do_not_crash(batch: int) -> None:
    findings, _ = run("calls", batch * KINDS["calls"], KINDS["calls"])
    assert not findings, reproduce(findings[0])


def test_inner_calls_with_one_argument_wrong_do_not_crash() -> None:
    findings, _ = run("inner", len(ops()) * inner.PER_TARGET, 4 * inner.PER_TARGET)
    assert not findings, reproduce(findings[0])


def test_calls_that_backward_passes_make_are_recorded() -> None:
    target = next(i for i, op in enumerate(ops()) if op.schema.full_name == "layer_norm")
    assert "aten.layer_norm_backward.default" in {str(calls[0][0]) for calls in inner.recorded(target)}


@pytest.mark.parametrize(("kind", "first", "count"), [("files", 0, 600), ("exits", 0, 6), ("faults", 0, 4)])
def test_other_kinds(kind: str, first: int, count: int) -> None:
    findings, _ = run(kind, first, count)
    assert not findings, "\n\n".join(map(str, findings))


TOUCHES = """
import ctypes, sys, taeda
taeda._C._cpu_guard_pages()
t = taeda.ones(5)
at = t.data_ptr()
ctypes.c_char.from_address(at + 19).value
if sys.argv[1] == "freed":
    del t
ctypes.c_char.from_address(at + {"after": 20, "far before": -5000, "freed": 0}[sys.argv[1]]).value
"""
WRITES_BEFORE = """
import ctypes, taeda
taeda._C._cpu_guard_pages()
t = taeda.ones(5)
ctypes.c_char.from_address(t.data_ptr() - 1).value = b"x"
del t
"""


@pytest.mark.parametrize("place", ["after", "far before", "freed"])
def test_guard_pages(place: str) -> None:
    status = subprocess.run([sys.executable, "-c", TOUCHES, place], capture_output=True).returncode
    assert status == (-6 if "TAEDA_SANITIZED" in os.environ else -11)  # a sanitizer tells where and aborts


def test_what_is_written_before_a_block_is_seen_when_it_is_freed() -> None:
    done = subprocess.run([sys.executable, "-c", WRITES_BEFORE], capture_output=True, text=True)
    assert done.returncode == -6 and "written before a block of 20 bytes" in done.stderr


def test_code_in_a_file_is_seen_and_so_are_unclear_errors() -> None:
    def unpickle(folder: Path) -> None:
        pickle.loads(b"\x80\x02cfuzz.files\ntripwire\n)R.")

    def fails(folder: Path) -> None:
        raise RuntimeError("what?")

    assert files.outcome(((RuntimeError,), ""), unpickle) == "code from the file was called"
    assert "unclear RuntimeError" in str(files.outcome(((RuntimeError,), "taeda.load"), fails))
    assert "unexpected RuntimeError" in str(files.outcome(((EOFError,), ""), fails))
