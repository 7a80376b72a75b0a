"""Pipes that change the order of samples."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sized
from typing import Any, Self, TypeVar

import taeda
from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import IterDataPipe
from taeda.utils.data.datapipes.iter.callable import _length
from taeda.utils.data.sampler import Sampler, SequentialSampler

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]
_T_co = TypeVar("_T_co", covariant=True)


class SamplerIterDataPipe(IterDataPipe[_T_co]):
    """What a sampler, made of a pipe, gives.

    Args:
        sampler_args, sampler_kwargs: what the sampler is made with besides.

    Raises:
        AssertionError: the pipe has no length.
    """

    def __init__(
        self,
        datapipe: Any,
        sampler: type[Sampler[Any]] = SequentialSampler,
        sampler_args: tuple[Any, ...] | None = None,
        sampler_kwargs: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(datapipe, Sized):
            raise AssertionError(f"Sampler: a pipe with a length is wanted; got {type(datapipe).__name__}")
        super().__init__()
        self.datapipe, self.sampler_args, self.sampler_kwargs = datapipe, sampler_args or (), sampler_kwargs or {}
        self.sampler: Any = sampler(*self.sampler_args, data_source=datapipe, **self.sampler_kwargs)  # type: ignore[call-arg]

    def __iter__(self) -> Iterator[_T_co]:
        return iter(self.sampler)

    def __len__(self) -> int:
        return _length(self, self.sampler)


class _Shuffles:
    """The switch, the seed and the generator of pipes that give samples in a random order."""

    def __init__(self) -> None:
        super().__init__()
        self._enabled = True
        self._seed: int | None = None
        self._rng = random.Random()

    def set_shuffle(self, shuffle: bool = True) -> Self:
        """Switches shuffling on or off."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> Self:
        """Sets what the next reading draws with; else a number of the default generator."""
        self._seed = seed
        return self

    def _start_drawing(self) -> None:
        """From the seed that was set, once, or from a number of the default generator."""
        seed = int(taeda.empty((), dtype=taeda.int64).random_().item()) if self._seed is None else self._seed
        self._rng.seed(seed)
        self._seed = None


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(_Shuffles, IterDataPipe[_T_co]):
    """The samples in a random order (functional name: ``shuffle``).

    Args:
        datapipe: the pipe before it.
        buffer_size: how many samples are kept; each that is given is drawn from them.
        unbatch_level: how many levels of batches are undone first, with a buffer as many times as large.

    Raises:
        AssertionError: ``buffer_size`` is not above 0.

    Example:
        >>> sorted(IterableWrapper(range(5)).shuffle().set_seed(0))
        [0, 1, 2, 3, 4]
    """

    def __init__(self, datapipe: Any, *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        super().__init__()
        if buffer_size <= 0:
            raise AssertionError(f"Shuffler: buffer_size must be above 0; got {buffer_size}")
        self.datapipe = datapipe.unbatch(unbatch_level=unbatch_level) if unbatch_level else datapipe
        self.buffer_size = buffer_size
        self._buffer: list[_T_co] = []

    def __iter__(self) -> Iterator[_T_co]:
        if not self._enabled:
            yield from self.datapipe
            return
        buffer, draw = self._buffer, self._rng.randint
        for sample in self.datapipe:
            if len(buffer) < self.buffer_size:
                buffer.append(sample)
            else:
                at = draw(0, len(buffer) - 1)
                given, buffer[at] = buffer[at], sample
                yield given
        while buffer:
            yield buffer.pop(draw(0, len(buffer) - 1))

    def __len__(self) -> int:
        return _length(self, self.datapipe)

    def reset(self) -> None:
        self._buffer = []
        if self._enabled:
            self._start_drawing()
