"""What runs in a worker process: a thread that takes tasks from the pipe, and a loop that fetches and sends.

The thread empties the pipe at once, so that the parent never blocks on a worker that is itself blocked sending; and it
sees the end of the pipe, which tells the worker that the parent has shut down or died.
"""

from __future__ import annotations

import queue
import random
import signal
import threading
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import taeda
from taeda.multiprocessing.connection import Connection

from .fetch import IterableFetcher, MapFetcher
from .info import WorkerInfo
from .pipes import apply_seed, shard
from .transport import send

_worker_info: WorkerInfo | None = None  # what this process is, if it is a worker


class WorkerSpec(NamedTuple):
    """All that a worker needs to know; it is pickled where processes are spawned."""

    id: int
    num_workers: int
    dataset: Any
    is_iterable: bool
    batching: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    base_seed: int
    init_fn: Callable[[int], None] | None
    ranks: tuple[int, int] | None = None  # how many there are, and which this is, for pipes

    def make_fetcher(self, seed: int | None) -> Any:
        """A fetcher at the start of the dataset; ``seed`` is what pipes draw seeds with."""
        if seed is not None:
            apply_seed(self.dataset, seed)
        kind = IterableFetcher if self.is_iterable else MapFetcher
        return kind(self.dataset, self.batching, self.collate_fn, self.drop_last)


class Task(NamedTuple):
    """Fetch batch ``number`` of pass ``epoch``."""

    epoch: int
    number: int
    keys: Any
    seed: int | None = None  # of pipes, the same for all ranks and workers


class Reply(NamedTuple):
    """The answer to a task: a batch, the end of the dataset, or an error."""

    epoch: int
    number: int
    data: Any = None
    exhausted: bool = False
    error: WorkerError | None = None


class _Message(str):
    """A text that shows its line breaks in a ``KeyError`` too, which prints the ``repr`` of its argument."""

    def __repr__(self) -> str:
        return str(self)


class WorkerError(NamedTuple):
    """An exception on its way from a worker: its type, the text and where it happened."""

    kind: type[BaseException] | None
    name: str
    where: str
    trace: str

    @staticmethod
    def of(error: BaseException, where: str) -> WorkerError:
        """Describes ``error``; a type that cannot be pickled stays behind."""
        import pickle

        kind: type[BaseException] | None = type(error)
        try:
            pickle.dumps(kind)
        except Exception:
            kind = None
        return WorkerError(kind, type(error).__name__, where, "".join(traceback.format_exception(error)))

    def reraise(self) -> None:
        """Raises an exception of the same type with the worker's traceback as its text; else a RuntimeError."""
        text = _Message(f"Caught {self.name} in {self.where}.\nOriginal {self.trace}")
        error: BaseException = RuntimeError(text)
        if self.kind is not None:
            try:
                error = self.kind(text)
            except Exception:  # a constructor that wants other arguments
                error = RuntimeError(text)
        try:
            raise error
        finally:
            del error  # or the traceback's frame and the exception would keep each other, and the workers, alive


def run_worker(spec: WorkerSpec, connection: Connection, foreign: list[Connection]) -> None:
    """The main function of a worker process; ``foreign`` are pipe ends that a fork copied and that must be closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too and shuts its workers down
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in foreign:
        other.close()
    inbox = _Inbox(connection)
    try:
        setup_error = _set_up(spec)
        _serve(spec, connection, inbox, setup_error)
    except OSError:  # the parent closed the pipe or is gone: nobody waits for an answer
        if not inbox.closed.wait(1):
            raise


class _Inbox:
    """Tasks in order, read ahead by a thread; remembers the newest epoch so that older tasks can be skipped."""

    def __init__(self, connection: Connection) -> None:
        self.tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self.closed = threading.Event()
        self.epoch = 0
        self._connection = connection
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            while (task := self._connection.recv()) is not None:
                self.epoch = max(self.epoch, task.epoch)
                self.tasks.put(task)
        except (EOFError, OSError):
            pass  # the parent is gone
        self.closed.set()
        self.tasks.put(None)


def _set_up(spec: WorkerSpec) -> WorkerError | None:
    """Seeds the generators, announces the worker and runs the user's function; an error waits for the first task."""
    global _worker_info
    try:
        seed = spec.base_seed + spec.id
        random.seed(seed)
        taeda.manual_seed(seed)
        _seed_numpy(spec.base_seed, spec.id)
        taeda.set_num_threads(1)
        _worker_info = WorkerInfo(spec.id, spec.num_workers, seed, spec.dataset)
        if spec.init_fn is not None:
            spec.init_fn(spec.id)
        if spec.ranks is not None:
            shard(spec.dataset, spec.ranks, spec.num_workers, spec.id)
    except Exception as error:
        return WorkerError.of(error, f"DataLoader worker process {spec.id}")
    return None


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Four 32-bit words for numpy's global generator, hashed from those of the seed and from the worker's number."""
    import numpy

    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return numpy.random.SeedSequence(entropy).generate_state(4).tolist()


def _seed_numpy(base_seed: int, worker: int) -> None:
    """Gives numpy's global generator a state of its own."""
    import numpy

    numpy.random.seed(_generate_state(base_seed, worker))


def _serve(spec: WorkerSpec, connection: Connection, inbox: _Inbox, setup_error: WorkerError | None) -> None:
    where = f"DataLoader worker process {spec.id}"
    epoch, fetcher, exhausted = -1, None, False
    while (task := inbox.tasks.get()) is not None and not inbox.closed.is_set():
        if task.epoch < inbox.epoch:
            continue
        if task.epoch != epoch:
            epoch, fetcher, exhausted = task.epoch, None, False
        reply = Reply(epoch, task.number, exhausted=True)
        try:
            if setup_error is not None:
                reply = Reply(epoch, task.number, error=setup_error)
                setup_error = None
            elif not exhausted:
                fetcher = spec.make_fetcher(task.seed) if fetcher is None else fetcher
                reply = Reply(epoch, task.number, data=fetcher.fetch(task.keys))
        except Exception as error:
            exhausted = spec.is_iterable and isinstance(error, StopIteration)
            if not exhausted:
                reply = Reply(epoch, task.number, error=WorkerError.of(error, where))
        try:
            send(connection, reply)
        except OSError:
            raise
        except Exception as error:  # the batch could not be pickled
            send(connection, Reply(epoch, task.number, error=WorkerError.of(error, where)))
        del reply
