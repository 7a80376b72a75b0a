"""Pipes of what files hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import IterDataPipe

__all__ = ["StreamReaderIterDataPipe"]


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe[tuple[str, Any]]):
    """Names with what their files hold (functional name: ``read_from_stream``).

    Args:
        datapipe: names with open files.
        chunk: how much is read at once, each a sample; all of a file without it.

    Example:
        >>> list(IterableWrapper([("f", io.StringIO("abc"))]).read_from_stream())
        [('f', 'abc')]
    """

    def __init__(self, datapipe: Any, chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name, stream in self.datapipe:
            while data := stream.read(self.chunk):
                yield name, data
            stream.close()
