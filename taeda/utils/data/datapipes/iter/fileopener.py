"""Pipes of open files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import IterDataPipe
from taeda.utils.data.datapipes.utils.common import get_file_binaries_from_pathnames

__all__ = ["FileOpenerIterDataPipe"]


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe[tuple[str, Any]]):
    """Paths with their files, open; a file closes when nobody has it any more (functional name: ``open_files``).

    Args:
        datapipe: the paths.
        mode: as of ``open``; "b" and "t" are "rb" and "rt".
        encoding: of text.
        length: what is said to be the length.

    Raises:
        ValueError: ``mode`` is none.
    """

    def __init__(self, datapipe: Iterable[str], mode: str = "r", encoding: str | None = None, length: int = -1) -> None:
        super().__init__()
        modes = ("b", "t", "rb", "rt", "r")
        if mode not in modes:
            raise ValueError(f"FileOpener: mode must be one of {modes}; got {mode!r}")
        if "b" in mode and encoding is not None:
            raise ValueError(f"FileOpener: binary files (mode={mode!r}) have no encoding; got {encoding!r}")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from get_file_binaries_from_pathnames(self.datapipe, self.mode, self.encoding)

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length: give it as length=")
        return self.length
