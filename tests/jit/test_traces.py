"""Traces: what was called is the graph; sizes are values; what the example fixed is said."""

from __future__ import annotations

import io
import itertools
import warnings
from typing import Any

import pytest

import taeda as torch
from taeda import jit, nn


def kinds(traced: Any) -> list[str]:
    return [node.kind() for node in traced.graph.nodes() if not node.kind().startswith("prim::")]


def test_the_graph_holds_what_was_called() -> None:
    traced = jit.trace(lambda x, y: torch.relu(x @ y) + 2, (torch.ones(2, 3), torch.ones(3, 4)))
    assert kinds(traced) == ["aten::matmul", "aten::relu", "aten::add"]
    x, y = torch.randn(5, 3), torch.randn(3, 1)
    assert torch.equal(traced(x, y), torch.relu(x @ y) + 2)
    assert [value.debugName() for value in traced.graph.inputs()] == ["x", "y"]


def test_sizes_are_values() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        rows, columns = x.shape
        flat = x.reshape(rows * columns).view(-1, 2)
        return flat[: x.size(0) // 2] * len(x.shape) + torch.zeros(x.numel() // 4, 2)

    traced = jit.trace(function, torch.randn(4, 2))
    for rows in (4, 8, 12):
        x = torch.randn(rows, 2)
        assert torch.equal(traced(x), function(x))


def test_a_size_where_a_list_of_sizes_is_wanted() -> None:
    def function(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return nn.functional.conv2d(x, weight, padding=weight.shape[-1] - 1)

    x = torch.randn(1, 2, 5, 5)
    traced = jit.trace(function, (x, torch.randn(1, 2, 3, 3)))
    weight = torch.randn(1, 2, 2, 2)
    assert torch.equal(traced(x, weight), function(x, weight)) and traced(x, weight).shape == (1, 1, 6, 6)


def test_views_and_writes() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y[0].add_(1)
        y[:, 1] = 5
        y.t().mul_(2)
        z = y
        z += x
        return y

    traced = jit.trace(function, torch.zeros(2, 3))
    x = torch.randn(4, 3)
    assert torch.equal(traced(x), function(x))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU())
        self.head = nn.Linear(4, 2)
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x)) * self.scale

    def twice(self, x: torch.Tensor) -> torch.Tensor:
        return self.forward(x) * 2


def test_a_module_keeps_its_parameters() -> None:
    net = Net()
    traced = jit.trace(net, torch.randn(4, 3))
    assert [n for n, _ in traced.named_parameters()] == [n for n, _ in net.named_parameters()]
    assert traced.head.weight is net.head.weight and "original_name=Net" in repr(traced)
    x = torch.randn(6, 3)
    before = net.body[1].running_mean.clone()
    assert torch.allclose(traced(x), net(x))
    assert not torch.equal(net.body[1].running_mean, before)
    ours = torch.autograd.grad(traced(x).sum(), list(net.parameters()))
    theirs = torch.autograd.grad(net(x).sum(), list(net.parameters()))
    assert all(torch.allclose(a, b) for a, b in zip(ours, theirs, strict=True))
    with torch.no_grad():
        net.head.bias.fill_(100.0)
    assert traced(x).mean() > 50
    scopes = {node.scopeName() for node in traced.inlined_graph.nodes()}
    assert any("body.0" in scope for scope in scopes)


def test_several_methods() -> None:
    x = torch.randn(4, 3)
    traced = jit.trace_module(Net().eval(), {"forward": x, "twice": x})
    assert torch.allclose(traced.twice(x), traced(x) * 2)


