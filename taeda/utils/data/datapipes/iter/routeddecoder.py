"""Pipes that decode files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import IterDataPipe
from taeda.utils.data.datapipes.iter.callable import _length
from taeda.utils.data.datapipes.utils.common import validate_pathname_binary_tuple
from taeda.utils.data.datapipes.utils.decoder import Decoder, basichandlers, extension_extract_fn, imagehandler

__all__ = ["RoutedDecoderIterDataPipe"]


@functional_datapipe("routed_decode")
class RoutedDecoderIterDataPipe(IterDataPipe[tuple[str, Any]]):
    """Paths with what is in their binary files, as their endings tell (functional name: ``routed_decode``).

    Args:
        datapipe: paths with open files.
        handlers: functions of the ending and the bytes, of which the first that gives something
            decides; those for text, numbers and images by default.
        key_fn: the ending of a path.
    """

    def __init__(
        self,
        datapipe: Iterable[tuple[str, Any]],
        *handlers: Callable[..., Any],
        key_fn: Callable[..., Any] = extension_extract_fn,
    ) -> None:
        super().__init__()
        self.datapipe = datapipe
        self.decoder = Decoder(*(handlers or (basichandlers, imagehandler("torch"))), key_fn=key_fn)

    def add_handler(self, *handler: Callable[..., Any]) -> None:
        """Asks these before the others."""
        self.decoder.add_handler(*handler)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for data in self.datapipe:
            validate_pathname_binary_tuple(data)
            path = data[0]
            yield path, next(iter(self.decoder(data).values()), None)

    def __len__(self) -> int:
        return _length(self, self.datapipe)
