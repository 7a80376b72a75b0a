"""Packages that were unpacked into a folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import taeda
from taeda import Tensor
from taeda._serialization.archive import Damaged, bytes_of, fill


class DirectoryReader:
    """The records of a package that was unpacked, as `taeda.PyTorchFileReader` gives those of one that is a file.

    Args:
        directory: the folder.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = os.fspath(directory)
        self._archive = _Folder(Path(directory))

    def get_record(self, name: str) -> bytes:
        """The record's bytes; RuntimeError if there is none."""
        return self._archive.read(name)

    def get_storage_from_record(self, name: str, numel: int, dtype: Any) -> Tensor:
        """A record as the storage of a tensor without elements."""
        storage = taeda.UntypedStorage(numel * dtype.itemsize)
        self._archive.read_into(name, bytes_of(storage))
        return taeda.empty(0, dtype=dtype).set_(storage, 0, (0,), (1,))

    def has_record(self, path: str) -> bool:
        """Whether there is a record of that name."""
        return self._archive.has(path)

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return self._archive.names()

    def serialization_id(self) -> str:
        """What the package's writer made of its contents; empty if it wrote none."""
        name = ".data/serialization_id"
        return self.get_record(name).decode() if self.has_record(name) else ""


class _Folder:
    """A folder, asked as an `ArchiveReader` is."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.swaps_bytes = self.has("byteorder") and self.read("byteorder").decode() != sys.byteorder

    def names(self) -> list[str]:
        return sorted(path.relative_to(self._root).as_posix() for path in self._root.rglob("*") if path.is_file())

    def has(self, name: str) -> bool:
        return (self._root / name).is_file()

    def size(self, name: str) -> int:
        return self._path(name).stat().st_size

    def offset(self, name: str) -> int:
        return 0

    def read(self, name: str) -> bytes:
        return self._path(name).read_bytes()

    def read_into(self, name: str, target: memoryview) -> None:
        with self._path(name).open("rb") as file:
            fill(file, target)

    def _path(self, name: str) -> Path:
        path = self._root / name
        if ".." in path.parts or not path.is_file():
            raise Damaged(f"record {name!r} is missing", "package")
        return path