def test_structures_in_and_out() -> None:
    def function(pair: Any, named: Any, items: Any) -> Any:
        return pair[0] + named["a"], (items[1] * pair[1], named["b"])

    x = [torch.randn(2) for _ in range(6)]
    example = (x[0], x[1]), {"a": x[2], "b": x[3]}, [x[4], x[5]]
    traced = jit.trace(function, example)
    fresh = (x[5], x[4]), {"a": x[3], "b": x[2]}, [x[1], x[0]]
    for a, b in zip(itertools.chain(*[traced(*fresh)[1], traced(*fresh)[:1]]),
                    itertools.chain(*[function(*fresh)[1], function(*fresh)[:1]]), strict=True):  # fmt: skip
        assert torch.equal(a, b)
    with pytest.raises(RuntimeError, match="strict=False"):
        jit.trace(lambda y: {"out": y}, x[0])
    assert torch.equal(jit.trace(lambda y: {"out": y + 1}, x[0], strict=False)(x[1])["out"], x[1] + 1)
    with pytest.raises(RuntimeError, match="got int"):
        jit.trace(lambda y: 3, x[0])


def test_the_same_tensor_twice() -> None:
    x = torch.ones(2)
    traced = jit.trace(lambda a, b: a - 2 * b, (x, x))
    assert traced(x, x * 3).tolist() == [-5.0, -5.0]


def test_scripted_parts_stay_programs() -> None:
    @jit.script
    def repeat(x, n: int):
        for _ in range(n):
            if bool(x.sum() > 0):
                x = x - 1
        return x

    traced = jit.trace(lambda x: repeat(x, 3) * 2, torch.ones(2))
    assert traced.graph.findNode("prim::CallFunction") is not None
    for x in (torch.ones(2) * 5, -torch.ones(2)):
        assert torch.equal(traced(x), repeat(x, 3) * 2)


def test_what_is_fixed_is_said_with_its_line() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x
        return -x

    with pytest.warns(jit.TracerWarning, match=r"taken out of a tensor at .*test_traces.py:\d+:8: if x.sum\(\) > 0"):
        traced = jit.trace(function, torch.ones(2), check_trace=False)
    assert traced(-torch.ones(2)).tolist() == [-1.0, -1.0]
    with warnings.catch_warnings(), pytest.raises(jit.TracingCheckError, match=r"if x.sum\(\) > 0"):
        warnings.simplefilter("ignore")
        jit.trace(function, torch.ones(2), check_inputs=[-torch.ones(2)])


def test_a_second_shape_is_tried() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.shape[0] > 2 else x

    with pytest.warns(jit.TracerWarning, match=r"(?s)other sizes.*branch.*x.shape\[0\] > 2"):
        jit.trace(function, torch.ones(2))


def test_what_draws_numbers_cannot_be_checked_but_traced() -> None:
    torch.manual_seed(0)
    traced = jit.trace(lambda x: torch.nn.functional.dropout(x, 0.5), torch.ones(8))
    torch.manual_seed(1)
    first = traced(torch.ones(8))
    torch.manual_seed(1)
    assert torch.equal(first, torch.nn.functional.dropout(torch.ones(8), 0.5))


def test_a_tensor_that_requires_grad_is_no_constant() -> None:
    weight = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        jit.trace(lambda x: x * weight, torch.ones(2))
    plain = torch.full((2,), 3.0)
    assert jit.trace(lambda x: x * plain, torch.ones(2))(torch.ones(2)).tolist() == [3.0, 3.0]


def test_the_graph_alone() -> None:
    graph, out = jit._get_trace_graph(Net().eval(), torch.randn(2, 3))
    names = [value.debugName() for value in graph.inputs()]
    assert names[0] == "x" and "head.weight" in names and tuple(out.shape) == (2, 2)


def test_modes() -> None:
    traced = jit.trace(lambda x, w: torch.tanh(x @ w), (torch.ones(2, 2), torch.ones(2, 2)))
    x, w = torch.randn(2, 2), torch.randn(2, 2, requires_grad=True)
    with torch.no_grad():
        assert not traced(x, w).requires_grad
    first = torch.autograd.grad(traced(x, w).sum(), w, create_graph=True)[0]
    second = torch.autograd.grad(first.sum(), w)[0]
    expected = torch.autograd.grad(torch.tanh(x @ w).sum(), w, create_graph=True)[0]
    assert torch.allclose(first, expected)
    assert torch.allclose(second, torch.autograd.grad(expected.sum(), w)[0])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert traced(x, w).dtype is torch.tanh(x @ w).dtype
    batched = torch.func.vmap(lambda x: traced(x, w.detach()))(torch.stack([x, x]))
    assert torch.allclose(batched[0], torch.tanh(x @ w))


