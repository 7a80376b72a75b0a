"""Modules in a traced one have their calls as methods, and what runs is one row of nodes still."""

from __future__ import annotations

import copy
import gc
import io
import types
from typing import Any

import pytest

import taeda
from taeda import jit, nn


def classes(torch: Any) -> types.SimpleNamespace:
    """The same modules of either library."""

    class Encoder(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.norm = torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)

        def forward(self, x: Any, scale: Any = None) -> Any:
            y = self.norm(self.linear(x))
            return y if scale is None else y * scale

    class Nested(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return {"a": x + 1, "b": (x * 2, [x * 3])}

    class Writes(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> None:
            x.add_(1)
            x[:, 0].mul_(2)

    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.encoder, self.nested, self.writes = Encoder(), Nested(), Writes()
            self.shared, self.unused = self.encoder, Encoder()
            self.parts = torch.nn.ModuleDict({"k": torch.nn.Linear(3, 3)})
            self.lstm, self.same = torch.nn.LSTM(3, 3), torch.nn.Identity()

        def forward(self, x: Any) -> Any:
            held = self.nested(self.same(x))
            y = held["a"].clone()
            self.writes(y)
            h, (a, _) = self.lstm(y[None])
            found = self.encoder(y) + self.encoder(x, scale=held["b"][0]) * y.shape[0]
            return found + self.shared(held["b"][1][0]), self.parts["k"](h[0]) + a[0]

    return types.SimpleNamespace(Net=Net, Encoder=Encoder)


@pytest.fixture
def net() -> Any:
    taeda.manual_seed(0)
    return classes(taeda).Net().eval()


def close(found: Any, wanted: Any) -> bool:
    as_tensor = lambda t: taeda.tensor(t.tolist())
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    return all(taeda.allclose(as_tensor(a), as_tensor(b), atol=1e-5) for a, b in pairs)


def check(traced: Any, net: Any, x: Any) -> None:
    y = taeda.tensor(x.tolist())
    assert close(traced(x), net(y))
    assert close(traced.encoder(x), net.encoder(y))
    assert close(traced.encoder.forward1(x, x), net.encoder(y, y))
    assert close(traced.parts.k(x), net.parts.k(y))
    assert close(traced.nested(x), (y + 1, y * 2, y * 3))


def test_calls_are_methods(net: Any) -> None:
    traced = jit.trace(net, taeda.randn(4, 3))
    check(traced, net, taeda.randn(6, 3))
    check(copy.deepcopy(traced), net, taeda.randn(5, 3))
    calls = [(node.s("name"), node.inputsAt(0).debugName()) for node in traced.graph.findAllNodes("prim::CallMethod")]
    names = ["forward", "forward1", "forward2"]
    assert [name for name, owner in calls if owner.startswith("encoder")] == names
    assert list(traced.encoder._info.methods) == names and list(traced.encoder.linear._info.methods) == names
    assert "(encoder).forward(" in traced.code and "self.linear" in traced.encoder.code
    assert not traced.inlined_graph.findAllNodes("prim::CallMethod")
    assert [v.debugName() for v in traced.encoder.forward1.graph.inputs()] == ["self", "x", "scale"]
    assert traced.encoder(x=taeda.ones(2, 3)).shape == (2, 3) and traced.encoder is traced.shared
    with pytest.raises(AttributeError, match="forward"):
        traced.unused(taeda.ones(2, 3))


def test_archives(net: Any) -> None:
    file = io.BytesIO()
    jit.save(jit.trace(net, taeda.randn(4, 3)), file)
    file.seek(0)
    loaded = jit.load(file)
    check(loaded, net, taeda.randn(6, 3))
    frozen = jit.freeze(loaded)
    x = taeda.randn(3, 3)
    assert close(frozen(x), net(x))


@pytest.mark.torch
def test_pytorch_reads_and_writes_the_same(net: Any) -> None:
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    jit.save(jit.trace(net, taeda.randn(4, 3)), file)
    file.seek(0)
    x = torch.randn(6, 3)
    check(torch.jit.load(file), net, x)
    theirs = classes(torch).Net().eval()
    theirs.load_state_dict({k: torch.tensor(v.tolist()) for k, v in net.state_dict().items()})
    traced = torch.jit.trace(theirs, x)
    ours = jit.trace(net, taeda.tensor(x.tolist()))
    for path in ("encoder", "encoder.linear", "nested", "writes", "lstm", "same", "parts.k"):
        assert traced.get_submodule(path)._c._method_names() == list(ours.get_submodule(path)._info.methods), path
        for name in ours.get_submodule(path)._info.methods:
            mine = ours.get_submodule(path)._info.function(name).graph
            other = traced.get_submodule(path)._c._get_method(name).graph
            assert len(list(mine.inputs())) == len(list(other.inputs())), (path, name)
            assert str(next(mine.outputs()).type().kind()) == next(other.outputs()).type().kind(), (path, name)
    file = io.BytesIO()
    torch.jit.save(traced, file)
    file.seek(0)
    check(jit.load(file), net, taeda.randn(5, 3))


class Captures(nn.Module):
    """Uses what the outer module made, and a module that it does not hold."""

    def __init__(self, other: nn.Module) -> None:
        super().__init__()
        self.others, self.seen = [other], taeda.ones(1)

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        return self.others[0](x) + self.seen * self.others[0].weight.sum()  # type: ignore[operator, union-attr]


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.inner = Captures(self.linear)
        self.inner.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
        self.inner.register_forward_hook(lambda module, args, result: result * 2)

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        self.inner.seen = x * 2
        return self.inner(x)


def test_what_comes_from_outside_is_passed_and_hooks_stay_outside() -> None:
    net = Outer()
    traced = jit.trace(net, taeda.ones(2, 3))
    x = taeda.randn(4, 3)
    assert taeda.allclose(traced(x), net(x))
    names = [v.debugName() for v in traced.inner.graph.inputs()]
    assert names == ["self", "x", "linear", "weight", "argument_4"]
    y = traced.inner(x, traced.linear, traced.linear.weight, x * 2)
    assert taeda.allclose(y, net.linear(x) + x * 2 * net.linear.weight.sum(), atol=1e-6)
    assert "aten::mul" in [n.kind() for n in traced.graph.nodes()] and not traced.inner._forward_hooks


class Sizes(nn.Module):
    """Reads the size of what another module may have changed."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Grow(), AsManyAs()

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        return self.second(self.first(x.clone()), x)


class Grow(nn.Module):
    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        rows = x.shape[0]
        x.unsqueeze_(0)
        return x * rows


class AsManyAs(nn.Module):
    def forward(self, x: taeda.Tensor, y: taeda.Tensor) -> taeda.Tensor:
        return x.sum(0)[: y.shape[0] // 2] + x.shape[0] + y.shape[1]


def test_sizes_are_read_where_they_are_used() -> None:
    net = Sizes()
    traced = jit.trace(net, taeda.ones(4, 2))
    for rows in (2, 4, 6):
        x = taeda.randn(rows, 2)
        assert taeda.equal(traced(x), net(x)) and taeda.equal(traced.second(x[None], x), net.second(x[None], x))
        assert taeda.equal(traced.first(x.clone()), net.first(x.clone()))


class Again(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: taeda.Tensor, deeper: Any = True) -> taeda.Tensor:
        return self(self.linear(x), False) if deeper is True else self.linear(x.relu())

    def twice(self, x: taeda.Tensor) -> taeda.Tensor:
        return self.linear(self.linear(x))


def test_modules_that_call_themselves_and_several_methods() -> None:
    x = taeda.randn(2, 3)
    for net in (Again(), nn.Sequential(Again())):
        assert taeda.equal(jit.trace(net, x)(x), net(x))
    net = Again()
    traced = jit.trace_module(net, {"forward": x, "twice": x})
    assert taeda.equal(traced(x), net(x)) and taeda.equal(traced.twice(x), net.twice(x))
    assert list(traced.linear._info.methods) == ["forward", "forward1", "forward2", "forward3"]
    assert taeda.equal(traced.linear.forward3(x), net.linear(x))


class Fails(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bad, self.good = nn.Linear(5, 3), nn.Linear(3, 3)

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        try:
            return self.bad(x)
        except RuntimeError:
            return self.good(x)


def test_a_call_that_failed_and_parts_that_were_compiled() -> None:
    x = taeda.randn(2, 3)
    net = Fails()
    assert taeda.equal(jit.trace(net, x)(x), net.good(x))
    assert taeda.equal(jit.trace(net, x).good(x), net.good(x))
    mixed = nn.Sequential(jit.script(nn.Linear(3, 3)), jit.trace(nn.Sequential(nn.Linear(3, 3)), x), nn.Linear(3, 3))
    traced = jit.trace(mixed, x)
    assert taeda.equal(traced(x), mixed(x)) and taeda.equal(traced[2](x), mixed[2](x))
    assert taeda.equal(traced[1][0](x), mixed[1](x))


def test_graphs_and_programs_outlive_what_was_traced(net: Any) -> None:
    x = taeda.randn(2, 3)
    graph = jit.trace(net, x).graph
    gc.collect()
    taeda._C._jit_pass_inline(graph)
    assert not graph.findAllNodes("prim::CallMethod")


def test_programs_that_call_parts_of_a_trace(net: Any) -> None:
    class Program(nn.Module):
        def __init__(self, traced: Any) -> None:
            super().__init__()
            self.traced = traced

        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            return self.traced.encoder(x) if bool(x.sum() > 0) else self.traced(x)[0]

    program = jit.script(Program(jit.trace(net, taeda.randn(4, 3))))
    gc.collect()
    for x in (taeda.ones(2, 3), -taeda.ones(2, 3)):
        assert close(program(x), net.encoder(x) if x.sum() > 0 else net(x)[0])
        assert close(jit.trace(program, x)(x), program(x))


def test_training(net: Any) -> None:
    net.train()
    traced, x = jit.trace(net, taeda.randn(4, 3), check_trace=False), taeda.randn(5, 3)
    ours = taeda.autograd.grad(traced.encoder(x).square().sum(), list(net.encoder.parameters()))
    theirs = taeda.autograd.grad(net.encoder(x).square().sum(), list(net.encoder.parameters()))
    assert all(taeda.allclose(a, b, atol=1e-5) for a, b in zip(ours, theirs, strict=True))
