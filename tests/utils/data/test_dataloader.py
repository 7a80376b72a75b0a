"""The loader: what it yields beside PyTorch's, what it refuses, and how its workers end."""

from __future__ import annotations

import gc
import os
import random
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from calls import Calls

import taeda
from taeda.utils import data
from taeda.utils.data import dataloader

torch = pytest.importorskip("torch")
theirs = torch.utils.data

pytestmark = pytest.mark.filterwarnings("ignore:.*num_workers=.*:UserWarning")


class Samples:
    """Samples of all kinds, random ones included."""

    def __init__(self, lib, n=10):
        self.lib = lib
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return {
            "half": self.lib.full((3,), float(i), dtype=self.lib.bfloat16),
            "empty": self.lib.empty(0, 4),
            "scalar": self.lib.rand(()),
            "array": np.full(2, i, np.int16),
            "numbers": (random.random(), np.random.rand()),
            "text": str(i),
            "complex": self.lib.full((2,), complex(i, 1)),
        }


class Counting(data.IterableDataset):
    def __init__(self, n, share=True):
        self.n = n
        self.share = share

    def __iter__(self):
        info = data.get_worker_info()
        if info is None or not self.share:
            return iter(range(self.n))
        return iter(range(info.id, self.n, info.num_workers))


def flat(value):
    if hasattr(value, "tolist"):
        return str(getattr(value, "dtype", "")), value.tolist()
    if isinstance(value, dict):
        return {k: flat(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [flat(v) for v in value]
    return value


def gone(pids):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not any(os.path.exists(f"/proc/{pid}/stat") for pid in pids):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 3},
        {"batch_size": 3, "shuffle": True},
        {"batch_size": 4, "drop_last": True, "shuffle": True},
        {"batch_size": None},
        {"batch_sampler": [[1, 2], [0], [5, 5]]},
        {"sampler": [3, 1, 2], "batch_size": 2},
    ],
)
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_same_batches_from_the_same_seed(options, workers):
    def run(lib, d):
        lib.manual_seed(3)
        random.seed(3)
        np.random.seed(3)
        loader = d.DataLoader(Samples(lib), num_workers=workers, **options)
        return [flat(batch) for _ in range(2) for batch in loader], lib.rand(1).item(), len(loader)

    assert run(taeda, data) == run(torch, theirs)


@pytest.mark.parametrize("workers", [0, 2])
def test_own_generator_leaves_the_default_one_alone(workers):
    def run(lib, d):
        lib.manual_seed(0)
        generator = lib.Generator().manual_seed(7)
        loader = d.DataLoader(range(10), 3, shuffle=True, generator=generator, num_workers=workers)
        batches = [batch.tolist() for _ in range(2) for batch in loader]
        return batches, lib.rand(1).item(), lib.rand(1, generator=generator).item()

    assert run(taeda, data) == run(torch, theirs)


def test_persistent_workers_shuffle_as_torchs_do():
    def run(lib, d):
        lib.manual_seed(0)
        loader = d.DataLoader(Samples(lib), 3, shuffle=True, num_workers=2, persistent_workers=True)
        return [flat(batch) for _ in range(3) for batch in loader]

    assert run(taeda, data) == run(torch, theirs)


@pytest.mark.parametrize("size", [10, 3000, 400_000])
def test_tensors_of_any_size_arrive_writable(size):
    loader = data.DataLoader(Calls(lambda i: taeda.arange(size) + i, 3), num_workers=1, batch_size=1)
    for i, batch in enumerate(loader):
        assert batch[0, -1].item() == size - 1 + i
        batch += 1
        assert batch[0, 0].item() == i + 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_start_methods(method):
    loader = data.DataLoader(range(6), 2, num_workers=1, multiprocessing_context=method)
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("prefetch", [0, 1, 5])
@pytest.mark.parametrize("in_order", [True, False])
def test_all_arrive_once(in_order, prefetch):
    loader = data.DataLoader(range(20), 3, num_workers=3, prefetch_factor=prefetch, in_order=in_order)
    batches = [batch.tolist() for batch in loader]
    assert sorted(batches) == [list(range(i, min(i + 3, 20))) for i in range(0, 20, 3)]
    if in_order:
        assert batches == sorted(batches)


def test_out_of_order_does_not_wait_for_the_slow():
    release = shared_event()
    dataset = Calls(lambda i: release.wait(10) and i if i == 0 else i, 6)
    batches = iter(data.DataLoader(dataset, 1, num_workers=2, in_order=False))
    assert next(batches).item() != 0
    release.set()
    assert len(list(batches)) == 5