def test_sizes_and_lists_as_results_and_writes_in_place() -> None:
    example = torch.ones(2, 3)
    count = torch.jit.trace(lambda x: x.numel(), example)
    assert count(torch.ones(4, 5)).item() == 20
    with pytest.warns(torch.jit.TracerWarning, match="a list"):
        pair = torch.jit.trace(lambda x: [x, x + 1], example)
    assert len(pair(example)) == 2

    def summed(x, y):
        x += y
        return x * 2

    plain = torch.jit.trace(summed, (torch.ones(2), torch.ones(2)), _force_outplace=True)
    assert "aten::add_(" not in str(plain.graph)
    given = torch.ones(2)
    assert plain(given, given).tolist() == [4.0, 4.0] and given.tolist() == [1.0, 1.0]


def test_randomness_is_named() -> None:
    with pytest.warns(torch.jit.TracerWarning, match="aten::dropout"):
        torch.jit.trace(torch.nn.Dropout(0.5), torch.ones(3))


def test_numbers_in_tensors_that_ops_take_as_ints() -> None:
    def largest(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return x.topk(k, dim=1)[1] + x[:, :k].sum(1, keepdim=True)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traced = jit.trace(largest, (torch.randn(3, 9), torch.tensor(4)))
    x = torch.randn(2, 7)
    for k in (torch.tensor(7), torch.tensor(1)):
        assert torch.equal(traced(x, k), largest(x, k))


def test_functions_of_tensors_take_sizes() -> None:
    def padded(x: torch.Tensor) -> torch.Tensor:
        if not jit.is_tracing():
            return nn.functional.pad(x, (0, -x.shape[0] % 4))
        rows = torch.ceil(x.shape[0] / 4) * 4
        return nn.functional.pad(x, (0, rows.to(torch.int64) - x.shape[0]))

    traced = jit.trace(padded, torch.ones(5))
    assert [traced(torch.ones(n)).tolist() for n in (3, 8)] == [[1.0] * 3 + [0.0], [1.0] * 8]


def test_functions_that_return_what_they_were_given() -> None:
    class Swapped(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
            return y, x

        @staticmethod
        def backward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> Any:
            return b, a

    def swap(x: torch.Tensor, y: torch.Tensor) -> Any:
        return Swapped.apply(x.relu(), y.relu())

    traced = jit.trace(swap, (torch.ones(3), torch.ones(2)))
    x, y = torch.arange(4.0), torch.arange(2.0)
    assert [t.tolist() for t in traced(x, y)] == [y.tolist(), x.tolist()]


def test_a_part_that_is_none_is_no_attribute() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.part = nn.Linear(2, 2)
            self.part = None

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    assert not hasattr(jit.trace(Net(), torch.ones(2)), "part")


def test_marks_of_profiles_are_recorded() -> None:
    class Net(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.autograd.profiler.record_function("outer"):
                y = x + 1
                with torch.profiler.record_function("inner", "of two"):
                    return y * 2

    x = torch.ones(2)
    traced = jit.trace(Net(), x)
    mark, end = "profiler::_record_function_enter_new", "profiler::_record_function_exit"
    assert kinds(traced) == [mark, "aten::add", mark, "aten::mul", end, end]
    file = io.BytesIO()
    jit.save(jit.freeze(traced.eval()), file)
    file.seek(0)
    for program in (traced, jit.load(file)):
        with torch.profiler.profile() as profile:
            assert program(x).tolist() == [4.0, 4.0]
        assert [e.name for e in profile.events() if e.name in ("outer", "inner")] == ["outer", "inner"]
    with torch.profiler.profile() as profile, torch.profiler.record_function("eager again"):
        pass
    assert profile.events()[0].name == "eager again"
