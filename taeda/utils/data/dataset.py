"""Datasets: where samples come from, and datasets made of others."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import taeda
from taeda import Generator, Tensor

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

_T_co = TypeVar("_T_co", covariant=True)
_T = TypeVar("_T")


class Dataset(Generic[_T_co]):
    """A map from keys, usually ``range(len(self))``, to samples.

    A subclass defines ``__getitem__``, usually ``__len__``, and may define ``__getitems__(keys)`` to fetch a batch as
    a list at once.
    """

    def __getitem__(self, index: Any) -> _T_co:
        raise NotImplementedError(f"{type(self).__name__}: a dataset must define __getitem__")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co], Iterable[_T_co]):
    """A dataset that can only be read in order; a subclass defines ``__iter__``.

    With several workers each one reads its own copy: use :func:`get_worker_info` to share the samples out.
    """

    def __add__(self, other: Dataset[Any]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Sample ``i`` is the tuple of the ``i``-th items of all ``tensors``, which have the same first size."""

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        sizes = [t.size(0) for t in tensors]
        if any(size != sizes[0] for size in sizes):
            raise AssertionError(f"TensorDataset: all tensors must have the same first size; got {sizes}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Sample ``i`` is the tuple (dict, for parts given by keyword) of the ``i``-th samples of all parts.

    Raises:
        ValueError: no part, both kinds of parts, or parts of different lengths.
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Dataset[Any], **kwargs: Dataset[Any]) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset: wants datasets, either all positional or all by keyword")
        self.datasets = args or kwargs
        lengths = [len(part) for part in self._parts()]  # type: ignore[arg-type]
        if len(set(lengths)) != 1:
            raise ValueError(f"StackDataset: all datasets must have the same length; got {lengths}")
        self._length = lengths[0]

    def _parts(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _joined(self, samples: Iterable[Any]) -> Any:
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, samples, strict=True))
        return tuple(samples)

    def __getitem__(self, index: Any) -> Any:
        return self._joined(part[index] for part in self._parts())

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        columns = []
        for part in self._parts():
            samples = _fetch_many(part, indices)
            if len(samples) != len(indices):
                raise ValueError(
                    f"StackDataset: {type(part).__name__}.__getitems__ returned {len(samples)} samples for"
                    f" {len(indices)} indices"
                )
            columns.append(samples)
        return [self._joined(row) for row in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[_T_co]):
    """The samples of several map-style datasets one after the other.

    Raises:
        AssertionError: no dataset, or an iterable one.
    """

    datasets: list[Dataset[_T_co]]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Dataset[_T_co]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("ConcatDataset: wants at least one dataset")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset: cannot hold an IterableDataset; chain it with ChainDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """The running totals of the lengths of ``sequence``."""
        return list(itertools.accumulate(len(part) for part in sequence))

    @property
    def cummulative_sizes(self) -> list[int]:
        """The former name of ``cumulative_sizes``."""
        warnings.warn("cummulative_sizes is now cumulative_sizes", DeprecationWarning, stacklevel=2)
        return self.cumulative_sizes

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> _T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError(f"ConcatDataset: index {idx} is out of range for {len(self)} samples")
            idx += len(self)
        part = bisect.bisect_right(self.cumulative_sizes, idx)
        if part == len(self.datasets):
            raise IndexError(f"ConcatDataset: index {idx} is out of range for {len(self)} samples")
        return self.datasets[part][idx - (self.cumulative_sizes[part - 1] if part else 0)]


class ChainDataset(IterableDataset[Any]):
    """The samples of several iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        super().__init__()
        self.datasets = datasets

    def _parts(self) -> Iterator[Any]:
        for part in self.datasets:
            if not isinstance(part, IterableDataset):
                raise AssertionError(f"ChainDataset: holds iterable datasets only; got {type(part).__name__}")
            yield part

    def __iter__(self) -> Iterator[Any]:
        for part in self._parts():
            yield from part

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts())


class Subset(Dataset[_T_co]):
    """The samples of ``dataset`` at ``indices``, in that order."""

    dataset: Dataset[_T_co]
    indices: Sequence[int]

    def __init__(self, dataset: Dataset[_T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[_T_co]:
        return _fetch_many(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _fetch_many(dataset: Any, keys: list[Any]) -> list[Any]:
    """The samples at ``keys``, in one call where the dataset offers it."""
    if callable(getattr(dataset, "__getitems__", None)):
        return dataset.__getitems__(keys)
    return [dataset[key] for key in keys]


def random_split(
    dataset: Dataset[_T], lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset[_T]]:
    """Splits ``dataset`` at random into disjoint subsets of the given ``lengths``.

    Lengths that sum to 1 are fractions; samples left over by rounding down go one each to the first subsets.

    Raises:
        ValueError: the lengths do not add up to the dataset's, or a fraction lies outside [0, 1].
    """
    total = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _from_fractions(lengths, total)
    if sum(lengths) != total:
        raise ValueError(f"random_split: lengths must add up to the {total} samples of the dataset; got {sum(lengths)}")
    order = taeda.randperm(int(sum(lengths)), generator=generator).tolist()
    ends = itertools.accumulate(int(length) for length in lengths)
    return [Subset(dataset, order[end - int(length) : end]) for end, length in zip(ends, lengths, strict=True)]


def _from_fractions(fractions: Sequence[float], total: int) -> list[int]:
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"random_split: fraction {i} must lie in [0, 1]; got {fraction}")
    counts = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(counts)):
        counts[i % len(counts)] += 1
    for i, count in enumerate(counts):
        if count == 0:
            warnings.warn(f"random_split: subset {i} is empty", UserWarning, stacklevel=3)
    return counts
