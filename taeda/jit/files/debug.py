"""Where in the program's own files the text in an archive comes from: the record ``….py.debug_pkl`` beside a source."""

from __future__ import annotations

import bisect
from typing import Any

from taeda._serialization.pickler import StorageTable
from taeda.jit.files.pickle_writer import PickleWriter
from taeda.jit.source import Source, SourceRange

_FORMAT = "FORMAT_WITH_STRING_TABLE"
Places = list[tuple[int, SourceRange | None]]


def write_places(places: Places) -> bytes:
    """The record for a source: ``places`` says, in order, from which character on it stands for what."""
    writer = PickleWriter(StorageTable())
    texts: dict[str, int] = {"": 0}
    rows = []
    for offset, place in places:
        if place is None:
            rows.append((offset, [0], 0, 0, 0, 0))
            continue
        source = place.source
        lines = [texts.setdefault(line, len(texts)) for line in source.text.splitlines(keepends=True)]
        name = texts.setdefault(source.filename, len(texts))
        rows.append((offset, lines, name, max(source.first_line - 1, 0), place.start, place.end))
    writer.put(b"(")
    writer.text(_FORMAT)
    writer.put(b"(")
    for text in texts:
        writer.text(text)
    writer.put(b"t(")
    for tag, row in enumerate(rows):
        _write_row(writer, tag, *row)
    writer.put(b"tt")
    return writer.finish()


def _write_row(writer: PickleWriter, tag: int, offset: int, lines: list[int], name: int, first: int, start: int,
               end: int) -> None:  # fmt: skip
    writer.put(b"(")
    writer.integer(offset)
    writer.put(b"((")
    writer.name("torch.jit._pickle.build_intlist")
    writer.put(b"(](")
    for line in lines:
        writer.integer(line)
    writer.put(b"etR")
    writer.integer(name)
    writer.integer(first)
    writer.put(b"t")
    writer.integer(start)
    writer.integer(end)
    writer.put(b"t")
    writer.integer(tag)
    writer.put(b"t")


class Origins:
    """What the text of one source stands for. Read when someone first asks, which is when an error is told.

    Args:
        data: the record; damaged ones tell nothing.
    """

    def __init__(self, data: bytes) -> None:
        self._data: bytes | None = data
        self._offsets: list[int] = []
        self._places: list[SourceRange | None] = []

    def find(self, offset: int) -> SourceRange | None:
        """The place in the program's own files that the character at ``offset`` stands for."""
        if self._data is not None:
            from taeda._serialization.safe_pickle import Refused

            data, self._data = self._data, None
            try:
                self._read(data)
            except (Refused, LookupError, TypeError, ValueError, AttributeError):
                self._offsets, self._places = [], []
        at = bisect.bisect_right(self._offsets, offset) - 1
        return self._places[at] if at >= 0 else None

    def _read(self, data: bytes) -> None:
        from taeda.jit.files.unpickle import ProgramUnpickler  # of those who read

        loaded: Any = ProgramUnpickler(data, _no_storage).load()
        if not isinstance(loaded, tuple) or loaded[0] != _FORMAT:
            return
        _, texts, rows = loaded
        sources: dict[Any, Source] = {}
        for offset, ((lines, name, first), start, end), *_ in rows:
            key = (tuple(lines), name, first)
            if key not in sources:
                text = "".join(texts[line] for line in lines)
                sources[key] = Source(text, texts[name] or "<unknown>", first + 1)
            known = 0 <= start <= end <= len(sources[key].text) and end > 0
            self._offsets.append(offset)
            self._places.append(SourceRange(sources[key], start, end) if known else None)


def _no_storage(pid: Any) -> Any:
    raise ValueError("a record of places names a storage")