def shared_event():
    import multiprocessing

    return multiprocessing.get_context("fork").Event()


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize(("batch_size", "drop_last"), [(4, False), (4, True), (None, False)])
def test_iterable_datasets(workers, batch_size, drop_last):
    loader = data.DataLoader(Counting(10), batch_size, num_workers=workers, drop_last=drop_last)
    for _ in range(2):
        seen = sorted(i for batch in loader for i in ([batch] if batch_size is None else batch.tolist()))
        lost = 10 - len(seen)
        assert lost == (0 if not drop_last else 2 if workers < 2 else 10 - 4 * (workers == 3 and 1))
        assert len(set(seen)) == len(seen)


def test_iterable_copies_are_not_shared_out_by_themselves():
    batches = list(data.DataLoader(Counting(3, share=False), 3, num_workers=2))
    assert [batch.tolist() for batch in batches] == [[0, 1, 2]] * 2


def test_worker_info_and_init():
    assert data.get_worker_info() is None
    seen = {}

    def init(i):
        seen["id"] = i
        data.get_worker_info().dataset.n = 3

    def look(i):
        info = data.get_worker_info()
        return info.id, info.num_workers, info.seed - taeda.initial_seed(), seen["id"], info.dataset.n

    loader = data.DataLoader(Calls(look, 4), None, num_workers=2, worker_init_fn=init, collate_fn=tuple)
    assert list(loader) == [(0, 2, 0, 0, 3), (1, 2, 0, 1, 3)] * 2


def test_workers_use_one_thread():
    assert list(data.DataLoader(Calls(lambda i: taeda.get_num_threads(), 1), None, num_workers=1)) == [1]


def fail(error):
    raise error


class Odd(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


@pytest.mark.parametrize(
    ("error", "expected"),
    [(ValueError("boo"), ValueError), (KeyError("boo"), KeyError), (Odd(1, "boo"), RuntimeError)],
    ids=["value", "key", "odd"],
)
@pytest.mark.parametrize("where", ["dataset", "collate", "init"])
def test_errors_come_back_with_their_traceback(where, error, expected):
    options = {
        "dataset": {"dataset": Calls(lambda i: fail(error))},
        "collate": {"dataset": range(4), "collate_fn": lambda batch: fail(error)},
        "init": {"dataset": range(4), "worker_init_fn": lambda i: fail(error)},
    }[where]
    with pytest.raises(expected) as caught:
        list(data.DataLoader(num_workers=1, **options))
    text = str(caught.value)
    assert "worker process 0" in text
    assert "in fail\n" in text
    assert "boo" in text


def test_an_error_is_raised_in_its_turn_and_the_pass_goes_on():
    batches = iter(data.DataLoader(Calls(lambda i: fail(OSError("x")) if i == 1 else i, 4), None, num_workers=2))
    assert next(batches) == 0
    with pytest.raises(OSError, match="worker process 1"):
        next(batches)
    assert list(batches) == [2, 3]


def test_what_cannot_be_pickled_is_an_error():
    with pytest.raises(Exception, match="Caught .* in DataLoader worker process 0"):
        list(data.DataLoader(Calls(lambda i: threading.Lock()), None, num_workers=1))


def test_a_tensor_with_a_history_is_refused():
    grown = taeda.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="detach"):
        list(data.DataLoader(Calls(lambda i: grown), None, num_workers=1))


@pytest.mark.parametrize(
    "end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(3)], ids=["kill", "exit"]
)
@pytest.mark.parametrize("persistent", [False, True])
def test_a_dead_worker_is_reported(end, persistent):
    dataset = Calls(lambda i: end() if i == 5 else i)
    loader = data.DataLoader(dataset, None, num_workers=2, persistent_workers=persistent)
    for _ in range(2):
        seen = []
        with pytest.raises(RuntimeError, match="SIGKILL|code 3"):
            seen.extend(loader)
    gc.collect()


def test_timeout():
    loader = data.DataLoader(Calls(lambda i: time.sleep(1.5)), num_workers=1, timeout=0.1)
    with pytest.raises(RuntimeError, match="timeout"):
        next(iter(loader))


@pytest.mark.parametrize("persistent", [False, True])
def test_leaving_early_ends_the_workers(persistent):
    loader = data.DataLoader(
        Calls(lambda i: taeda.zeros(200_000), 1000), 2, num_workers=2, persistent_workers=persistent
    )
    batches = iter(loader)
    next(batches)
    pids = [process.pid for process in batches._workers]
    if persistent:
        assert sum(1 for _ in zip(loader, range(3), strict=False)) == 3
        assert [process.pid for process in loader._iterator._workers] == pids
    del batches, loader
    gc.collect()
    assert gone(pids)


