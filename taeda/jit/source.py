"""Places in the source of programs: every stage's errors show the line and a caret under what they speak of."""

from __future__ import annotations

from typing import NamedTuple

_AROUND = 3  # lines shown on each side


class Source:
    """A piece of program text: a file's name, the text from the line ``first_line`` on, and whether lines lost a
    common indentation (``shift`` characters) when it was taken from the file."""

    def __init__(self, text: str, filename: str = "<string>", first_line: int = 1, shift: int = 0) -> None:
        self.text, self.filename, self.first_line, self.shift = text, filename, first_line, shift
        self.lines = text.split("\n")
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """The place of a line (from 1, of this text) and column (from 0, in characters) in the text."""
        return self._starts[line - 1] + column

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line (from 0, of this text) and column of a place."""
        import bisect

        line = min(bisect.bisect_right(self._starts, offset) - 1, len(self.lines) - 1)
        return line, offset - self._starts[line]


class SourceRange(NamedTuple):
    """A part of a `Source`: from ``start`` up to ``end``, counted in characters of its text."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """The line in the file."""
        return self.source.first_line + self.source.line_column(self.start)[0]

    @property
    def column(self) -> int:
        """The column in the file, from 0."""
        return self.source.line_column(self.start)[1] + self.source.shift

    @property
    def text(self) -> str:
        """What stands there."""
        return self.source.text[self.start : self.end]

    def place(self) -> str:
        """``file:line:column``."""
        return f"{self.source.filename}:{self.line}:{self.column}"

    def __str__(self) -> str:
        first, column = self.source.line_column(self.start)
        last, end = self.source.line_column(max(self.start, self.end))
        lines = self.source.lines
        out = [f'  File "{self.source.filename}", line {self.line}']
        for number in range(max(0, first - _AROUND), min(len(lines), max(last, first) + _AROUND + 1)):
            line = lines[number]
            out.append(f"    {line}".rstrip())
            if first <= number <= last:
                here = _underline(line, column if number == first else None, end if number == last else None)
                if here or number == first:
                    out.append(f"    {here}{' <--- HERE' if number == first else ''}")
        return "\n".join(out) + "\n"


def _underline(line: str, start: int | None, end: int | None) -> str:
    first = len(line) - len(line.lstrip()) if start is None else start
    stop = len(line.rstrip()) if end is None else end
    return " " * first + "~" * max(stop - first, 1 if start is not None else 0)
