"""Datasets, samplers and collating, beside PyTorch's from the same seed."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import taeda
from taeda.utils import data
from taeda.utils.data.distributed import DistributedSampler

torch = pytest.importorskip("torch")
theirs = torch.utils.data

TEN = list(range(10))


class Stream(data.IterableDataset):
    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)


class Batched:
    def __len__(self):
        return 10

    def __getitem__(self, i):
        raise AssertionError("the batch must be fetched at once")

    def __getitems__(self, keys):
        return [key * 10 for key in keys]


def test_tensor_dataset():
    d = data.TensorDataset(taeda.arange(6).view(3, 2), taeda.tensor([7, 8, 9]))
    assert len(d) == 3
    assert [t.tolist() for t in d[1]] == [[2, 3], 8]
    with pytest.raises(AssertionError):
        data.TensorDataset(taeda.ones(2), taeda.ones(3))


def test_concat_and_chain():
    d = data.ConcatDataset([[1, 2], [], [3]])
    assert [d[i] for i in range(3)] == [1, 2, 3]
    assert d[-1] == 3
    assert d.cumulative_sizes == [2, 2, 3]
    assert len(data.Subset(TEN, [1]) + data.Subset(TEN, [2, 3])) == 3
    both = Stream(1, 2) + Stream(3)
    assert (list(both), len(both)) == ([1, 2, 3], 3)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: data.ConcatDataset([]), AssertionError),
        (lambda: data.ConcatDataset([Stream(1)]), AssertionError),
        (lambda: data.ConcatDataset([TEN])[10], IndexError),
        (lambda: data.ConcatDataset([TEN])[-11], ValueError),
        (lambda: list(data.ChainDataset([TEN])), AssertionError),
        (lambda: data.StackDataset(), ValueError),
        (lambda: data.StackDataset(TEN, [1]), ValueError),
        (lambda: data.StackDataset(TEN, b=TEN), ValueError),
        (lambda: data.random_split(TEN, [3, 3]), ValueError),
        (lambda: data.random_split(TEN, [0.5, 0.6]), ValueError),
        (lambda: data.random_split(TEN, [1.5, -0.5]), ValueError),
        (lambda: data.Dataset()[0], NotImplementedError),
        (lambda: data.RandomSampler(TEN, replacement=3), TypeError),
        (lambda: data.RandomSampler(TEN, num_samples=0), ValueError),
        (lambda: data.RandomSampler([]), ValueError),
        (lambda: data.WeightedRandomSampler([[1]], 2), ValueError),
        (lambda: data.WeightedRandomSampler([1], 2.0), ValueError),
        (lambda: data.WeightedRandomSampler([1], True), ValueError),
        (lambda: data.BatchSampler([1], True, False), ValueError),
        (lambda: data.BatchSampler([1], 0, False), ValueError),
        (lambda: data.BatchSampler([1], 2, 3), ValueError),
        (lambda: DistributedSampler(TEN, 2, 5), ValueError),
        (lambda: DistributedSampler(TEN), ValueError),
        (lambda: data.default_collate([object()]), TypeError),
        (lambda: data.default_collate([None]), TypeError),
        (lambda: data.default_collate([np.array(["a"])]), TypeError),
        (lambda: data.default_collate([[1], [1, 2]]), RuntimeError),
        (lambda: data.default_collate([{"a": 1}, {"b": 1}]), KeyError),
        (lambda: data.default_collate([taeda.ones(2), taeda.ones(3)]), RuntimeError),
        (lambda: data.default_collate([]), IndexError),
    ],
)
def test_refuses(make, error):
    with pytest.raises(error):
        make()


def test_stack_and_subset_fetch_batches_at_once():
    stacked = data.StackDataset(a=Batched(), b=TEN)
    assert stacked.__getitems__([1, 2]) == [{"a": 10, "b": 1}, {"a": 20, "b": 2}]
    assert data.StackDataset(TEN, TEN)[3] == (3, 3)
    assert data.Subset(Batched(), [5, 6, 7]).__getitems__([0, 2]) == [50, 70]


@pytest.mark.parametrize("lengths", [[3, 7], [0.33, 0.33, 0.34], [0.5, 0.5], [10]])
def test_random_split(lengths):
    def split(lib, d):
        return [list(s.indices) for s in d.random_split(TEN, lengths, generator=lib.Generator().manual_seed(5))]

    assert split(taeda, data) == split(torch, theirs)


SAMPLERS = {
    "sequential": lambda d, g: d.SequentialSampler(TEN),
    "random": lambda d, g: d.RandomSampler(TEN, generator=g),
    "more": lambda d, g: d.RandomSampler(TEN, num_samples=25, generator=g),
    "fewer": lambda d, g: d.RandomSampler(TEN, num_samples=4, generator=g),
    "one": lambda d, g: d.RandomSampler(TEN, num_samples=True, generator=g),
    "replacement": lambda d, g: d.RandomSampler(TEN, True, 75, generator=g),
    "replacement_exact": lambda d, g: d.RandomSampler(TEN, True, 64, generator=g),
    "subset": lambda d, g: d.SubsetRandomSampler([3, 5, 8, 9], generator=g),
    "weighted": lambda d, g: d.WeightedRandomSampler([0.1, 0.5, 0.4], 9, generator=g),
    "weighted_once": lambda d, g: d.WeightedRandomSampler([0.1, 0.5, 0.4], 3, replacement=False, generator=g),
    "batch": lambda d, g: d.BatchSampler(d.RandomSampler(TEN, generator=g), 4, False),
    "batch_drop": lambda d, g: d.BatchSampler(d.RandomSampler(TEN, generator=g), 4, True),
    "distributed": lambda d, g: d.DistributedSampler(TEN, 3, 1, seed=4),
    "distributed_drop": lambda d, g: d.DistributedSampler(TEN, 3, 2, drop_last=True),
    "distributed_repeat": lambda d, g: d.DistributedSampler([1, 2], 7, 6, shuffle=False),
}


@pytest.mark.parametrize("own_generator", [True, False])
@pytest.mark.parametrize("name", SAMPLERS)
def test_samplers(name, own_generator):
    def run(lib, d):
        lib.manual_seed(1)
        generator = lib.Generator().manual_seed(2) if own_generator else None
        sampler = SAMPLERS[name](d, generator)
        orders = [list(sampler), list(sampler)]
        return orders, len(sampler), lib.rand(1).item(), generator and lib.rand(1, generator=generator).item()

    assert run(taeda, data) == run(torch, theirs)


def test_set_epoch_changes_the_order():
    sampler = DistributedSampler(TEN, 1, 0)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first


Pair = collections.namedtuple("Pair", "a b")

BATCHES = {
    "ints": [1, 2],
    "floats": [1.0, 2],
    "bools": [True, False],
    "strings": ["a", "b"],
    "bytes": [b"a", b"b"],
    "tuples": [(1, "a"), (2, "b")],
    "lists": [[1, 2.0], [3, 4.0]],
    "dicts": [{"x": 1, "y": "s"}, {"x": 2, "y": "t"}],
    "ordered": [collections.OrderedDict(x=1), collections.OrderedDict(x=2)],
    "namedtuples": [Pair(1, 2.0), Pair(3, 4.0)],
    "ranges": [range(3), range(3)],
    "arrays": [np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)],
    "zero_dim_arrays": [np.array(1), np.array(2)],
    "numpy_float32": [np.float32(3), np.float32(4)],
    "numpy_float64": [np.float64(3), np.float64(4)],
    "numpy_int16": [np.int16(3), np.int16(4)],
    "numpy_bool": [np.bool_(True), np.bool_(False)],
    "nested": [{"x": [np.ones(2), ("s", 3)]}, {"x": [np.ones(2), ("t", 4)]}],
}


def describe(value):
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return type(value), {k: describe(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [describe(v) for v in value]
    return value


@pytest.mark.parametrize("name", BATCHES)
@pytest.mark.parametrize("function", ["default_collate", "default_convert"])
def test_collate(function, name):
    ours, expected = getattr(data, function)(BATCHES[name]), getattr(theirs, function)(BATCHES[name])
    assert describe(ours) == describe(expected)


def test_collate_tensors_and_own_types():
    from taeda.utils.data._utils.collate import collate

    assert data.default_collate([taeda.ones(2), taeda.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    assert data.default_convert([np.array(["a"]), "b"])[1] == "b"
    table = {complex: lambda batch, *, collate_fn_map: sum(batch)}
    assert collate([[1j, 2j], [3j, 4j]], collate_fn_map=table) == [4j, 6j]


def test_nothing_to_draw_from():
    for lib, module in ((taeda, data), (torch, theirs)):
        with pytest.raises(RuntimeError):
            list(module.WeightedRandomSampler([], 2))
        assert lib.multinomial(lib.ones(0, 2), 2, True).shape == (0, 2)
