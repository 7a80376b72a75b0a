"""Pipes beside PyTorch's, from the same seed: what they give, how often they may be read, graphs, shares, loaders."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import warnings

import pytest

import taeda
from taeda.utils import data

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
BOTH = (taeda, torch)


def halves(x):
    return x // 2


def third(x):
    return x % 3


def odd(x):
    return x % 2 == 1


def add(a, b):
    return a + b


def iters(lib):
    return lib.utils.data.datapipes.iter


def maps(lib):
    return lib.utils.data.datapipes.map


def numbers(lib, n=20):
    return iters(lib).IterableWrapper(range(n))


def rows(lib):
    return iters(lib).IterableWrapper([(1, 2, 3), (4, 5, 6)])


def table(lib):
    return iters(lib).IterableWrapper([{"a": 1, "b": 2}])


def sequence(lib, n=10):
    return maps(lib).SequenceWrapper(range(n))


CHAINS = {
    "map": lambda lib: numbers(lib).map(halves),
    "map column": lambda lib: rows(lib).map(halves, 1),
    "map columns": lambda lib: rows(lib).map(add, [2, 0]),
    "map to column": lambda lib: rows(lib).map(add, [2, 0], 1),
    "map to end": lambda lib: rows(lib).map(add, [2, 0], [-1]),
    "map key": lambda lib: table(lib).map(add, ["a", "b"], "c"),
    "map too few": lambda lib: rows(lib).map(add, 0),
    "map out of nothing": lambda lib: rows(lib).map(halves, None, 0),
    "map two outputs": lambda lib: rows(lib).map(halves, 0, [0, 1]),
    "map out of range": lambda lib: rows(lib).map(halves, 3),
    "collate": lambda lib: numbers(lib).batch(3).collate().map(list).unbatch().map(int),
    "shuffle": lambda lib: numbers(lib).shuffle(buffer_size=5),
    "shuffle seed": lambda lib: numbers(lib).shuffle().set_seed(7),
    "shuffle off": lambda lib: numbers(lib).shuffle().set_shuffle(False),
    "shuffle unbatched": lambda lib: numbers(lib).batch(3).shuffle(unbatch_level=1),
    "shuffle no buffer": lambda lib: numbers(lib).shuffle(buffer_size=0),
    "sampler": lambda lib: iters(lib).Sampler(numbers(lib), lib.utils.data.RandomSampler),
    "concat": lambda lib: numbers(lib).concat(rows(lib)),
    "concat nothing": lambda lib: iters(lib).Concater(),
    "concat lists": lambda lib: iters(lib).Concater([1]),
    "fork": lambda lib: iters(lib).Zipper(*numbers(lib).fork(3)),
    "fork small buffer": lambda lib: iters(lib).Concater(*numbers(lib).fork(2, buffer_size=4)),
    "fork none": lambda lib: numbers(lib).fork(0),
    "fork copy": lambda lib: numbers(lib).fork(2, copy="some"),
    "demux": lambda lib: iters(lib).Concater(*numbers(lib).demux(3, third)),
    "demux small buffer": lambda lib: iters(lib).Concater(*numbers(lib).demux(3, third, buffer_size=2)),
    "demux outside": lambda lib: numbers(lib).demux(2, third)[0],
    "mux": lambda lib: numbers(lib).mux(rows(lib)),
    "zip": lambda lib: numbers(lib).zip(numbers(lib, 3)),
    "batch": lambda lib: numbers(lib).batch(3).map(list),
    "batch full": lambda lib: numbers(lib).batch(3, drop_last=True),
    "batch none": lambda lib: numbers(lib).batch(0),
    "unbatch all": lambda lib: numbers(lib).batch(2).batch(2).unbatch(-1),
    "unbatch much": lambda lib: numbers(lib).batch(2).unbatch(2),
    "unbatch wrong": lambda lib: numbers(lib).unbatch(-2),
    "groupby": lambda lib: numbers(lib).groupby(third),
    "groupby full": lambda lib: numbers(lib).groupby(third, buffer_size=5, group_size=4, guaranteed_group_size=2),
    "groupby stuck": lambda lib: numbers(lib).groupby(int, buffer_size=5, group_size=4, guaranteed_group_size=2),
    "groupby drop": lambda lib: numbers(lib).groupby(
        int, buffer_size=5, group_size=4, guaranteed_group_size=2, drop_remaining=True
    ),
    "groupby sizes": lambda lib: numbers(lib).groupby(third, group_size=3, guaranteed_group_size=4),
    "filter": lambda lib: numbers(lib).filter(odd),
    "filter column": lambda lib: rows(lib).filter(odd, input_col=0),
    "filter number": lambda lib: numbers(lib).filter(third),
    "read": lambda lib: iters(lib).IterableWrapper([("a", io.StringIO("abcde"))]).read_from_stream(2),
    "decode": lambda lib: iters(lib).IterableWrapper([("a.json", io.BytesIO(b"[1]"))]).routed_decode(),
    "decode key": lambda lib: iters(lib).IterableWrapper([("a.cls", io.BytesIO(b"x"))]).routed_decode(),
    "no files": lambda lib: iters(lib).FileLister("/nowhere"),
    "open nothing": lambda lib: iters(lib).FileOpener(["/nowhere"], mode="b"),
    "open oddly": lambda lib: iters(lib).FileOpener(["/nowhere"], mode="w"),
    "shares": lambda lib: lib.utils.data.graph_settings.apply_sharding(numbers(lib).sharding_filter(), 3, 1),
    "map shuffle": lambda lib: sequence(lib).shuffle().set_seed(3),
    "map map": lambda lib: sequence(lib).map(halves),
    "map batch": lambda lib: sequence(lib).batch(3),
    "map concat": lambda lib: sequence(lib).concat(sequence(lib, 2)),
    "map zip": lambda lib: sequence(lib).zip(sequence(lib, 2)),
    "map zip lists": lambda lib: maps(lib).Zipper([1]),
}


def outcome(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__


def readings(lib, make):
    lib.manual_seed(3)

    def read():
        pipe = make(lib)
        return [outcome(lambda: [str(s) for s in pipe]) for _ in range(2)], outcome(lambda: len(pipe))

    return outcome(read)


@pytest.mark.parametrize("chain", CHAINS)
def test_chains(chain):
    assert readings(taeda, CHAINS[chain]) == readings(torch, CHAINS[chain])


PICKLED = ["map", "shuffle", "demux", "fork", "mux", "zip", "batch", "groupby", "filter", "shares", "map map"]


@pytest.mark.parametrize("chain", PICKLED)
def test_pickle_amid_reading(chain):
    pipe = CHAINS[chain](taeda)
    samples = iter(pipe)
    next(samples)
    again = pickle.loads(pickle.dumps(pipe))
    assert sorted(map(str, again)) == sorted(map(str, pipe))


@pytest.mark.parametrize("lib", BOTH)
def test_a_new_iterator_ends_the_old(lib):
    for pipe in (numbers(lib), numbers(lib).map(halves), numbers(lib).fork(2)[0]):
        old = iter(pipe)
        next(old)
        assert next(iter(pipe)) == 0
        with pytest.raises(RuntimeError):
            next(old)


@pytest.mark.parametrize("lib", BOTH)
def test_samples_are_counted(lib):
    pipe = numbers(lib).map(halves)
    samples = iter(pipe)
    next(samples), next(samples)
    assert (pipe._number_of_samples_yielded, pipe.datapipe._number_of_samples_yielded) == (2, 2)


@pytest.mark.parametrize("lib", BOTH)
def test_snapshot(lib):
    import importlib

    snapshot = importlib.import_module(f"{lib.__name__}.utils.data.datapipes.utils.snapshot")
    pipe = numbers(lib).shuffle().batch(2)
    rng = lib.Generator().manual_seed(0)
    lib.utils.data.graph_settings.apply_random_seed(pipe, rng)
    whole = list(pipe)
    snapshot._simple_graph_snapshot_restoration(pipe, 3, lib.Generator().manual_seed(0))
    with pytest.raises(RuntimeError):
        snapshot._simple_graph_snapshot_restoration(pipe, 3)
    assert list(pipe) == whole[3:]
    assert len(list(pipe)) == len(whole)


@pytest.mark.parametrize("lib", BOTH)
def test_graph(lib):
    source = numbers(lib)
    a, b = source.map(halves).fork(2)
    end = a.zip(b.sharding_filter())
    graph = lib.utils.data.graph.traverse_dps(end)
    names = sorted(str(pipe) for pipe in lib.utils.data.graph_settings.get_all_graph_pipes(graph))
    assert names == sorted(
        ["ZipperIterDataPipe", "ShardingFilterIterDataPipe", "IterableWrapperIterDataPipe", "MapperIterDataPipe"]
        + ["_ForkerIterDataPipe"]
        + ["_ChildDataPipe"] * 2
    )
    with pytest.raises(RuntimeError):
        lib.utils.data.graph_settings.apply_sharding(end.sharding_filter(), 2, 0)


def loaded(lib, workers, shuffle, persistent=False):
    lib.manual_seed(5)
    pipe = numbers(lib).shuffle(buffer_size=4).sharding_filter()
    loader = lib.utils.data.DataLoader(
        pipe, shuffle=shuffle, batch_size=3, num_workers=workers, persistent_workers=persistent
    )
    return [[batch.tolist() for batch in loader] for _ in range(2)], lib.rand(2).tolist()


@pytest.mark.parametrize("shuffle", [None, True, False])
@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (2, False), (2, True)])
def test_loader(workers, persistent, shuffle):
    ours = loaded(taeda, workers, shuffle, persistent)
    assert ours == loaded(torch, workers, shuffle, persistent)
    assert sorted(x for batch in ours[0][1] for x in batch) == TWENTY


TWENTY = list(range(20))


@pytest.mark.parametrize("workers", [0, 2])
def test_loader_of_map_pipes(workers):
    def of(lib):
        lib.manual_seed(1)
        loader = lib.utils.data.DataLoader(sequence(lib).map(halves), batch_size=4, shuffle=True, num_workers=workers)
        return [batch.tolist() for batch in loader]

    assert of(taeda) == of(torch)


def test_spawned_workers():
    loader = data.DataLoader(
        numbers(taeda, 6).map(halves).sharding_filter(), batch_size=None, num_workers=2, multiprocessing_context="spawn"
    )
    assert [int(x) for x in loader] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("lib", BOTH)
def test_own_pipes_become_methods(lib):
    name = f"doubled_{lib.__name__}"

    @lib.utils.data.functional_datapipe(name)
    class Doubled(lib.utils.data.IterDataPipe):
        """Twice each."""

        def __init__(self, source):
            self.source = source

        def __iter__(self):
            yield from (2 * x for x in self.source)

    pipe = getattr(numbers(lib, 3), name)()
    assert list(pipe) == [0, 2, 4]
    assert (repr(pipe).split(".")[-1], getattr(pipe, name).__doc__, name in dir(pipe)) == (
        "Doubled",
        "Twice each.",
        True,
    )
    with pytest.raises(Exception, match="name"):
        lib.utils.data.functional_datapipe(name)(Doubled)
    with pytest.raises(AttributeError):
        _ = pipe.nothing_of_that_name


@pytest.mark.parametrize("lib", BOTH)
def test_hooks(lib):
    kind = lib.utils.data.IterDataPipe
    kind.set_reduce_ex_hook(lambda pipe: (str, ("gone",)))
    try:
        assert pickle.loads(pickle.dumps(numbers(lib))) == "gone"
        with pytest.raises(RuntimeError):
            kind.set_reduce_ex_hook(len)
    finally:
        kind.set_reduce_ex_hook(None)
    assert list(pickle.loads(pickle.dumps(numbers(lib, 2)))) == [0, 1]


@pytest.mark.parametrize("lib", BOTH)
def test_determinism(lib):
    @lib.utils.data.non_deterministic
    class Dice(lib.utils.data.IterDataPipe):
        def __iter__(self):
            yield 4

    assert list(Dice()) == [4]
    with lib.utils.data.guaranteed_datapipes_determinism(), pytest.raises(TypeError):
        Dice()


def test_samples_are_checked():
    class Checked(data.IterDataPipe[tuple[int, str]]):
        @data.argument_validation
        def __init__(self, source: data.IterDataPipe):
            self.source = source

        @data.runtime_validation
        def __iter__(self):
            yield from self.source

    wrap = data.datapipes.iter.IterableWrapper
    assert list(Checked(wrap([(1, "a")]))) == [(1, "a")]
    with pytest.raises(RuntimeError):
        list(Checked(wrap([(1, 2)])))
    with data.runtime_validation_disabled():
        assert list(Checked(wrap([3]))) == [3]


def test_stream_closes(tmp_path):
    (tmp_path / "a.txt").write_text("abc")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.txt").write_text("d")
    for lib in BOTH:
        lister = iters(lib).FileLister(str(tmp_path), "*.txt", recursive=True)
        assert [text for _, text in lister.open_files().read_from_stream()] == ["abc", "d"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(data.datapipes.iter.FileLister(str(tmp_path)).open_files())


def test_nothing_is_loaded_before_it_is_used():
    code = "import sys, taeda.utils.data; print([m for m in sys.modules if 'datapipes' in m])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
    assert set(torch.utils.data.__all__) == set(data.__all__)
