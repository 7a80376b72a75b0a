"""``FileCheck``: what a text holds, in which order, and what it does not hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_ANNOTATION = re.compile(r"^\s*#\s*CHECK(?P<rest>.*)$")
_KIND = re.compile(r"^(?P<kind>-COUNT-EXACTLY-\d+|-COUNT-\d+|-[A-Z-]+|):\s?(?P<text>.*)$")
_KINDS = ("", "-NOT", "-NEXT", "-SAME", "-DAG", "-SOURCE-HIGHLIGHTED", "-REGEX")


@dataclass(frozen=True)
class _Check:
    kind: str  # as annotations write it: "", "-NOT", "-COUNT"
    text: str
    count: int = 1

    def __str__(self) -> str:
        return f"CHECK{self.kind}{f'-{self.count}' if self.kind == '-COUNT' else ''}: {self.text}"


class FileCheck:
    """Checks a text, as LLVM's tool of this name does: ``FileCheck().check("add").check_not("mul").run(graph)``.

    Each check looks behind what the one before it found.
    """

    def __init__(self) -> None:
        self._checks: list[_Check] = []

    def _with(self, kind: str, text: str, count: int = 1) -> FileCheck:
        self._checks.append(_Check(kind, text, count))
        return self

    def check(self, test_string: str) -> FileCheck:
        """The text comes next, with anything before it."""
        return self._with("", test_string)

    def check_not(self, test_string: str) -> FileCheck:
        """The text is not between what the checks before and after this one find."""
        return self._with("-NOT", test_string)

    def check_same(self, test_string: str) -> FileCheck:
        """The text comes next, on the same line."""
        return self._with("-SAME", test_string)

    def check_next(self, test_string: str) -> FileCheck:
        """The text comes next, on the next line."""
        return self._with("-NEXT", test_string)

    def check_count(self, str: str, count: int, exactly: bool = False) -> FileCheck:
        """The text comes ``count`` times; with ``exactly``, no more often before what the next check finds.

        Raises:
            RuntimeError: a count of nothing, which says nothing unless it is exact.
        """
        if count == 0 and not exactly:
            raise RuntimeError(
                "taeda.testing.FileCheck.check_count: a count of 0 says something only with exactly=True"
            )
        if count:
            self._with("-COUNT", str, count)
        return self._with("-NOT", str) if exactly else self

    def check_dag(self, test_string: str) -> FileCheck:
        """The text comes next; checks of this kind that follow each other may be met in any order."""
        return self._with("-DAG", test_string)

    def check_source_highlighted(self, test_string: str) -> FileCheck:
        """The text comes next, and the line under it marks it with ``~`` from its first character to its last."""
        return self._with("-SOURCE-HIGHLIGHTED", test_string)

    def check_regex(self, test_string: str) -> FileCheck:
        """Something that the regular expression describes comes next."""
        return self._with("-REGEX", test_string)

    def run(self, checks_file: Any, test_file: Any = None) -> None:
        """Checks a text or a graph. With two arguments the first holds the checks, as lines ``# CHECK: text``.

        Raises:
            RuntimeError: the text is not as the checks say; there are no checks.
            TypeError: no text, and no graph.
        """
        from taeda.jit.ir import Graph

        checks, test = self._checks, checks_file
        if test_file is not None:
            checks, test = [*checks, *_read(checks_file)], test_file
        if not isinstance(test, (str, Graph)):
            raise TypeError(f"taeda.testing.FileCheck.run: wants a text or a graph; got {type(test).__name__}")
        if not checks:
            raise RuntimeError("taeda.testing.FileCheck.run: there are no checks")
        _Run(str(test)).all(checks)


def _read(text: str) -> Iterator[_Check]:
    """The checks that a text's comments are."""
    for line in text.splitlines():
        found = _ANNOTATION.match(line)
        if found is None:
            continue
        said = _KIND.match(found["rest"])
        if said is None or (not said["kind"].startswith("-COUNT-") and said["kind"] not in _KINDS):
            raise RuntimeError(f"taeda.testing.FileCheck.run: this is no check: {line.strip()}")
        kind, what = said["kind"], said["text"].strip()
        if not kind.startswith("-COUNT-"):
            yield _Check(kind, what)
            continue
        count = int(kind.rpartition("-")[2])
        if count:
            yield _Check("-COUNT", what, count)
        if "EXACTLY" in kind:
            yield _Check("-NOT", what)


class _Run:
    """A text, and how far the checks have come in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = 0  # of what was found last
        self.forbidden: list[_Check] = []

    def all(self, checks: list[_Check]) -> None:
        i = 0
        while i < len(checks):
            group = [checks[i]]
            while checks[i].kind == "-DAG" and i + 1 < len(checks) and checks[i + 1].kind == "-DAG":
                i += 1
                group.append(checks[i])
            i += 1
            if group[0].kind == "-NOT":
                self.forbidden += group
            else:
                self._meet(*self._places(group))
        self._forbid(len(self.text))

    def _places(self, group: list[_Check]) -> tuple[int, int]:
        """Where what the checks want begins and ends."""
        if group[0].kind != "-DAG":
            return self._place(group[0])
        places = [self._find(check, self.end) for check in group]
        return min(begin for begin, _ in places), max(end for _, end in places)

    def _place(self, check: _Check) -> tuple[int, int]:
        if check.kind == "-SOURCE-HIGHLIGHTED":
            return self._highlighted(check)
        first, end = self._find(check, self.end)
        for _ in range(check.count - 1):
            _, end = self._find(check, end)
        lines = self.text.count("\n", self.end, first)
        if (check.kind == "-SAME" and lines) or (check.kind == "-NEXT" and lines != 1):
            self._fail(check, f"is on another line: {lines} lines further", first)
        return first, end

    def _find(self, check: _Check, start: int) -> tuple[int, int]:
        if check.kind == "-REGEX":
            found = re.compile(check.text).search(self.text, start)
            place = found.span() if found else (-1, -1)
        else:
            begin = self.text.find(check.text, start)
            place = begin, begin + len(check.text)
        if place[0] < 0:
            self._fail(check, "is not there", start)
        return place

    def _highlighted(self, check: _Check) -> tuple[int, int]:
        start = self.end
        while True:
            begin, end = self._find(check, start)
            line = self.text.rfind("\n", 0, begin) + 1
            below = self.text.find("\n", begin)
            marks = self.text[below + 1 :].partition("\n")[0] if below >= 0 else ""
            column = begin - line
            if re.search(rf"^[^~]{{{column}}}~{{{len(check.text)}}}(?!~)", marks):
                return begin, end
            if self.text.find(check.text, end) < 0:
                self._fail(check, "is not marked, or more is", begin)
            start = end

    def _meet(self, begin: int, end: int) -> None:
        self._forbid(begin)
        self.end = end

    def _forbid(self, until: int) -> None:
        for check in self.forbidden:
            place = self.text.find(check.text, self.end, until)
            if place >= 0:
                self._fail(check, "is there", place)
        self.forbidden = []

    def _fail(self, check: _Check, how: str, place: int) -> None:
        line = self.text.rfind("\n", 0, place) + 1
        shown = self.text[line:].partition("\n")[0]
        raise RuntimeError(f"FileCheck: what '{check}' is about {how}, from here on:\n{shown}\n{' ' * (place - line)}~"
                           f" <--- HERE\nin the text:\n{self.text}")  # fmt: skip
