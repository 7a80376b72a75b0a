"""``explain --jit``: every stage, with the user's line beside each node and instruction; archives compiled once."""

import io
import subprocess
import sys

import pytest

import taeda
from taeda import jit, nn
from taeda.__main__ import main
from taeda.jit._command import NotThere, explain_named

PROGRAM = """import {} as torch


def program(x: torch.Tensor, n: int = 2) -> torch.Tensor:
    y = x * 2 + (3 - 2)
    for i in range(n):
        if i % 2 == 0:
            y = torch.relu(y)
    return y


def wrong(x: torch.Tensor) -> int:
    return x.nothing()
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "explained.py"
    path.write_text(PROGRAM.format("taeda"))
    return path


def test_every_stage_with_its_lines(file, capsys):
    explain_named(f"{file}:program")
    text = capsys.readouterr().out
    sections = [line.split("=")[2].strip() for line in text.splitlines() if line.startswith("==")]
    assert sections[:4] == ["source", "tree", "typed tree", "graph"]
    assert sections[-2:] == ["instructions", "kernels"]
    lines = {part.split("|")[0].strip(): part.split("|")[1].strip() for part in text.splitlines() if "|" in part}
    relu = [beside for left, beside in lines.items() if "aten::relu(" in left]
    assert relu == ["8: y = torch.relu(y)"]
    assert any("op aten::relu" in left and beside.startswith("8:") for left, beside in lines.items())
    assert any("Call  : Tensor  (aten::relu)" in line for line in text.splitlines())
    assert "aten::relu" in text.split("== kernels")[1]


def test_passes_that_change_the_graph_are_shown():
    def unrolled(x: taeda.Tensor) -> taeda.Tensor:
        for i in range(2):
            x = x + i
        return x

    out = io.StringIO()
    jit.explain(unrolled, file=out)
    assert "== graph after unroll_loops" in out.getvalue()
    assert "prim::Loop" not in out.getvalue().split("== graph after ")[-1]


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [("{}:nothing", NotThere, "it has program"), ("{}.gone:f", NotThere, "there is no file"),
     ("plain", NotThere, "FILE:FUNCTION"), ("{}:wrong", RuntimeError, r"x\.nothing\(\)")],
)  # fmt: skip
def test_mistakes(file, name, error, said):
    with pytest.raises(error, match=said):
        explain_named(name.format(file))


def test_the_command(file):
    file.write_text(PROGRAM.format("torch"))
    run = lambda name: subprocess.run([sys.executable, "-m", "taeda", "explain", "--jit", name], capture_output=True)
    assert b"op aten::relu" in run(f"{file}:program").stdout
    assert run(f"{file}:nothing").returncode == 2
    assert run(f"{file}:wrong").returncode == 1


def test_an_archive_is_compiled_once(tmp_path, capsys):
    torch = pytest.importorskip("torch", reason="needs torch==2.13")
    path = tmp_path / "model.pt"
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    torch.jit.script(model).save(str(path), _extra_files={"note": b"kept"})
    assert main(["jit", "compile", str(path)]) == 0
    assert main(["jit", "compile", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{path}: instructions added", f"{path}: has instructions already"]
    assert main(["jit", "compile", str(tmp_path / "none.pt")]) == 1
    extra = {"note": b""}
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    expected = pytest.approx(model(x).flatten().tolist(), abs=1e-6)
    assert jit.load(path, _extra_files=extra)(taeda.tensor(x.tolist())).flatten().tolist() == expected
    assert extra == {"note": b"kept"} and torch.jit.load(path)(x).flatten().tolist() == expected


def test_an_archive_is_explained(tmp_path, capsys):
    path = tmp_path / "net.pt"
    jit.save(jit.script(nn.Linear(2, 2)), path)
    explain_named(f"{path}:forward")
    assert "aten::linear" in capsys.readouterr().out
