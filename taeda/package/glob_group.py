"""Patterns of module names: ``torch.*``, ``numpy.**``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

GlobPattern: TypeAlias = str | Iterable[str]


class GlobGroup:
    """A set of names, by patterns. ``*`` stands for anything within a part of a name, ``**`` for any number of parts.

    Args:
        include: a pattern, or several: what belongs to the set.
        exclude: what does not after all.
        separator: what stands between the parts.

    Raises:
        ValueError: ``**`` is not a part of its own.
    """

    def __init__(self, include: GlobPattern, *, exclude: GlobPattern = (), separator: str = ".") -> None:
        self._text = f"GlobGroup(include={include}, exclude={exclude})"
        self.include = _compiled(include, separator)
        self.exclude = _compiled(exclude, separator)
        self.separator = separator

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def matches(self, candidate: str) -> bool:
        """Whether a name belongs to the set."""
        whole = self.separator + candidate
        return any(p.fullmatch(whole) for p in self.include) and not any(p.fullmatch(whole) for p in self.exclude)


def _compiled(patterns: GlobPattern, separator: str) -> list[re.Pattern[str]]:
    several = [patterns] if isinstance(patterns, str) else patterns
    return [re.compile("".join(_part(part, separator) for part in p.split(separator))) for p in several]


def _part(part: str, separator: str) -> str:
    """The expression for one part, with the separator before it."""
    before, anything = re.escape(separator), f"[^{re.escape(separator)}]"
    if part == "**":
        return f"(?:{before}{anything}+)*"
    if "**" in part:
        raise ValueError(f"taeda.package.GlobGroup: ** stands for whole parts of a name; {part!r} has more beside it")
    return before + f"{anything}*".join(map(re.escape, part.split("*")))
