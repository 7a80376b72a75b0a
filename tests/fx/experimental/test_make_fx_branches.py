"""Branches and loops that `make_fx` records: each is a graph of its own, and runs other ways than the example's."""

from __future__ import annotations

import pytest

import taeda as torch
from taeda._higher_order_ops.map import map as map_
from taeda._higher_order_ops.scan import scan
from taeda.fx.experimental.proxy_tensor import make_fx

MODES = ["real", "fake", "symbolic"]


def targets(graph):
    return [str(node.target) for node in graph.nodes if node.op == "call_function"]


@pytest.mark.parametrize("mode", MODES)
def test_a_branch_takes_what_it_uses_from_outside(mode):
    def program(x, predicate):
        y = x * 2
        return torch.cond(predicate, lambda a: a + y, lambda a: (a - y).sin(), (x,))

    yes, no, x = torch.tensor(True), torch.tensor(False), torch.randn(3)
    traced = make_fx(program, tracing_mode=mode)(torch.ones(3), yes)
    assert targets(traced.graph) == ["aten.mul.Tensor", "cond", "<built-in function getitem>"]
    assert targets(traced.true_graph_0.graph) == ["aten.add.Tensor"]
    assert targets(traced.false_graph_0.graph) == ["aten.sub.Tensor", "aten.sin.default"]
    for predicate in (yes, no):
        assert torch.equal(traced(x, predicate), program(x, predicate))
    shapes = [node.meta["val"].shape for node in traced.graph.nodes if node.name in ("x_1", "mul", "getitem")]
    inner = [n.meta["val"].shape for n in traced.false_graph_0.graph.nodes if n.op not in ("output", "get_attr")]
    assert all(list(map(int, shape)) == [3] for shape in shapes + inner)


@pytest.mark.parametrize("mode", MODES)
def test_branches_within_branches_and_constants_from_outside(mode):
    held = torch.arange(3.0)

    def inner(x, predicate):
        return torch.cond(predicate, lambda a: a * held, lambda a: a - 1, (x,))

    def program(x, first, second):
        return torch.cond(first, lambda a: inner(a, second), lambda a: a.cos() + held, (x,))

    flags, x = (torch.tensor(False), torch.tensor(True)), torch.randn(3)
    traced = make_fx(program, tracing_mode=mode, _allow_non_fake_inputs=True)(torch.ones(3), *flags)
    for first in flags:
        for second in flags:
            assert torch.equal(traced(x, first, second), program(x, first, second))


@pytest.mark.parametrize("mode", MODES)
def test_a_loop_goes_on_as_long_as_its_own_input_says(mode):
    def program(x, step):
        return torch.while_loop(lambda i, a: a.sum() < 10, lambda i, a: (i + 1, a.clone().add_(step)),
                                (torch.zeros((), dtype=torch.int64), x))  # fmt: skip

    traced = make_fx(program, tracing_mode=mode)(torch.tensor([9.0, 0.0]), torch.tensor(1.0))
    for given in ((torch.zeros(2), torch.tensor(0.5)), (torch.full((2,), 8.0), torch.tensor(1.0))):
        for a, b in zip(traced(*given), program(*given), strict=True):
            assert torch.equal(a, b)


@pytest.mark.parametrize("mode", ["real", "symbolic"])
def test_maps_and_scans(mode):
    def mapped(xs, y):
        return map_(lambda x, y: x.sin() + y, xs, y)

    def scanned(start, xs):
        return scan(lambda carry, x: (carry * 2 + x, carry.clone()), start, xs)

    for program, graph, given in ((mapped, "body_graph_0", (torch.randn(3, 2), torch.randn(2))),
                                  (scanned, "scan_combine_graph_0", (torch.randn(2), torch.randn(3, 2)))):  # fmt: skip
        traced = make_fx(program, tracing_mode=mode)(*given)
        other = tuple(torch.randn_like(x) for x in given)
        assert hasattr(traced, graph)
        torch.testing.assert_close(traced(*other), program(*other))


def test_gradients_of_a_branch_are_recorded():
    def program(x, predicate):
        return torch.cond(predicate, lambda a: a.sin(), lambda a: a * 3, (x,))

    traced = make_fx(program)(torch.ones(2), torch.tensor(True))
    for predicate in (torch.tensor(True), torch.tensor(False)):
        x = torch.randn(2, requires_grad=True)
        wanted = torch.autograd.grad(program(x, predicate).sum(), x)[0]
        assert torch.equal(torch.autograd.grad(traced(x, predicate).sum(), x)[0], wanted)


def test_an_operand_may_come_twice():
    def program(x, predicate):
        return torch.cond(predicate, lambda a, b: a + b, lambda a, b: a * b, (x, x))

    traced = make_fx(program)(torch.ones(2), torch.tensor(True))
    x = torch.randn(2)
    assert torch.equal(traced(x, torch.tensor(False)), x * x)


def test_functionalised_branches_and_loops():
    def program(x, predicate):
        def written(a):
            b = a.clone()
            b.add_(x)
            return b.sin_()

        y = torch.cond(predicate, written, lambda a: a - 1, (x * 2,))
        return torch.while_loop(lambda a: a.sum() < 10, lambda a: (a.clone().add_(1),), (y,))

    traced = make_fx(torch.func.functionalize(program))(torch.ones(2), torch.tensor(True))
    parts = (traced, traced.true_graph_0, traced.while_loop_body_graph_0)
    assert not any(name.split(".")[1].endswith("_") for part in parts for name in targets(part.graph) if "aten" in name)
    for predicate in (torch.tensor(True), torch.tensor(False)):
        x = torch.randn(2)
        assert torch.equal(traced(x, predicate)[0], program(x, predicate)[0])

    def writes(x, predicate):
        return torch.cond(predicate, lambda a: a.add_(1), lambda a: a - 1, (x,))

    with pytest.raises(RuntimeError, match="writes to its arguments"):
        make_fx(torch.func.functionalize(writes))(torch.ones(2), torch.tensor(True))
