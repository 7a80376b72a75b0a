"""Pipes of names of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import IterDataPipe
from taeda.utils.data.datapipes.iter.utils import IterableWrapperIterDataPipe
from taeda.utils.data.datapipes.utils.common import get_file_pathnames_from_root

__all__ = ["FileListerIterDataPipe"]


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe[str]):
    """The paths of the files in folders (functional name: ``list_files``).

    Args:
        root: a folder, several, or a pipe of them.
        masks: patterns as of a shell, of which a name must fit one.
        recursive: files in folders of the folders too.
        abspath: absolute paths.
        non_deterministic: in the order of the file system, not sorted.
        length: what is said to be the length.
    """

    def __init__(
        self,
        root: str | Sequence[str] | IterDataPipe[Any] = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        super().__init__()
        roots = [root] if isinstance(root, str) else root
        self.datapipe: Any = roots if isinstance(roots, IterDataPipe) else IterableWrapperIterDataPipe(roots)
        self.masks, self.recursive, self.abspath = masks, recursive, abspath
        self.non_deterministic, self.length = non_deterministic, length

    def __iter__(self) -> Iterator[str]:
        for path in self.datapipe:
            yield from get_file_pathnames_from_root(
                path, self.masks, self.recursive, self.abspath, self.non_deterministic
            )

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length: give it as length=")
        return self.length
