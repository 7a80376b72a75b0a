"""The data loader: batches of a dataset, fetched here or by worker processes."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import taeda

from ._utils.collate import default_collate, default_convert
from ._utils.fetch import IterableFetcher, MapFetcher
from ._utils.info import get_worker_info
from ._utils.pin_memory import pin_memory as _pin
from ._utils.pipes import PipeSeeds, set_shuffle, shard, wrapped
from .dataset import Dataset, IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_collate_fn_t = Callable[[list[_T]], Any]  # programs annotate with them
_worker_init_fn_t = Callable[[int], None]


class _DatasetKind:
    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(
        kind: int, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> MapFetcher | IterableFetcher:
        """What fetches the batches of a dataset of this kind."""
        fetcher = MapFetcher if kind == _DatasetKind.Map else IterableFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler(Sampler[None]):
    """Yields None for ever: an iterable dataset is asked for samples without keys."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[_T_co]):
    """Iterates over ``dataset`` in batches.

    Args:
        dataset: a map-style :class:`Dataset` (anything with ``__getitem__`` and ``__len__``) or an
            :class:`IterableDataset`.
        batch_size: samples in a batch; None yields single samples through ``collate_fn``.
        shuffle: a new random order in every pass.
        sampler, batch_sampler: the keys to fetch, or lists of them, in place of ``shuffle`` (and ``batch_size``).
        num_workers: processes that fetch; 0 fetches in this one.
        collate_fn: makes a batch of a list of samples; :func:`default_collate` if not given.
        pin_memory: puts batches into page-locked memory, for quicker copies to an accelerator.
        drop_last: leaves out a last batch that is not full.
        timeout: seconds to wait for a batch from a worker; 0 waits for ever.
        worker_init_fn: called with the worker's number in each worker, after it was seeded.
        multiprocessing_context: a start method (``"fork"``, ``"spawn"``, ...) or a ``multiprocessing`` context.
        generator: gives the shuffling and the workers' base seed; the default generator if not given.
        prefetch_factor: batches that each worker fetches ahead, 2 if not given.
        persistent_workers: keeps the workers for the next pass.
        in_order: yields batches in the order of the sampler, not in that of their arrival.

    Raises:
        ValueError: arguments that exclude each other or are out of range.
    """

    dataset: Any
    __initialized = False

    def __init__(
        self,
        dataset: Dataset[_T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: _collate_fn_t[Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: _worker_init_fn_t | None = None,
        multiprocessing_context: Any = None,
        generator: taeda.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_worker_options(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = wrapped(dataset)
        self.num_workers = num_workers
        self._IterableDataset_len_called: int | None = None
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.persistent_workers = persistent_workers
        self.generator = generator
        self._choose_samplers(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self._iterator: _BaseDataLoaderIter | None = None
        self.__initialized = True

    def _choose_samplers(
        self, batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool
    ) -> None:
        iterable = isinstance(self.dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        if iterable and set_shuffle(self.dataset, shuffle):
            shuffle = None  # the pipes do it
        _check_sampling(iterable, batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        if sampler is None:
            if iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(self.dataset, generator=self.generator)
            else:
                sampler = SequentialSampler(self.dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler

    @property
    def multiprocessing_context(self) -> Any:
        """The context that makes the workers, None for the default one."""
        return self.__context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        self.__context = None if context is None else _as_context(context, self.num_workers)

    def __setattr__(self, name: str, value: Any) -> None:
        fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
        if self.__initialized and name in fixed:
            raise ValueError(f"DataLoader: {name} cannot be changed once the loader is made")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    def check_worker_number_rationality(self) -> None:
        """Warns if there are more workers than processors this process may use."""
        _warn_of_many_workers(self.num_workers, stacklevel=5)

    def __iter__(self) -> _BaseDataLoaderIter:
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None or self._iterator._closed:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        samples = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return samples
        return samples // self.batch_size if self.drop_last else -(-samples // self.batch_size)


def _warn_of_many_workers(workers: int, stacklevel: int) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if cores and workers > cores:
        warnings.warn(
            f"DataLoader: num_workers={workers} is more than the {cores} processors available here, and may be slower",
            UserWarning,
            stacklevel=stacklevel,
        )


def _check_worker_options(workers: int, timeout: float, prefetch: int | None, persistent: bool) -> None:
    if workers < 0:
        raise ValueError(f"DataLoader: num_workers must be 0 or more; got {workers}")
    _warn_of_many_workers(workers, stacklevel=4)
    if timeout < 0:
        raise ValueError(f"DataLoader: timeout must be 0 or more seconds; got {timeout}")
    if workers == 0 and prefetch is not None:
        raise ValueError("DataLoader: prefetch_factor wants num_workers > 0")
    if prefetch is not None and prefetch < 0:
        raise ValueError(f"DataLoader: prefetch_factor must not be negative; got {prefetch}")
    if persistent and workers == 0:
        raise ValueError("DataLoader: persistent_workers wants num_workers > 0")


def _check_sampling(
    iterable: bool, batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    if iterable:
        given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"DataLoader: an IterableDataset sets its own order; {name}={value!r} has no meaning")
    if sampler is not None and shuffle:
        raise ValueError("DataLoader: give a sampler or shuffle, not both")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
    if batch_size is None and drop_last:
        raise ValueError("DataLoader: without batches (batch_size=None) there is nothing for drop_last to drop")


def _as_context(context: Any, workers: int) -> Any:
    import multiprocessing
    from multiprocessing.context import BaseContext

    if workers == 0:
        raise ValueError("DataLoader: multiprocessing_context wants num_workers > 0")
    if isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        if context not in methods:
            raise ValueError(f"DataLoader: multiprocessing_context must be one of {methods}; got {context!r}")
        return multiprocessing.get_context(context)
    if not isinstance(context, BaseContext):
        raise TypeError(
            f"DataLoader: multiprocessing_context must be a start method or a context; got {type(context).__name__}"
        )
    return context


class _BaseDataLoaderIter:
    """One pass over a loader."""

    _closed = False  # whether there are no workers left for another pass

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._pin_memory = loader.pin_memory and _can_pin()
        self._seeds = PipeSeeds(self._dataset, loader.generator)
        self._sampler_iter = iter(self._index_sampler)
        # Drawn whether or not there are workers, so that their number does not change what a seed gives.
        self._base_seed = int(taeda.empty((), dtype=taeda.int64).random_(generator=loader.generator).item())
        self._num_yielded = 0
        self._expected = _known_length(loader)

    def _reset(self, loader: DataLoader[Any]) -> None:
        self._sampler_iter = iter(self._index_sampler)
        self._seeds.draw()
        self._num_yielded = 0
        self._expected = _known_length(loader)

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _next_data")

    def __next__(self) -> Any:
        if not taeda._C._profiler_enabled():
            return self._batch()
        from taeda.autograd.profiler import record_function

        with record_function(f"enumerate(DataLoader)#{type(self).__name__}.__next__"):
            return self._batch()

    def _batch(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        if self._expected is not None and self._num_yielded > self._expected:
            warnings.warn(
                f"DataLoader: the length of the dataset promised {self._expected} batches and this is number"
                f" {self._num_yielded}; if there are workers, each must yield its own share only",
                UserWarning,
                stacklevel=3,
            )
        return _pin(data) if self._pin_memory else data

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("DataLoader: an iterator cannot be pickled; pickle the loader, and iterate anew")


def _known_length(loader: DataLoader[Any]) -> int | None:
    """The number of batches of an iterable dataset, where somebody has asked for it: it may have no length."""
    return None if loader._IterableDataset_len_called is None else len(loader)


def _can_pin() -> bool:
    if taeda.cuda.is_available():
        return True
    warnings.warn("DataLoader: pin_memory=True has no effect, there is no accelerator", UserWarning, stacklevel=5)
    return False


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Fetches in this process."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        shard(self._dataset)
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(self._next_index())


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Hands numbered tasks to workers in turn, keeps ``prefetch_factor`` of them in each, and sorts the answers."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        import multiprocessing

        from ._utils.pipes import ranks
        from ._utils.pool import WorkerPool
        from ._utils.worker import WorkerSpec

        super().__init__(loader)
        self._seeds.skip()
        self._prefetch_factor = loader.prefetch_factor or 0
        self._in_order = loader.in_order
        self._persistent = loader.persistent_workers
        self._epoch = 0
        specs = [
            WorkerSpec(
                id=i,
                num_workers=self._num_workers,
                dataset=self._dataset,
                is_iterable=self._dataset_kind == _DatasetKind.Iterable,
                batching=self._auto_collation,
                collate_fn=self._collate_fn,
                drop_last=self._drop_last,
                base_seed=self._base_seed,
                init_fn=loader.worker_init_fn,
                ranks=ranks(self._dataset),
            )
            for i in range(self._num_workers)
        ]
        self._pool: WorkerPool | None = WorkerPool(loader.multiprocessing_context or multiprocessing, specs)
        self._workers = self._pool.processes
        self._begin()

    def _reset(self, loader: DataLoader[Any]) -> None:
        super()._reset(loader)
        self._epoch += 1
        self._begin()

    def _begin(self) -> None:
        """Starts a pass: answers of an earlier one that was broken off are dropped as they come."""
        self._replies: dict[int, Any] = {}
        self._asked: dict[int, int] = {}  # number of a task without answer -> its worker
        self._load = [0] * self._num_workers
        self._active = [True] * self._num_workers
        self._turn = 0
        self._sent = 0
        self._wanted = 0
        for _ in range(self._prefetch_factor * self._num_workers):
            self._ask()

    def _ask(self) -> bool:
        """Gives the next task to the next worker that has room; False when there is no task or no worker left."""
        from ._utils.worker import Task

        worker = self._pick_worker()
        if worker is None or self._pool is None:
            return False
        try:
            keys = self._next_index()
        except StopIteration:
            return False
        self._asked[self._sent] = worker
        self._load[worker] += 1
        self._pool.submit(worker, Task(self._epoch, self._sent, keys, self._seeds.seed))
        self._sent += 1
        return True

    def _pick_worker(self) -> int | None:
        limit = max(1, self._prefetch_factor)
        for _ in range(self._num_workers):
            worker = self._turn
            self._turn = (self._turn + 1) % self._num_workers
            if self._active[worker] and (self._in_order or self._load[worker] < limit):
                return worker
        return None

    def _next_data(self) -> Any:
        while True:
            number = self._ready()
            if number is not None:
                reply = self._replies.pop(number)
                self._wanted = max(self._wanted, number + 1)
                if self._prefetch_factor:
                    self._ask()
                if reply.error is not None:
                    reply.error.reraise()
                return reply.data
            if not self._asked and not (self._prefetch_factor == 0 and self._ask()):
                self._finish()
                raise StopIteration
            self._receive()

    def _ready(self) -> int | None:
        """The number of the answer to yield now, if it has come."""
        if not self._in_order:
            return next(iter(self._replies), None)
        while self._wanted < self._sent and self._wanted not in self._asked and self._wanted not in self._replies:
            self._wanted += 1  # the worker had nothing left for this task
        return self._wanted if self._wanted in self._replies else None

    def _receive(self) -> None:
        if self._pool is None:
            raise StopIteration
        try:
            arrived = self._pool.collect(self._timeout)
        except BaseException:
            self._finish(broken=True)
            raise
        for worker, reply in arrived:
            if reply.epoch != self._epoch:
                continue
            del self._asked[reply.number]
            self._load[worker] -= 1
            if reply.exhausted:
                self._active[worker] = False
                self._ask()
            else:
                self._replies[reply.number] = reply

    def _finish(self, broken: bool = False) -> None:
        """Ends the workers unless the next pass will use them."""
        if self._pool is not None and (broken or not self._persistent):
            self._shutdown_workers()

    def _shutdown_workers(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        self._closed = True
        self._asked.clear()
