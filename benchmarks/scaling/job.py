"""What one rank does: trains the networks, and measures what the model of its costs is made of.

Started as ``python -m benchmarks.scaling.job LIBRARY WAY``, with RANK and WORLD_SIZE set where there are several; rank
0 prints JSON: for each network what `train` gives, and what messages cost (`messages`).
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.training import residual_block

EPOCHS = 3
BATCH = 32  # of each rank
CHUNK = 3  # steps of the network, and then of its twin, so that both meet the same disturbances
MESSAGES = 8, 1 << 20  # bytes


def digits(T: Any) -> tuple[Any, Any, Any, float]:
    """Handwritten digits, 1,437 to learn from and 360 to be asked; a network of 151,306 parameters."""
    from sklearn.datasets import load_digits

    nn = T.nn
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    images = T.tensor((data.images[order] / 16).astype("float32")).unsqueeze(1)
    labels = T.tensor(data.target[order].astype("int64"))
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1024, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip
    return model, (images[:1437], labels[:1437]), (images[1437:], labels[1437:]), 0.05


def resnet(T: Any) -> tuple[Any, Any, Any, float]:
    """Random pictures of CIFAR's shape, each of ten classes around one of its own: 576 and 200; 33,450 parameters."""
    nn = T.nn
    random = np.random.default_rng(1)
    labels = random.integers(10, size=776)
    images = 0.25 * random.normal(size=(10, 3, 32, 32))[labels] + random.normal(size=(776, 3, 32, 32))
    x, y = T.tensor(images.astype("float32")), T.tensor(labels.astype("int64"))

    Block = residual_block(nn)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), Block(16), nn.Conv2d(16, 32, 3, stride=2, padding=1), Block(32),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip
    return model, (x[:576], y[:576]), (x[576:], y[576:]), 0.02


JOBS = {"digits": digits, "resnet": resnet}


class Training:
    """A network and its batches, of which this rank has its part."""

    def __init__(self, T: Any, job: str, way: str, rank: int, ranks: int) -> None:
        T.manual_seed(0)
        self.T = T
        self.inner, learn, self.test, rate = JOBS[job](T)
        self.model = self.inner
        if way == "data_parallel":
            self.model = T.nn.DataParallel(self.inner)
        elif ranks > 1:
            self.model = T.nn.parallel.DistributedDataParallel(self.inner)
        data = T.utils.data.TensorDataset(*learn)
        self.sampler = T.utils.data.DistributedSampler(data, ranks, rank, seed=0)
        self.loader = T.utils.data.DataLoader(data, BATCH, sampler=self.sampler)
        self.optimizer = T.optim.SGD(self.model.parameters(), lr=rate, momentum=0.9)

    def step(self, batch: Any) -> None:
        x, y = batch
        self.optimizer.zero_grad()
        self.T.nn.functional.cross_entropy(self.model(x), y).backward()
        self.optimizer.step()

    def accuracy(self) -> float:
        self.inner.eval()
        with self.T.no_grad():
            found = self.inner(self.test[0]).argmax(1)
        return float((found == self.test[1]).float().mean())


def timed(steps: Iterable[Any], step: Callable[[Any], Any]) -> list[float]:
    """Seconds of each step, with the fetching of its batch."""
    times, last = [], perf_counter()
    for batch in steps:
        step(batch)
        now = perf_counter()
        times.append(now - last)
        last = now
    return times


def train(T: Any, job: str, way: str, rank: int, ranks: int, meet: Callable[[], Any]) -> dict[str, Any]:
    """Three epochs. In between a twin goes on alone: a step in which nothing is exchanged, after which the ranks meet.

    The seconds of a step, of all epochs, and of the twin's step without the meeting; the network's parts as the model
    of costs needs them.
    """
    training, twin = (Training(T, job, way, rank, ranks) for _ in range(2))
    times: list[float] = []
    alone: list[float] = []
    meetings: list[float] = []
    spent = 0.0

    def alone_step(batch: Any) -> None:
        with twin.model.no_sync() if ranks > 1 else nullcontext():
            twin.step(batch)
        meet()

    others = itertools.chain.from_iterable(itertools.repeat(twin.loader))
    for epoch in range(EPOCHS):
        training.sampler.set_epoch(epoch)
        batches, chunk = iter(training.loader), [0.0] * CHUNK
        while len(chunk) == CHUNK:
            meet()
            chunk = timed(itertools.islice(batches, CHUNK), training.step)
            spent += sum(chunk)
            times += chunk
            alone += timed(itertools.islice(others, CHUNK), alone_step)
        meetings += timed(range(20), lambda _: meet())
    times, alone = times[CHUNK:], alone[CHUNK:]  # the first ones warm up
    return {
        "batch_time": median(times),
        "train_time": spent,
        "accuracy": training.accuracy(),
        "alone": median(alone) - median(meetings),
        "steps": len(training.loader),
        "parameters": [p.numel() * p.element_size() for p in training.inner.parameters()],
        "buffers": sum(b.numel() * b.element_size() for b in training.inner.buffers()),
    }


def messages(T: Any, dist: Any) -> dict[str, float]:
    """Seconds: of an all_reduce and a broadcast of 8 bytes, of an all_reduce of 1 MB, and of one of many messages that
    are sent at a time."""
    small, large = (T.ones(size // 4) for size in MESSAGES)
    found = {}
    for name, call in {
        "all_reduce": lambda: dist.all_reduce(small.fill_(1)),
        "all_reduce 1 MB": lambda: dist.all_reduce(large.fill_(1)),
        "broadcast": lambda: dist.broadcast(small, 0),
    }.items():
        call()
        found[name] = median(timed(range(60), lambda _, call=call: call()))
    found["message"] = median(timed(range(10), lambda _: burst(T, dist))) / BURST
    return found


BURST = 64


def burst(T: Any, dist: Any) -> None:
    """Many small messages from rank 0 to rank 1."""
    if dist.get_rank() < 2:
        send = dist.get_rank() == 0
        works = [dist.isend(T.ones(2), 1) if send else dist.irecv(T.ones(2), 0) for _ in range(BURST)]
        for work in works:
            work.wait()
    dist.barrier()


def main(library: str, way: str) -> None:
    T = importlib.import_module(library)
    T.set_num_threads(1)
    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    meet: Callable[[], Any] = lambda: None
    dist = None
    if ranks > 1:
        dist = importlib.import_module(f"{library}.distributed")
        dist.init_process_group("gloo")
        flag = T.ones(2)
        meet = lambda: dist.all_reduce(flag)
    found: dict[str, Any] = {job: train(T, job, way, rank, ranks, meet) for job in JOBS}
    if dist is not None:
        found["messages"] = messages(T, dist)
        dist.destroy_process_group()
    if rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
