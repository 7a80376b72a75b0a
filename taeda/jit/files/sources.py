"""The source records of an archive: which classes and functions they define, found without reading their bodies."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from taeda.jit.files.archive import ProgramReader
from taeda.jit.files.debug import Origins
from taeda.jit.parse.errors import fail
from taeda.jit.source import Source, SourceRange

_FOLDER = "code/"
_TOP = re.compile(r"^(class|def) +(\w+)", re.MULTILINE)
_METHOD = re.compile(r"^  def +(\w+)", re.MULTILINE)
_BASE = re.compile(r"class +\w+(?:\(([\w.]+)\))?:")


class SourceFile:
    """One record of source."""

    def __init__(self, record: str, text: str, origins: bytes) -> None:
        self.record, self.text = record, text
        self.source = Source(self.text, record)
        self._origins = Origins(origins)
        self.parts: dict[str, Part] = {}
        found = list(_TOP.finditer(self.text))
        ends = [*(match.start() for match in found[1:]), len(self.text)]
        for match, end in zip(found, ends):  # none in a record without definitions
            self.parts[match[2]] = Part(self, match[1], match[2], match.start(), end)

    def origin(self, offset: int, end: int) -> SourceRange:
        """The place in the program's own files that a character stands for; that in the archive if none is told."""
        return self._origins.find(offset) or SourceRange(self.source, offset, end)


class Part(NamedTuple):
    """A class or function of a record, by where its text is."""

    file: SourceFile
    kind: str
    name: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text."""
        return self.file.text[self.start : self.end]

    def base(self) -> str:
        """What the class derives from; empty if nothing."""
        found = _BASE.match(self.text)
        return (found[1] or "") if found else ""

    def methods(self) -> dict[str, Part]:
        """The methods of a class."""
        found = list(_METHOD.finditer(self.text))
        ends = [*(match.start() for match in found[1:]), len(self.text)]
        return {
            match[1]: Part(self.file, "method", match[1], self.start + match.start(), self.start + end)
            for match, end in zip(found, ends)
        }

    def header(self) -> str:
        """What stands in a class before its methods, without the line of its name."""
        found = _METHOD.search(self.text)
        text = self.text[: found.start()] if found else self.text
        return text.partition("\n")[2]

    def tree(self) -> tuple[ast.FunctionDef, int]:
        """A function's or method's tree, and how many characters of indentation its lines have lost.

        Raises:
            CompileError: it is no definition of a function.
        """
        text, shift = self.text, 0
        if self.kind == "method":
            shift = 2
            text = "\n".join(line[2:] if line.startswith("  ") else line for line in text.split("\n"))
        try:
            found = ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            fail(self.place(), f"taeda.jit.load: the source of '{self.name}' in the archive is damaged ({error})")
        if len(found) != 1 or not isinstance(found[0], ast.FunctionDef):
            fail(self.place(), f"taeda.jit.load: '{self.name}' in the archive is no function")
        return found[0], shift

    def place(self) -> SourceRange:
        """Where the part begins in its record."""
        return SourceRange(self.file.source, self.start, self.start + len(self.name) + 4)

    def range(self, tree: ast.AST, shift: int) -> SourceRange:
        """Where a piece of the part's tree comes from."""
        line, column = self.file.source.line_column(self.start)
        del column
        first = self.file.source.offset(line + tree.lineno, shift + tree.col_offset)  # type: ignore[attr-defined]
        last = self.file.source.offset(line + tree.end_lineno, shift + tree.end_col_offset)  # type: ignore[attr-defined]
        return self.file.origin(first, last)


class Sources:
    """All source of an archive by name. The archive's file is not needed any more."""

    def __init__(self, reader: ProgramReader) -> None:
        self._files: dict[str, SourceFile] = {}
        for record in reader.names():
            if record.startswith(_FOLDER) and record.endswith(".py"):
                places = f"{record}.debug_pkl"
                module = record.removeprefix(_FOLDER).removesuffix(".py").replace("/", ".")
                origins = reader.read(places) if reader.has(places) else b""
                self._files[module] = SourceFile(record, reader.text(record), origins)

    def find(self, name: str) -> Part | None:
        """The class or function ``__torch__.package.Name``; None if the archive has none."""
        module, _, last = name.rpartition(".")
        file = self._files.get(module)
        return file.parts.get(last) if file is not None else None

    def names(self) -> list[str]:
        """The names of all classes and functions."""
        return [f"{module}.{name}" for module, file in self._files.items() for name in file.parts]
