"""``TorchVersion``: a version as text that compares as a version, with texts and with tuples."""

from __future__ import annotations

import re
from typing import Any

from taeda._version import TORCH_VERSION as TORCH_VERSION
from taeda._version import __version__ as internal_version

_PATTERN = re.compile(
    r"v?(\d+(?:\.\d+)*)[._-]?(?:(a|b|rc)[a-z]*[._-]?(\d*))?(?:\.?post(\d*))?(?:\.?dev(\d*))?(?:\+([\w.-]+))?", re.I
)


def _key(version: Any) -> tuple[Any, ...]:
    """What versions are ordered by; ``ValueError`` if ``version`` is none."""
    text = version if isinstance(version, str) else ".".join(map(str, version))
    match = _PATTERN.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"'{text}' is no version")
    release, letter, number, post, development, local = match.groups()
    numbers = [int(part) for part in release.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    stage = (letter.lower(), int(number or 0)) if letter else ("z" if development is None else "", 0)
    # A development version comes before what it leads to; a local one after the one that it is made of.
    locals_ = tuple((1, int(p), "") if p.isdigit() else (0, 0, p) for p in re.split("[._-]", local or "") if p)
    later = -1 if post is None else int(post or 0)
    return tuple(numbers), stage, later, (1, 0) if development is None else (0, int(development or 0)), locals_


class TorchVersion(str):
    """A version. Beside being a ``str``, it is ordered by its numbers: ``TorchVersion("2.13.0") > "2.9"``, and so it is
    against a tuple, ``(2, 9)``. What is no version it compares with as text."""

    def _compare(self, other: Any, operation: str) -> Any:
        if not isinstance(other, (str, tuple, list)):
            return NotImplemented
        try:
            return getattr(_key(str(self)), operation)(_key(other))
        except ValueError:
            return getattr(str(self), operation)(other)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, "__lt__")

    def __le__(self, other: Any) -> Any:
        return self._compare(other, "__le__")

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, "__gt__")

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, "__ge__")

    def __eq__(self, other: object) -> Any:
        return self._compare(other, "__eq__")

    def __hash__(self) -> int:
        return hash(str(self))


__version__ = TorchVersion(f"{TORCH_VERSION}+taeda{internal_version}")
