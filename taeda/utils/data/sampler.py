"""Samplers: the order in which a loader asks a dataset for its samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import taeda
from taeda import Generator

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

_T_co = TypeVar("_T_co", covariant=True)
_DRAW = 32  # indices drawn at once with replacement; part of the stream of random numbers a seed gives


class Sampler(Generic[_T_co]):
    """Yields keys of a dataset, or lists of them; a subclass defines ``__iter__`` and, where known, ``__len__``."""

    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError(f"{type(self).__name__}: a sampler must define __iter__")


class SequentialSampler(Sampler[int]):
    """``0, 1, ... len(data_source) - 1``."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Indices in random order, each once, or ``num_samples`` independent draws with ``replacement``.

    Without replacement more samples than the dataset has start another permutation. Without ``generator`` each
    iteration draws the seed of one from the default generator.

    Raises:
        TypeError: ``replacement`` is not a bool.
        ValueError: ``num_samples`` is no positive integer, or there is nothing to draw.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"RandomSampler: replacement must be a bool; got {replacement!r}")
        # True is an integer to PyTorch here, and nowhere else
        _check_count("RandomSampler", "num_samples", 1 if num_samples is True else self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices one iteration yields; the dataset's length, even if that changes, unless set."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, generator = len(self.data_source), self.generator
        if generator is None:
            seed = int(taeda.empty((), dtype=taeda.int64).random_().item())
            generator = taeda.Generator().manual_seed(seed)
        if self.replacement:
            for start in range(0, self.num_samples, _DRAW):
                count = min(_DRAW, self.num_samples - start)
                yield from taeda.randint(high=n, size=(count,), dtype=taeda.int64, generator=generator).tolist()
        else:
            for _ in range(self.num_samples // n):
                yield from taeda.randperm(n, generator=generator).tolist()
            yield from taeda.randperm(n, generator=generator).tolist()[: self.num_samples % n]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given ``indices`` in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in taeda.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """``num_samples`` indices drawn with the given ``weights``, which need not sum to 1.

    Raises:
        ValueError: ``weights`` is not 1-D, ``num_samples`` is no positive integer, ``replacement`` is not a bool.
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_count("WeightedRandomSampler", "num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"WeightedRandomSampler: replacement must be a bool; got {replacement!r}")
        self.weights = taeda.as_tensor(weights, dtype=taeda.float64)
        if self.weights.dim() != 1:
            raise ValueError(f"WeightedRandomSampler: weights must be 1-D; got shape {tuple(self.weights.shape)}")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = taeda.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of ``batch_size`` indices of another sampler; ``drop_last`` leaves out a shorter last one."""

    def __init__(self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool) -> None:
        _check_count("BatchSampler", "batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"BatchSampler: drop_last must be a bool; got {drop_last!r}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def _check_count(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{owner}: {name} must be a positive integer; got {value!r}")
