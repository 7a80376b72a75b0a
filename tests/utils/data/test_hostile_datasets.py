"""Datasets and workers that do not behave: every one ends in an answer or in an error that says why."""

import collections
import gc
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from calls import Calls

import taeda
from taeda.utils import data

pytestmark = pytest.mark.filterwarnings("ignore:.*num_workers=.*:UserWarning")
Pair = collections.namedtuple("Pair", "a b")


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Wanting(Exception):
    def __init__(self, *, x):
        super().__init__(x)


def local():
    class Local(Exception):
        pass

    return Local("x")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: ValueError(threading.Lock()), ValueError),
        (lambda: OSError(5, "five"), OSError),
        (lambda: StopIteration("s"), StopIteration),
        (lambda: UnicodeDecodeError("utf8", b"x", 0, 1, "r"), RuntimeError),
        (lambda: ExceptionGroup("g", [ValueError(1)]), RuntimeError),
        (lambda: Mute("m"), Mute),
        (lambda: Wanting(x=1), RuntimeError),
        (local, RuntimeError),
        (lambda: SystemExit(4), RuntimeError),
        (lambda: KeyboardInterrupt(), RuntimeError),
    ],
    ids=["unpicklable", "os", "stop", "unicode", "group", "mute", "wanting", "local", "exit", "interrupt"],
)
@pytest.mark.parametrize("batch_size", [2, None])
def test_odd_exceptions(make, expected, batch_size):
    def fail(i):
        raise make()

    with pytest.raises(expected):
        next(iter(data.DataLoader(Calls(fail), batch_size, num_workers=1, timeout=60)))


def described(value):
    if isinstance(value, taeda.Tensor):
        return value.dtype, value.tolist()
    if isinstance(value, dict):
        return type(value), {key: described(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [described(v) for v in value]
    return type(value), repr(value)


SAMPLES = {
    "text": lambda i: np.str_(f"a{i}"),
    "bytes": lambda i: np.bytes_(b"q"),
    "numpy bool": lambda i: np.bool_(i % 2),
    "numpy scalar": lambda i: np.float16(i),
    "array": lambda i: np.asfortranarray(np.arange(6).reshape(2, 3)),
    "nested": lambda i: {"a": {"b": [taeda.ones(2), Pair(i, (i, "s"))]}, "c": Pair(taeda.zeros(0), i < 1)},
    "empty": lambda i: taeda.empty(0, 4),
    "empty list": lambda i: [],
    "ordered": lambda i: collections.OrderedDict(b=i, a=1.5),
    "counter": lambda i: collections.Counter("aab"),
    "queue": lambda i: collections.deque([i, 2]),
    "odd keys": lambda i: {1: "a", None: 2.5},
    "large": lambda i: taeda.full((2, 200_000), i),
    "half": lambda i: taeda.ones(3, dtype=taeda.bfloat16),
    "complex": lambda i: taeda.ones(3, dtype=taeda.complex128) * 1j,
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("batch_size", [2, None])
def test_workers_give_what_this_process_gives(name, batch_size):
    dataset = Calls(SAMPLES[name], 2)
    here, there = (next(iter(data.DataLoader(dataset, batch_size, num_workers=n))) for n in (0, 1))
    assert described(here) == described(there)


def test_strides_arrive():
    image = taeda.arange(24.0).view(1, 2, 3, 4).to(memory_format=taeda.channels_last)
    samples = [image, image.transpose(0, 3), image[..., ::2], image[:0], taeda.ones(1).expand(3)]
    received = list(data.DataLoader(Calls(samples.__getitem__, 5), None, num_workers=1))
    assert all(taeda.equal(a, b) for a, b in zip(samples, received, strict=True))
    assert [t.stride() for t in received[:2]] == [t.stride() for t in samples[:2]]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_shared_memory_is_not_copied(method):
    whole = taeda.zeros(4, 3).share_memory_()
    parameter = taeda.nn.Parameter(taeda.ones(2).share_memory_())
    loader = data.DataLoader(
        data.TensorDataset(whole), None, num_workers=1, multiprocessing_context=method, sampler=range(4)
    )
    for i, (row,) in enumerate(loader):
        row += i
    assert whole[:, 0].tolist() == [0, 1, 2, 3]
    if method == "fork":
        (again,) = data.DataLoader(Calls(lambda i: parameter, 1), None, num_workers=1)
        again.data += 1
        assert type(again) is taeda.nn.Parameter and parameter.tolist() == [2, 2]


def test_no_descriptor_stays_open():
    def batch(i):
        return taeda.zeros(400_000), taeda.ones(3), taeda.ones(2).share_memory_()

    def count():
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    loader = data.DataLoader(Calls(batch, 12), None, num_workers=2)
    assert len(list(loader)) == 12
    before = count()
    assert len(list(loader)) == 12
    assert count() == before
    batches = iter(data.DataLoader(Calls(batch, 50), None, num_workers=2))
    next(batches)
    os.kill(batches._workers[0].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="SIGKILL"):
        list(batches)
    del batches
    assert count() == before


def test_killed_in_the_middle_of_a_message():
    """The parent has begun to read what the worker will never finish."""

    def sample(i):
        if i == 1:
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return "x" * (1 << 27 if i == 1 else 10)

    with pytest.raises(RuntimeError, match="SIGKILL"):
        for _ in data.DataLoader(Calls(sample), None, num_workers=1):
            signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_workers_after_threads_were_used():
    before = taeda.get_num_threads()
    taeda.set_num_threads(2)
    try:
        big = taeda.ones(1 << 21)
        assert big.sum() == 1 << 21
        assert list(data.DataLoader(Calls(lambda i: (big + i).sum().item()), None, num_workers=2))[0] == 1 << 21
    finally:
        taeda.set_num_threads(before)


WHILE_ANOTHER_IMPORTS = """
import sys, threading
from taeda.utils.data import DataLoader
threading.Thread(target=lambda: __import__("numpy"), daemon=True).start()
while "numpy" not in sys.modules:
    pass
print(*DataLoader([1], num_workers=1))
"""


def test_workers_begin_while_a_thread_imports_what_they_need():
    ended = subprocess.run([sys.executable, "-c", WHILE_ANOTHER_IMPORTS], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "tensor([1])\n"
