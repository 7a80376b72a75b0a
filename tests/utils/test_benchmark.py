"""Timer, Measurement and Compare, with a clock that tests can foretell."""

import pytest

import taeda
from taeda.utils import benchmark
from taeda.utils.benchmark import Compare, Measurement, TaskSpec, Timer, select_unit, trim_sigfig


class Clock:
    """A second a look."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


def test_batches():
    counts = []
    globals_ = {"count": lambda: counts.append(taeda.get_num_threads())}
    timed = Timer("count()", timer=Clock(), globals=globals_, num_threads=1)
    assert timed.timeit(10).times == [0.1] and len(counts) == 12 and set(counts) == {1}
    seen = []
    measured = timed.blocked_autorange(lambda n, t: seen.append((n, t)), min_run_time=3)
    assert measured.raw_times == [1, 1, 1] and seen == [(1, 1.0)] * 3
    measured = timed.adaptive_autorange(min_run_time=2)
    assert len(measured.times) == 4 and measured.iqr == 0 and not measured.has_warnings
    assert len(timed.adaptive_autorange(threshold=0.0, min_run_time=2, max_run_time=6).times) == 6


def test_names_in_statements():
    assert Timer("assert torch is taeda and y == 3", "y = x + 1", globals={"x": 2}).timeit(1).number_per_run == 1
    assert Timer("""
        with torch.no_grad():
            y = x + 1""", setup="""
        x = 1""").timeit(1).number_per_run == 1  # fmt: skip
    for wrong in ({"global_setup": "#include <vector>"}, {"language": "c"}, {"language": "c++", "globals": {"x": 1}}):
        with pytest.raises(ValueError, match="taeda.utils.benchmark.Timer: "):
            Timer(**wrong)


def test_statements_in_cpp(tmp_path, monkeypatch):
    pytest.importorskip("pybind11")
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    timed = Timer("sum += more(x);", "auto x = torch::ones({2}); double sum = 0;",
                  "double more(const torch::Tensor& x) { return x.sum().item<double>(); }",
                  language=benchmark.Language.CPP)  # fmt: skip
    assert 0 < timed.timeit(10).median < 1 and timed.timeit(1).task_spec.global_setup.startswith("double more")


def test_statistics():
    m = Measurement(2, [2.0, 4.0, 6.0, 8.0, 10.0], TaskSpec("f(x)", "x = 1", label="add", sub_label="small"))
    assert (m.times, m.median, m.mean, m.iqr) == ([1, 2, 3, 4, 5], 3, 3, 2)
    assert m.significant_figures == 1 and m.has_warnings and m.title == "add: small" and m.as_row_name == "small"
    assert "3 s (median)" in repr(m) and "setup: x = 1" in repr(m) and "5 batches of 2 runs, 1 thread" in repr(m)
    (merged,) = Measurement.merge([m, Measurement(1, [3.0], m.task_spec)])
    assert merged.times == [1, 2, 3, 4, 5, 3] and merged.number_per_run == 1
    single = Measurement(1, [0.002], TaskSpec("x", "pass"))
    assert single.iqr == 0 and single.significant_figures == 4 and single.title == "x" and single.env == ""


def test_tables():
    def m(t, row, column, label="op"):
        return Measurement(1, [t] * 5, TaskSpec("s", "", label=label, sub_label=row, description=column))

    table = Compare([m(1e-6, "a", "old"), m(2.5e-6, "a", "new"), m(4e-6, "b", "old")])
    table.trim_significant_figures()
    lines = [[cell.strip() for cell in line.split("|")] for line in str(table).splitlines()]
    assert lines[0] == ["op, in us"] and lines[1] == ["", "old", "new"]
    assert lines[2] == ["a (1 threads)", "1", "2.5"] and lines[3] == ["b (1 threads)", "4", ""]
    table.colorize()
    assert "\033[92m  1\033[0m" in str(table) and "\033[91m  4\033[0m" in str(table)
    table.colorize(rowwise=True)
    assert "\033[92m  4\033[0m" in str(table) and "\033[91m" not in str(table)
    spread = Compare([Measurement(1, [1.0, 2.0, 3.0, 4.0], TaskSpec("s", ""))])
    spread.highlight_warnings()
    assert "2.5 (! 60%)" in str(spread)
    table.extend_results([m(1.0, "c", "old", "other")])
    assert "other, in s" in str(table)
    with pytest.raises(ValueError, match="int"):
        Compare([3])


def test_rounding():
    assert [select_unit(t) for t in (2.0, 2e-3, 2e-6, 2e-9, 2e-12)] == [
        ("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ns", 1e-9)
    ]  # fmt: skip
    assert [trim_sigfig(x, 2) for x in (1234.0, 0.0, -0.01267)] == [1200, 0, -0.013]
    assert benchmark.timer() <= benchmark.timer()


def test_fuzzer():
    B = benchmark
    sizes = [B.FuzzedParameter(f"k{i}", 4, 64, "loguniform") for i in range(2)]
    steps = B.FuzzedParameter("step", distribution={1: 0.5, 2: 0.5})
    same = B.FuzzedParameter("same", distribution={B.ParameterAlias("k1"): 1.0})
    tensors = [
        B.FuzzedTensor("x", ("k0", "same"), ("step", 1), probability_contiguous=0, min_elements=64, max_elements=512),
        B.FuzzedSparseTensor("s", ("k0", 3), density=0.5, coalesced=True),
    ]
    make = lambda: B.Fuzzer([sizes, steps, same], tensors, [lambda k0, k1, **rest: k0 <= k1], seed=3)
    fuzzer = make()
    drawn = list(fuzzer.take(20))
    again = list(make().take(20))
    for (made, facts, params), (other, _, _) in zip(drawn, again, strict=True):
        x, s = made["x"], made["s"]
        assert (
            tuple(x.shape) == (params["k0"], params["k1"]) and 64 <= x.numel() <= 512 and params["k0"] <= params["k1"]
        )
        assert facts["x"]["steps"] == (params["step"], 1) and facts["x"]["is_contiguous"] == x.is_contiguous()
        assert s.is_coalesced() and s.shape[1] == 3 and taeda.equal(x, other["x"])
    assert {params["step"] for _, _, params in drawn} == {1, 2} and 0 < fuzzer.rejection_rate < 1
    for wrong in (
        lambda: B.FuzzedParameter("a", 0, 4, "loguniform"),
        lambda: B.FuzzedParameter("a", distribution={1: 0.2}, strict=True),
        lambda: B.FuzzedParameter("a", 1, 2, "normal"),
        lambda: B.Fuzzer([sizes, sizes], []),
        lambda: B.Fuzzer([3], []),
        lambda: next(B.Fuzzer(sizes, [], [lambda **sizes: False]).take(1)),
    ):
        with pytest.raises(ValueError, match="Fuzze"):
            wrong()
