"""``PyTorchFileReader``: the records of a checkpoint one by one."""

from __future__ import annotations

import os
from typing import IO, Any

import taeda
from taeda import Tensor
from taeda._serialization.archive import Damaged, bytes_of
from taeda._serialization.deflated import DeflatedReader


class PyTorchFileReader:
    """The records of a file that ``save`` wrote, each read when it is asked for.

    Args:
        name_or_buffer: a path, or a file open for reading.

    Raises:
        RuntimeError: there is no such file, or it is no checkpoint.
    """

    def __init__(self, name_or_buffer: str | os.PathLike[str] | IO[bytes]) -> None:
        self._opened: IO[bytes] | None = None
        file: Any = name_or_buffer
        if isinstance(name_or_buffer, (str, os.PathLike)):
            try:
                file = self._opened = open(name_or_buffer, "rb")  # noqa: SIM115 (closed when the reader goes)
            except OSError as error:
                raise RuntimeError(f"taeda.PyTorchFileReader: {error}") from error
        self._archive = DeflatedReader(file, wants_checkpoint=False)

    def __del__(self) -> None:
        if getattr(self, "_opened", None) is not None:
            self._opened.close()  # type: ignore[union-attr]

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return self._archive.names()

    def has_record(self, name: str) -> bool:
        """Whether there is a record of that name."""
        return self._archive.has(name)

    def get_record(self, name: str) -> bytes:
        """The record's bytes; RuntimeError if there is none, or if it is damaged."""
        return self._archive.read(name)

    def get_record_size(self, name: str) -> int:
        """How many bytes the record has; RuntimeError if there is none."""
        return self._archive.size(name)

    def get_record_offset(self, name: str) -> int:
        """Where in the file the record's bytes begin; RuntimeError if there is none."""
        return self._archive.offset(name)

    def get_storage_from_record(self, name: str, numel: int, dtype: Any) -> Tensor:
        """A record as the storage of a tensor without elements.

        Args:
            name: the record.
            numel: how many elements the record holds.
            dtype: their dtype; ``UntypedStorage`` for bytes.

        Raises:
            RuntimeError: there is no such record, it has another size, or it is damaged.
        """
        dtype = taeda.uint8 if dtype is taeda.UntypedStorage else dtype
        size = self._archive.size(name)
        if size != numel * dtype.itemsize:
            raise Damaged(f"record {name!r} has {size} bytes, not {numel} elements of {dtype}")
        storage = taeda.UntypedStorage(size)
        self._archive.read_into(name, bytes_of(storage))
        return taeda.empty(0, dtype=dtype).set_(storage, 0, (0,), (1,))
