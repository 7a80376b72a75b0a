"""Fetching one batch: indices in, collated samples out. The same code runs in the main process and in workers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..dataset import _fetch_many


class MapFetcher:
    """Fetches from a map-style dataset: a list of keys is a batch, or a key a sample when not batching."""

    def __init__(self, dataset: Any, batching: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset = dataset
        self.batching = batching
        self.collate_fn = collate_fn

    def fetch(self, keys: Any) -> Any:
        """The collated samples at ``keys``."""
        try:
            samples = _fetch_many(self.dataset, keys) if self.batching else self.dataset[keys]
        except Exception as error:
            error.add_note(f"while the dataset gave {_named(keys)}")
            raise
        try:
            return self.collate_fn(samples)
        except Exception as error:
            error.add_note(
                f"while {_named(keys)} of the dataset became a batch; a collate_fn of your own may pad or drop"
            )
            raise


def _named(keys: Any) -> str:
    if not isinstance(keys, (list, tuple)):
        return f"sample {keys!r}"
    shown = ", ".join(map(repr, keys[:20])) + ", ..." * (len(keys) > 20)
    return f"samples [{shown}]"


class IterableFetcher:
    """Fetches from an iterable dataset, of which ``keys`` only says how many samples are wanted."""

    def __init__(
        self, dataset: Iterable[Any], batching: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self.samples: Iterator[Any] = iter(dataset)
        self.batching = batching
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def fetch(self, keys: Any) -> Any:
        """The next samples, collated; raises ``StopIteration`` when there are none (or too few, with ``drop_last``)."""
        if not self.batching:
            return self.collate_fn(next(self.samples))
        batch = list(itertools.islice(self.samples, len(keys)))
        if not batch or (self.drop_last and len(batch) < len(keys)):
            raise StopIteration
        return self.collate_fn(batch)
