"""The sizes of a program's values: symbols where they vary, by the names of the ranges."""

import io

import pytest

import taeda
from taeda import export, nn
from taeda.export import Dim


class Sized(nn.Module):
    def forward(self, x, y):
        n = x.shape[0]
        both = taeda.cat([x, y], 1)
        count = x.sum().int().item()
        return both, x.reshape(n * 3, -1), taeda.cat([x, x[:2]]), taeda.zeros(count), n * 2 + 1


X, Y = taeda.ones(4, 3), taeda.ones(4, 2)


@pytest.fixture(scope="module")
def program():
    batch = Dim("batch", min=2, max=64)
    return export.export(Sized(), (X, Y), dynamic_shapes={"x": {0: batch}, "y": {0: batch, 1: Dim("width")}})


def again(program):
    stream = io.BytesIO()
    export.save(program, stream)
    stream.seek(0)
    return export.load(stream)


@pytest.mark.parametrize("change", [lambda p: p, lambda p: p.run_decompositions(), again], ids=["new", "core", "read"])
def test_sizes_that_vary_are_symbols(program, change):
    changed = change(program)
    values = [arg.meta["val"] for arg in changed.graph.output_node().args[0]]
    texts = [str(tuple(value.shape)) if isinstance(value, taeda.Tensor) else str(value) for value in values]
    assert texts == [
        "(batch, s0)", "(batch * 3, 1)", "(s1, 3)", "(u0,)", "(batch * 2) + 1",
    ]  # fmt: skip
    assert set(changed.range_constraints) == {"batch", "width"}


def test_they_are_numbers_where_numbers_are_wanted(program):
    value = next(node for node in program.graph.nodes if node.name == "x").meta["val"]
    size = value.shape[0]
    assert isinstance(size, taeda.SymInt) and size == value.size(0) == 4 and int(size) == 4
    assert str(size.node.expr) in program.range_constraints and str(size * 2) == "batch * 2"
    assert taeda.ones(value.shape).shape == (4, 3) and value.size(1) == 3
    assert repr(value) == "FakeTensor(..., size=(batch, 3))"


def test_numbers_that_stay_are_ints():
    program = export.export(Sized(), (X, Y))
    shapes = [n.meta["val"].shape for n in program.graph.nodes if isinstance(n.meta.get("val"), taeda.Tensor)]
    assert {type(size) for shape in shapes[:2] for size in shape} == {int}
