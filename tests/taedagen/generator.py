"""Running the generator in a process of its own: declarations register for the length of one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "tests" / "taedagen" / "tiny"


def generate(out: Path, *options: str, ops: Path = TINY, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "taedagen", "--ops", str(ops), "--out", str(out), *options]
    environment = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed, "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def tree(folder: Path) -> dict[str, str]:
    """Every file below ``folder`` with its text."""
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}
