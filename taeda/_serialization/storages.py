"""Loading storages: from a persistent id in the pickle to bytes in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda._serialization.archive import ArchiveReader, Damaged, bytes_of, swap_bytes
from taeda._serialization.storage_types import StorageType


def as_text(pid: Any) -> Any:
    """The id of a storage, where Python 2 wrote it and ``encoding='bytes'`` leaves its texts undecoded.

    It holds at most one tuple, that of a view; those of a hostile file may hold each other 2**50 times over.
    """
    if not isinstance(pid, tuple):
        return pid
    return tuple(tuple(map(_decoded, part)) if type(part) is tuple else _decoded(part) for part in pid)


def _decoded(part: Any) -> Any:
    return part.decode("ascii", "replace") if isinstance(part, bytes) else part


class StorageLoader:
    """Loads each storage of an archive once.

    Args:
        archive: the checkpoint.
        restore: places a storage, given it and its saved location.
        mapping: the file's path and whether to map it shared, to map storages instead of reading them.
        blank: leave the storages' bytes uninitialised.
        folder: where in the archive the storages are.
    """

    def __init__(
        self,
        archive: ArchiveReader,
        restore: Callable[[Any, str], Any],
        mapping: tuple[str, bool] | None,
        blank: bool,
        folder: str = "data",
    ) -> None:
        self._archive = archive
        self._restore = restore
        self._blank = blank
        self._folder = folder
        self._loaded: dict[str, Any] = {}
        self._whole = None
        if mapping is not None:
            path, shared = mapping
            self._whole = taeda.UntypedStorage.from_file(path, shared, archive.end)
            if archive.swaps_bytes and shared:
                raise RuntimeError("taeda.load: a file of the other byte order cannot be mapped shared")

    def load(self, pid: Any) -> Any:
        """The storage that a persistent id ``("storage", type, key, location, numel)`` names.

        Raises:
            RuntimeError: the id is not of that form, or contradicts the archive.
        """
        kind, key, location, numel = self._parse(as_text(pid))
        itemsize = 1 if kind.dtype is None else kind.dtype.itemsize
        record = f"{self._folder}/{key}"
        if numel * itemsize != self._archive.size(record):
            raise Damaged(f"record {record!r} has another size than the storage that it holds")
        if key not in self._loaded:
            self._loaded[key] = self._restore(self._read(record, kind), location)
        untyped = self._loaded[key]
        return untyped if kind.dtype is None else taeda.TypedStorage(wrap_storage=untyped, dtype=kind.dtype)

    def _parse(self, pid: Any) -> tuple[type[StorageType], str, str, int]:
        if isinstance(pid, tuple) and len(pid) == 5 and pid[0] == "storage":
            _, kind, key, location, numel = pid
            texts = isinstance(key, str) and isinstance(location, str)
            typed = isinstance(kind, type) and issubclass(kind, StorageType)
            if typed and texts and type(numel) is int and numel >= 0:
                return kind, key, location, numel
        raise Damaged("its pickle names a storage in a form that is not known")

    def _read(self, record: str, kind: type[StorageType]) -> taeda.UntypedStorage:
        size = self._archive.size(record)
        start = self._archive.offset(record)
        if self._whole is not None:
            storage = self._whole[start : start + size]
        else:
            storage = taeda.UntypedStorage(size)
            if self._blank:
                return storage
            self._archive.read_into(record, bytes_of(storage))
        if self._archive.swaps_bytes and kind.dtype is not None:
            swap_bytes(storage, kind.dtype.itemsize // (2 if kind.dtype.is_complex else 1))
        return storage
