"""The operator benchmark: configs, tests in files, declared ops, and what is said of threads and spread."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from taeda.utils import operator_benchmark as op_bench
from taeda.utils.operator_benchmark import cases, machine
from taeda.utils.operator_benchmark.__main__ import main
from taeda.utils.operator_benchmark.declared import declared_cases, ops_named

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "operator"
QUICK = ["--warmup", "1"]


def test_configs() -> None:
    assert op_bench.cross_product_configs(M=[1, 2], N=[3], tags=["short"]) == [
        [{"M": 1}, {"N": 3}, {"tags": "short"}],
        [{"M": 2}, {"N": 3}, {"tags": "short"}],
    ]
    listed = op_bench.config_list(
        attr_names=["M", "N"], attrs=[[1, 2]], cross_product_configs={"device": ["cpu", "cuda"]}, tags=["long"]
    )
    assert [config[2]["device"] for config in listed] == ["cpu", "cuda"] and listed[0][-1] == {"tags": "long"}
    drawn = op_bench.random_sample_configs(
        M=[1, 2], N=[3], probs=op_bench.attr_probs(M=[0.0, 1.0], N=[1.0]), total_samples=3, tags=["short"]
    )
    assert drawn == [[{"M": 2}, {"N": 3}, {"tags": "short"}]] * 3
    with pytest.raises(ValueError, match="tag"):
        op_bench.cross_product_configs(M=[1], tags=[])
    with pytest.raises(ValueError, match="as many values"):
        op_bench.config_list(attr_names=["M"], attrs=[[1, 2]], tags=["short"])


def test_a_timing_says_whether_its_runs_agree() -> None:
    steady = op_bench.Timing(((1.0, 1.1, 0.9), (1.0, 1.05, 0.95)), 10)
    assert steady.median == 1.0 and steady.agree and "two runs agree" in str(steady)
    other = op_bench.Timing(((1.0, 1.0, 1.0), (2.0, 2.0, 2.0)), 10)
    assert not other.agree and other.medians == (1.0, 2.0) and "differ" in str(other)


def test_calls_are_taken_in_turn() -> None:
    seen: list[str] = []
    ours, theirs = op_bench.measure(
        [lambda: seen.append("a"), lambda: seen.append("b")], warmup=0, iterations=2, slices=2, before=lambda: None
    )
    assert "".join(seen[:8]) == "aabbaabb" and ours.calls == theirs.calls == 2


def test_tests_are_made_for_each_input_that_may_require_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    import taeda

    class Sum(op_bench.TorchBenchmarkBase):
        def init(self, M: int, device: str) -> None:
            new = lambda: taeda.ones(M, requires_grad=self.auto_set())
            self.inputs = {"a": new(), "b": new()}

        def forward(self, a: taeda.Tensor, b: taeda.Tensor) -> taeda.Tensor:
            return a + b

    monkeypatch.setattr(cases, "_registered", [])
    configs = op_bench.cross_product_configs(M=[2], device=["cpu", "cuda"], tags=["short"])
    op_bench.generate_pt_test(configs, Sum)
    op_bench.generate_pt_gradient_test(configs, Sum)
    found = list(cases.cases(lambda tag: tag == "short"))
    assert [case.name for case in found] == [f"Sum_M2_cpu{end}" for end in ("", "_bwdall", "_bwd1", "_bwd2")]
    required = [[t.requires_grad for t in case.op.inputs.values()] for case in found]
    assert required == [[False, False], [True, True], [True, False], [False, True]]
    for case in found:
        case.call()()


@pytest.mark.parametrize("op", ["add.Tensor", "softmax.int", "sum.dim_IntList", "matmul"])
def test_declared_ops_have_cases(op: str) -> None:
    for one in ops_named(op):
        assert list(declared_cases(one, "short", "float32", None))


def test_shapes_are_those_asked_for() -> None:
    case = next(declared_cases(ops_named("mm")[0], "short", "float64", [[(4, 5), (5, 6)]]))
    assert "float64[4, 5], float64[5, 6]" in str(case.sample)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    assert main(["relu", "--shapes", "8x8", "--omp_num_threads", "1", *QUICK, "--json", str(file)]) == 0
    text = capsys.readouterr().out
    assert "Forward Execution Time (us)" in text and "Backward Execution Time (us)" in text
    assert "1 threads allowed, 1 ran" in text and "spread" in text
    assert [row["direction"] for row in json.loads(file.read_text())] == ["forward", "backward"]
    assert main(["relu6_", "--shapes", "8x8"]) == 2
    assert "did you mean" in capsys.readouterr().err
    assert main(["addmm", "--shapes", "8x8,3x3"]) == 1
    assert "[2, 4], float64[2, 3], float64[3, 4]" in capsys.readouterr().err


def test_the_largest_cache_is_flushed() -> None:
    assert machine.cache_bytes() >= 1 << 18


def test_a_file_that_says_import_torch_gets_taeda(tmp_path: Path) -> None:
    file = tmp_path / "mine_test.py"
    file.write_text(
        "import operator_benchmark as op_bench\nimport torch\n\n"
        "class Neg(op_bench.TorchBenchmarkBase):\n"
        "    def init(self, M): self.inputs = {'x': torch.ones(M)}\n"
        "    def forward(self, x): return torch.neg(x)\n\n"
        "op_bench.generate_pt_test(op_bench.cross_product_configs(M=[3], tags=['short']), Neg)\n"
        "assert 'taeda' in torch.__file__\n"
        "op_bench.benchmark_runner.main()\n"
    )
    code = f"import sys, runpy; sys.path.insert(0, {str(FOLDER)!r}); sys.argv = ['x', '--iterations', '2']; "
    code += f"runpy.run_path({str(file)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "# Name: Neg_M3" in done.stdout


@pytest.mark.parametrize("module", ["pt.add_test", "pt.linear_test", "pt.conv_test", "pt.fake_quantize_test"])
def test_the_files_of_tests_list_theirs(module: str) -> None:
    command = [sys.executable, "-m", module, "--list_tests", "--tag_filter", "short"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0 and "# " in done.stdout, done.stderr
