"""Facts in a declaration's block: samples, batching rule, flops. What they become, who uses them, mistakes in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from generator import ROOT, generate

import taeda
from taeda.func import vmap
from taeda.func._batched import rules

BLOCK = '''from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v


@kernel("ramp(Tensor self, int dim) -> Tensor", variants="function inplace out", shape="same", batch="along",
        flops="prod(result) + self[0]", samples=[S(f(2, 3), 1), S(f(4), dim=0)])
def ramp(self, dim):
    """The sums of all elements up to each, along ``dim``."""


@kernel("ramp_copy(Tensor self, int dim) -> Tensor", shape="same", samples="ramp", batch="along inplace",
        variants="function inplace")
def ramp_copy(self, dim):
    """As ``ramp``."""


@pointwise("root(Tensor self) -> Tensor", domain=(0.5, 1.0), dtypes=FLOATING)
def root(self):
    """The square root."""
    return sqrt(self)


@pointwise("root2(Tensor self) -> Tensor", domain="root", dtypes=FLOATING)
def root2(self):
    """As ``root``."""
    return sqrt(self)


@view("turned(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", shape="transpose")
def turned(self, dim0, dim1):
    """A view with two dimensions swapped."""


ramp_copy.backward(lambda grad: {"self": grad})
'''
SHOW = """
import sys
from taedagen.opdef import REGISTRY, load_ops
load_ops(sys.argv[1])
from taeda.testing._samples import samples
for d in REGISTRY.declarations:
    found = samples(d.ops()[0])
    print(d.name, *found, {(x.low, x.high) for s in found for x in s.fills}, sep="|")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("facts")
    (folder / "ops").mkdir()
    (folder / "ops" / "blocks.py").write_text(BLOCK)
    run = generate(folder / "out", "--subset", "python", ops=folder / "ops")
    assert run.returncode == 0, run.stderr
    return folder


def table(folder: Path, name: str) -> list[str]:
    return (folder / "out" / "taeda" / "generated" / name).read_text().splitlines()


def test_what_is_written_for_taeda(folder: Path) -> None:
    assert table(folder, "batching.txt") == [
        "ramp along.along", "ramp_copy along.along", "ramp_copy_ along.along", "turned view.by_dims",
    ]  # fmt: skip
    assert table(folder, "flops.txt") == ["ramp lambda self, dim, *_, out_shape=None, **__: prod(out_shape) + self[0]"]


def test_conformance_calls_the_samples(folder: Path) -> None:
    run = subprocess.run([sys.executable, "-c", SHOW, str(folder / "ops")], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    rows = {line.split("|")[0]: line.split("|")[1:] for line in run.stdout.splitlines()}
    assert rows["ramp"] == rows["ramp_copy"] == ["(float64[2, 3], 1)", "(float64[4], dim=0)", "{(-2.0, 2.0)}"]
    assert rows["root"][-1] == rows["root2"][-1] == "{(0.5, 1.0)}"


def test_vmap_uses_the_rule(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = dict(line.split(" ", 1) for line in table(folder, "batching.txt"))
    monkeypatch.setattr(rules, "_declared", lambda: said)
    calls = []

    def ramp(self: taeda.Tensor, dim: int) -> taeda.Tensor:
        calls.append((tuple(self.shape), dim))
        return self.cumsum(dim)

    library = taeda.library.Library("aten", "FRAGMENT")
    try:
        library.define("ramp(Tensor self, int dim) -> Tensor")
        library.impl("ramp", ramp, "CPU")
        x = taeda.rand(5, 2, 3)
        result = vmap(lambda row: taeda.ops.aten.ramp(row, -1))(x)
        assert calls == [((5, 2, 3), 2)] and taeda.equal(result, x.cumsum(2))
    finally:
        library._destroy()
        rules.rule_of.cache_clear()


def block(options: str, below: str = "") -> str:
    return f'''from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@kernel("one(Tensor self, int dim, *, bool flag=False) -> Tensor", shape="same", {options})
def one(self, dim, flag):
    """Doc."""
{below}'''


@pytest.mark.parametrize(("text", "line", "words"), [
    (block("samples=[S(f(2), dims=0)]"), 5, "names 'dims'; the schema has ['self', 'dim', 'flag']"),
    (block("samples=[S(f(2), 0, True)]"), 5, "has 3 arguments by position; the schema takes ['self', 'dim']"),
    (block("samples=[S(f(2), 0, dim=0)]"), 5, "gives 'dim' twice"),
    (block("samples=[f(2)]"), 5, "samples are a list of S(...)"),
    (block("samples='two'"), 5, "there is no op 'two'"),
    (block("samples='one'"), 5, "samples go in a circle"),
    (block("flops='1'", "\n\none.samples([S(f(2), f(2), f(2))])\n"), 10, "has 3 arguments by position"),
    (block("samples=[]", "\n\none.samples([S(f(2), 0)])\n"), 10, "it has samples already"),
    (block("domain=(2, 1)"), 5, "a domain is an interval"),
    (block("domain={'other': (0, 1)}"), 5, "names 'other'"),
    (block("domain='two'"), 5, "there is no op 'two'"),
    (block("batch='alogn'"), 5, "the batching rule 'alogn' is no function in taeda/func/_batched; did you mean 'al"),
    (block("batch='zzzz'"), 5, "there are addmm, "),
    (block("batch='along full=all'"), 5, "the batching rule 'along' takes ['empty']; got ['full']"),
    (block("flops='2 * prod(other)'"), 5, "names ['other']; there are the shapes of ['self', 'dim', 'result']"),
    (block("flops='2 *'"), 5, "flops='2 *': "),
])  # fmt: skip
def test_mistakes_tell_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "bad.py").write_text(text)
    run = generate(tmp_path / "out", "--subset", "python", ops=tmp_path / "ops")
    assert run.returncode == 1
    assert f"{tmp_path}/ops/bad.py:{line}: error: " in run.stderr and words in run.stderr
    assert "Traceback" not in run.stderr
