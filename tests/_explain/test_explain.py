"""``explain``: the hops it prints are real places."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

import taeda
from taeda.__main__ import main
from taeda._explain import UnknownName, describe
from taeda.library import Library

PACKAGE = Path(taeda.__file__).parents[1]
REPOSITORY = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"(\S+\.(?:py|cpp|h)):(\d+)$")


def read(file: str) -> list[str]:
    return ((PACKAGE if file.startswith("taeda/") else REPOSITORY) / file).read_text().splitlines()


def places(lines: list[str]) -> list[tuple[str, str, int]]:
    """(row, file, line number) of each row that ends with a place; long rows are of two lines."""
    rows: list[str] = []
    for line in lines:
        rows += [f"{rows.pop()} {line.strip()}"] if line.startswith("   ") else [line]
    found = [(row, PLACE.search(row)) for row in rows]
    return [(line, match[1], int(match[2])) for line, match in found if match]


@pytest.mark.parametrize(
    "name", ["prelu", "add", "add_", "sum", "mm", "transpose", "softmax", "relu", "nn.functional.silu", "zeros"]
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_places_exist(name: str, device: str) -> None:
    rows = places(describe(name, device=device))
    assert len(rows) >= 4
    for row, file, number in rows:
        assert len(read(file)) >= number, row


def test_the_way_of_an_add() -> None:
    lines = describe("add")
    stages = [line.split("  ")[1] for line in lines if line.startswith("  ") and line[2] != " "]
    assert stages[:4] == ["python", "binding", "declaration", "dispatcher"]
    rows = {line.split()[-2]: (file, number) for line, file, number in places(lines)}
    file, number = rows["autograd::add"]
    head = "Tensor autograd::add(KeySet keys, const Tensor& self, const Tensor& other"
    assert read(file)[number - 1].startswith(head)
    assert "cpu::add" in rows and any("loops.h" in file for file, _ in rows.values())


def test_a_composite_leads_to_the_loop_of_what_it_calls() -> None:
    lines = describe("prelu", dtype="float64")
    assert any("ops::_prelu_kernel" in line for line in lines if "may call" in line)
    ((row, file, number),) = [place for place in places(lines) if "chooses by dtype" in place[0]]
    assert file.endswith("activation_loops.h") and "double" in row
    assert read(file)[number - 1].startswith("struct _prelu_kernel")


def test_declaration_line() -> None:
    ((file, number),) = [
        (f, n) for line, f, n in places(describe("transpose", overload="int")) if line.startswith("  declaration")
    ]
    assert "transpose.int" in "".join(read(file)[number - 1 : number + 2])


@pytest.mark.parametrize("dtype, word", [("float32", "float>"), ("bfloat16", "widened"), ("int64", "int64_t>")])
def test_dtype(dtype: str, word: str) -> None:
    assert any(word in line for line in describe("add", dtype=dtype) if "chooses by dtype" in line)


def test_python_kernels_show_their_place() -> None:
    library = Library("aten", "IMPL")
    library.impl("relu", lambda x: x, "CPU")
    try:
        assert any("registered at run time" in line and "test_explain.py:" in line for line in describe("relu"))
        assert not any("registered" in line for line in describe("relu", device="meta"))
    finally:
        library._destroy()
    assert not any("registered" in line for line in describe("relu"))


def test_ops_of_ones_own() -> None:
    library = Library("told", "DEF")
    library.define("one(Tensor x) -> Tensor")
    library.impl("one", lambda x: x, "CPU")
    text = "\n".join(describe("told::one"))
    assert "told::one(Tensor x) -> Tensor" in text and text.count("test_explain.py:") == 2
    library._destroy()


def test_with_arguments() -> None:
    out = io.StringIO()
    x = taeda.ones(2, 3)
    result = taeda.explain(taeda.matmul, x, taeda.ones(3, 4), file=out)
    assert result.shape == (2, 4)
    assert "composite::matmul" in out.getvalue() and "cpu::mm" in out.getvalue()


def test_explain_calls() -> None:
    out = io.StringIO()
    with taeda.explain_calls(file=out):
        taeda.ones(2) + 1
    seen = out.getvalue()
    taeda.ones(2) * 2
    assert "autograd::add" in seen and "cpu::add" in seen and out.getvalue() == seen


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "relu", "--device", "meta", "--dtype", "float64"]) == 0
    assert "relu on meta, float64" in capsys.readouterr().out
    assert main(["explain", "reluu"]) == 2
    assert "did you mean relu" in capsys.readouterr().err
    assert main(["explain", "add", "--overload", "Nothing"]) == 2
    assert "it has Tensor" in capsys.readouterr().err
    assert main(["explain", "bitwise_and", "--dtype", "float32"]) == 1
    assert "takes no float32" in capsys.readouterr().err


def test_unknown_names() -> None:
    with pytest.raises(UnknownName, match="matmul"):
        describe("matmull")


@pytest.mark.parametrize("name, wanted", [
    ("cross_entropy", ["taeda/nn/_functional/loss.py:", "ops::cross_entropy_rows", "csrc/backend/cpu/loss.cpp:"]),
    ("nn.Linear", ["taeda.nn.Linear.forward ", "autograd::linear", "cpu::linear"]),
    ("optim.Adam", ["taeda.optim.Adam.step ", "ops::addcdiv_"]),
    ("tensor", ["csrc/python/manual/factories.cpp:"]),
    ("Tensor.backward", ["csrc/python/autograd/"]),
    ("__add__", ["taeda.Tensor.__add__", "cpu::add"]),
    ("Tensor.sum", ["taeda.Tensor.sum", "cpu::sum"]),
    ("norm", ["taeda/functional.py:", "composite::linalg_vector_norm"]),
    ("interpolate", ["taeda/nn/_functional/vision.py:"]),
    ("conv2d", ["cpu::convolution"]),  # through functions that are no ops
    ("to", ["ops::_to_copy"]),
])  # fmt: skip
def test_what_users_call_and_is_not_an_op(name: str, wanted: list[str]) -> None:
    lines = describe(name)
    assert all(word in "\n".join(lines) for word in wanted)
    for row, file, number in places(lines):
        assert len(read(file)) >= number, row


def test_a_native_is_where_its_table_says() -> None:
    ((_, file, number),) = places(describe(taeda.tensor))
    assert '{"tensor", ' in read(file)[number - 1]
