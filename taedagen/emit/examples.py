"""The examples of the reference, ``docs/reference/*.txt``: below lines that name functions, what to type and what is
printed then. They hold for Taeda as for PyTorch; ``torch`` is either."""

from __future__ import annotations

import functools
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"
_NAMES = re.compile(r"torch\.[\w.]+(?: torch\.[\w.]+)*")


class Example:
    """A block of a file, which several names may share."""

    def __init__(self, file: Path, line: int, names: list[str]) -> None:
        self.file, self.line, self.names = file, line, names
        self.lines: list[str] = []

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip() + "\n"

    def __repr__(self) -> str:
        return self.names[0]


def examples() -> list[Example]:
    """All of them, in the order of the files."""
    found: list[Example] = []
    for file in sorted(FOLDER.glob("*.txt")):
        before = ""
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if not before and _NAMES.fullmatch(line):
                found.append(Example(file, number, line.split()))
            else:
                found[-1].lines.append(line)
            before = line
    return found


def example_of(name: str) -> str:
    """The example of ``linalg.inv``; "" without one, as where the folder is not there."""
    return _by_name().get(f"torch.{name}", "")


@functools.cache
def _by_name() -> dict[str, str]:
    return {name: example.text for example in examples() for name in example.names}
