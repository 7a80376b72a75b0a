"""A target that this repository does not know, and ops of a namespace of their own, built as a library beside Taeda."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent / "second_target"
BUILT = ROOT / "build" / "dev"
COMPILER = os.environ.get("CXX", "c++")


def run(*command: str | Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not (BUILT / "libtaeda.so").exists() or not shutil.which(COMPILER),
                    reason="needs the developer's build and a C++ compiler")  # fmt: skip
def test_a_second_target(tmp_path: Path) -> None:
    made = tmp_path / "made"
    run(sys.executable, HERE / "target.py", "--extension", HERE / "ops", "--out", made)
    units = (made / "library.txt").read_text().split()
    unit = tmp_path / "all.cpp"
    unit.write_text("".join(f'#include "{made / name}"\n' for name in units))
    folders = [made / "csrc", made / "include", HERE, ROOT / "csrc", ROOT / "include",
               BUILT / "generated" / "csrc", BUILT / "generated" / "include"]  # fmt: skip
    library = tmp_path / "libdemo.so"
    run(COMPILER, "-std=c++20", "-O0", "-fPIC", "-shared", "-fvisibility=hidden", *(f"-I{f}" for f in folders), unit,
        "-o", library, f"-L{BUILT}", "-ltaeda", f"-Wl,-rpath,{BUILT}", "-Wl,--no-undefined")  # fmt: skip
    run(sys.executable, HERE / "program.py", library)
