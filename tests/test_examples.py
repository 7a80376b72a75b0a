"""The programs of ``examples/``: they learn, and PyTorch prints the same losses from the same files."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Arguments that keep a run short, and which of the numbers after "step N:" gets better how.
PROGRAMS = {
    "char_gpt": ("--steps 6", 0, "falls"),
    "resnet": ("--steps 7", 0, "falls"),
    "vae": ("--steps 12", 1, "falls"),
    "gan": ("--steps 8", 0, "falls"),
    "lstm_words": ("--steps 8", 1, "falls"),
    "cartpole": ("--steps 10", 1, "rises"),
    "flow": ("--steps 20", 0, "falls"),
    "style": ("--steps 5 --size 48", 0, "falls"),
}
NUMBER = re.compile(r"-?\d+\.\d+")


@functools.cache
def output(name: str, library: str) -> str:
    """What a program prints; under torch the one line that names the library says ``import torch``."""
    text = (ROOT / "examples" / f"{name}.py").read_text()
    if library == "torch":
        text, changed = re.subn(r"^import taeda as torch\b", "import torch", text, flags=re.M)
        assert changed == 1
    save = ["--save", "saved.png"] if '"--save"' in text else []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, f"{name}.py")
        program.write_text(text)
        done = subprocess.run(
            [sys.executable, str(program), *PROGRAMS[name][0].split(), "--every", "1", *save],
            cwd=folder, capture_output=True, text=True, timeout=300,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-3000:]
        assert not save or Path(folder, "saved.png").stat().st_size > 1000
    return done.stdout


def curves(name: str, library: str) -> list[list[str]]:
    """The numbers of every step, as printed."""
    return [NUMBER.findall(step) for step in re.findall(r"^step \d+: (.*)$", output(name, library), re.M)]


@pytest.fixture(autouse=True)
def data_is_there(request: pytest.FixtureRequest) -> None:
    name = request.getfixturevalue("name") if "name" in request.fixturenames else None
    text = (ROOT / "examples" / f"{name}.py").read_text() if name else ""
    if "sklearn" in text:
        pytest.importorskip("sklearn")
    if "load_sample_image" in text:
        pytest.importorskip("PIL")


def test_every_program_is_here() -> None:
    others = {"digits", "own_device"}
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == {*PROGRAMS, *others}


@pytest.mark.parametrize("name", PROGRAMS)
def test_learns(name: str) -> None:
    steps = curves(name, "taeda")
    assert len(steps) == int(PROGRAMS[name][0].split()[1])
    _, which, way = PROGRAMS[name]
    numbers = [float(step[which]) for step in steps]
    third = len(numbers) // 3
    first, last = sum(numbers[:third]), sum(numbers[-third:])
    assert last < first if way == "falls" else last > first, numbers


def agree(step: int, got: str, wanted: str) -> bool:
    """Up to one unit of the last printed digit, and rounding: 1e-6 at first, then what the steps make of it.

    A sum that rounds the other way sends single elements to the other side of a ReLU's kink, and training makes that
    grow: PyTorch beside itself, with weights changed by one unit in the last place, differs by 4e-4 in the fourth step
    of the ResNet. Another dropout mask changes a first loss by 5e-4 to 2e-3, another shuffle or weight by more.
    """
    unit = 10.0 ** -len(wanted.partition(".")[2])
    return abs(float(got) - float(wanted)) <= 1.01 * unit + 1e-6 * 5 ** min(step, 4) * abs(float(wanted))


@pytest.mark.torch
@pytest.mark.parametrize("name", PROGRAMS)
def test_loss_curve_is_pytorchs(name: str) -> None:
    got, wanted = curves(name, "taeda"), curves(name, "torch")
    assert [len(step) for step in got] == [len(step) for step in wanted]
    pairs = [(k, ours, theirs) for k, (ours, theirs) in enumerate(zip(got, wanted))]
    assert [row for row in pairs if not all(agree(row[0], a, b) for a, b in zip(*row[1:]))] == []
