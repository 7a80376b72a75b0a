"""What the generator makes of the declarations in ``tiny``, file by file.

After a change that is meant: ``python tests/taedagen/test_golden.py`` writes the golden files anew; read their diff.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from generator import generate, tree

GOLDEN = Path(__file__).parent / "golden"
ARTEFACTS = [
    "include/taeda/ops/first.h", "csrc/autograd/ops/first.cpp", "csrc/autograd/ops/second.cpp",
    "csrc/backend/cpu/ops/first.cpp", "csrc/backend/cpu/ops/first.h", "csrc/backend/cpu/ops/first_loops.h",
    "csrc/backend/cpu/ops/second_gradients.cpp", "csrc/backend/cpu/ops/second_gradients_loops.h",
    "csrc/backend/any_device/ops/first.cpp", "csrc/backend/meta/ops/first.cpp", "csrc/backend/meta/ops/first.h",
    "csrc/composite/ops/first.cpp", "csrc/composite/ops/first.h",
    "csrc/dispatch/families.cpp", "csrc/dispatch/ops/first.cpp", "csrc/dispatch/ops/first.h",
    "csrc/dispatch/ops/first.inc", "csrc/dispatch/signatures_0.cpp",
    "csrc/python/bound.cpp", "csrc/python/ops/first.cpp", "csrc/python/ops/first.inc",
    "csrc/shape/ops/first.h", "csrc/shape/ops/limits.h", "csrc/shape/ops/second.cpp", "csrc/shape/ops/second.h",
    "docs/first.md", "library.txt", "ops.json", "locations.json", "taeda/_C/_functions.pyi", "taeda/_C/_methods.pyi",
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    out = tmp_path_factory.mktemp("tiny")
    run = generate(out)
    assert run.returncode == 0, run.stderr
    return tree(out)


@pytest.mark.parametrize("name", ARTEFACTS)
def test_golden(made: dict[str, str], name: str) -> None:
    assert made[name] == (GOLDEN / name).read_text()


def _write() -> None:
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder)).check_returncode()
        made = tree(Path(folder))
    for name in ARTEFACTS:
        (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
        (GOLDEN / name).write_text(made[name])


if __name__ == "__main__":
    _write()