@pytest.fixture
def interruptible():
    """Interrupts raise, also where a shell that runs the tests in the background has them ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_the_workers(interruptible):
    batches = iter(data.DataLoader(Calls(lambda i: time.sleep(1)), num_workers=2))
    pids = [process.pid for process in batches._workers]
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        next(batches)
    timer.join()
    assert gone(pids)


def test_workers_of_a_killed_parent_end():
    read, write = os.pipe()
    parent = os.fork()
    if parent == 0:
        batches = iter(data.DataLoader(range(10**6), num_workers=2))
        next(batches)
        os.write(write, " ".join(str(process.pid) for process in batches._workers).encode())
        time.sleep(60)
        os._exit(0)
    pids = [int(pid) for pid in os.read(read, 100).split()]
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    os.close(read)
    os.close(write)
    deadline = time.monotonic() + 10
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(alive(pid) for pid in pids)


def alive(pid):
    """Whether ``pid`` runs; an orphan that ended may stay a zombie where nobody reaps it."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_large_index_lists_and_large_batches_do_not_block_each_other():
    dataset = Calls(lambda i: taeda.zeros(10), 100_000)
    batches = [list(range(100_000))] * 4
    loader = data.DataLoader(dataset, batch_sampler=batches, num_workers=1, prefetch_factor=4, timeout=60)
    assert [batch.shape[0] for batch in loader] == [100_000] * 4


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"num_workers": -1}, ValueError),
        ({"timeout": -1}, ValueError),
        ({"prefetch_factor": 2}, ValueError),
        ({"num_workers": 1, "prefetch_factor": -1}, ValueError),
        ({"persistent_workers": True}, ValueError),
        ({"sampler": [1], "shuffle": True}, ValueError),
        ({"batch_sampler": [[1]], "batch_size": 2}, ValueError),
        ({"batch_sampler": [[1]], "shuffle": True}, ValueError),
        ({"batch_size": None, "drop_last": True}, ValueError),
        ({"batch_size": 0}, ValueError),
        ({"batch_size": 1.5}, ValueError),
        ({"multiprocessing_context": "fork"}, ValueError),
        ({"num_workers": 1, "multiprocessing_context": "boat"}, ValueError),
        ({"num_workers": 1, "multiprocessing_context": 3}, TypeError),
        ({"dataset": Counting(3), "shuffle": True}, ValueError),
        ({"dataset": Counting(3), "sampler": [1]}, ValueError),
        ({"dataset": Counting(3), "batch_sampler": [[1]]}, ValueError),
    ],
)
def test_refuses(options, error):
    with pytest.raises(error):
        data.DataLoader(**{"dataset": range(4), **options})


def test_attributes_that_are_fixed():
    loader = data.DataLoader(range(4), 2)
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
        with pytest.raises(ValueError):
            setattr(loader, name, 1)
    loader.timeout = 3
    with pytest.raises(TypeError):
        len(data.DataLoader(Counting(3)))


def test_more_batches_than_promised_warn():
    class Long(Counting):
        def __len__(self):
            return 2

    loader = data.DataLoader(Long(3), 1)
    assert len(list(loader)) == 3  # nobody has asked for the length
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="promised 2"):
        list(loader)


def test_a_chain_of_streams_without_a_length():
    chained = data.ChainDataset([Counting(2), Counting(1)])
    assert [batch.tolist() for batch in data.DataLoader(chained, 2)] == [[0, 1], [0]]


def test_pin_memory_looks_into_batches():
    class Pinnable:
        def pin_memory(self):
            return "pinned"

    class Pair(tuple):
        pass

    from taeda.utils.data._utils.pin_memory import pin_memory

    batch = {"a": (Pinnable(), 1), "b": Pair([Pinnable()]), "c": [Pinnable()], "d": "text", "e": Pinnable()}
    pinned = pin_memory(batch)
    assert pinned == {"a": ("pinned", 1), "b": ("pinned",), "c": ["pinned"], "d": "text", "e": "pinned"}
    assert type(pinned["b"]) is Pair


def test_pin_memory_without_an_accelerator_warns_and_goes_on():
    if taeda.cuda.is_available():
        pytest.skip("there is an accelerator")
    with pytest.warns(UserWarning, match="no accelerator"):
        assert len(list(data.DataLoader(range(4), 2, pin_memory=True))) == 2


def test_iterators_are_of_the_known_classes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single = iter(data.DataLoader(range(4)))
    several = iter(data.DataLoader(range(4), num_workers=1))
    assert isinstance(single, dataloader._SingleProcessDataLoaderIter)
    assert isinstance(several, dataloader._MultiProcessingDataLoaderIter)
    assert isinstance(several, dataloader._BaseDataLoaderIter)
    assert len(several) == 4


def test_a_loader_ends_while_workers_of_a_later_one_live():
    first = iter(data.DataLoader(range(100), num_workers=1))
    second = iter(data.DataLoader(range(100), num_workers=1))
    next(first), next(second)
    process = first._workers[0]
    del first
    assert process.exitcode == 0, "it stopped by itself and was not terminated"
    assert len(list(second)) == 99
