"""``PyTorchFileWriter``: a checkpoint written record by record; and scopes around it and its reader."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from taeda._serialization.archive import ArchiveWriter, bytes_of
from taeda._serialization.file_reader import PyTorchFileReader


class PyTorchFileWriter:
    """Writes the zip archive that ``load`` reads.

    Args:
        name_or_buffer: a path, or a file open for writing.
        compute_crc32: whether records get checksums; without them reading does not notice damage.

    Raises:
        RuntimeError: the file cannot be made.
    """

    def __init__(self, name_or_buffer: str | os.PathLike[str] | IO[bytes], compute_crc32: bool = True) -> None:
        self._opened: IO[bytes] | None = None
        self._names: set[str] = set()
        file, self._folder = name_or_buffer, "archive"
        if isinstance(name_or_buffer, (str, os.PathLike)):
            self._folder = Path(name_or_buffer).stem or "archive"
            try:
                file = self._opened = open(name_or_buffer, "wb")  # noqa: SIM115 (closed at the end of the file)
            except OSError as error:
                raise RuntimeError(f"taeda.PyTorchFileWriter: {error}") from error
        self._archive = ArchiveWriter(file, self._folder, compute_crc32)  # type: ignore[arg-type]

    def archive_name(self) -> str:
        """The folder inside the archive."""
        return self._folder

    def write_record(self, name: str, data: Any, size: int) -> None:
        """Adds the first ``size`` bytes of ``data``: bytes, text, or a storage.

        Raises:
            RuntimeError: there is such a record already.
        """
        self._note(name)
        raw = data.encode() if isinstance(data, str) else data if isinstance(data, bytes) else bytes_of(data)
        self._archive.write(name, memoryview(raw)[:size])

    def write_record_metadata(self, name: str, size: int) -> None:
        """Leaves room for a record of ``size`` bytes, which somebody else fills."""
        self._note(name)
        self._archive.write_blank(name, size)

    def get_all_written_records(self) -> set[str]:
        """The names so far."""
        return set(self._names)

    def write_end_of_file(self) -> None:
        """Finishes the archive: its version and directory."""
        self._archive.finish()
        if self._opened is not None:
            self._opened.close()

    def _note(self, name: str) -> None:
        if name in self._names:
            raise RuntimeError(f"taeda.PyTorchFileWriter: there is a record {name!r} already")
        self._names.add(name)


@contextmanager
def _open_zipfile_writer(name_or_buffer: Any) -> Iterator[PyTorchFileWriter]:
    """A writer for a scope, at whose end the file is whole."""
    writer = PyTorchFileWriter(name_or_buffer)
    yield writer
    writer.write_end_of_file()


@contextmanager
def _open_zipfile_reader(name_or_buffer: Any) -> Iterator[PyTorchFileReader]:
    """A reader for a scope."""
    yield PyTorchFileReader(name_or_buffer)


@contextmanager
def _open_file_like(name_or_buffer: Any, mode: str) -> Iterator[IO[bytes]]:
    """A path opened for a scope; something that is open as it is."""
    if isinstance(name_or_buffer, (str, os.PathLike)):
        with open(name_or_buffer, mode) as file:
            yield file
        return
    yield name_or_buffer
    if "w" in mode:
        name_or_buffer.flush()


def _is_zipfile(f: IO[bytes]) -> bool:
    """Whether a zip archive begins where the file stands. (Python's own question is whether one ends it.)"""
    start = f.tell()
    signature = f.read(4)
    f.seek(start)
    return signature == b"PK\x03\x04"
