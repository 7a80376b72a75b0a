"""Traced programs: the values of the eager ones, and the graphs that PyTorch records."""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

import pytest
from traced_programs import PROGRAMS, made

import taeda
from taeda import fx, nn
from taeda.fx._patches import Patches
from taeda.utils import _pytree as pytree


def same(a: Any, b: Any) -> bool:
    """Whether two results are nested alike and equal bit by bit."""
    leaves, spec = pytree.tree_flatten(a)
    others, other_spec = pytree.tree_flatten(b)
    if type(a) is type(b) and spec != other_spec:
        return False
    return len(leaves) == len(others) and all(
        taeda.equal(p, q) if isinstance(p, taeda.Tensor) else p == q for p, q in zip(leaves, others, strict=True)
    )


def described(graph: Any) -> list[Any]:
    """What both libraries must agree on. Where a function lives may differ, its name may not."""

    return [
        (n.name, n.op, getattr(n.target, "__name__", n.target), repr(n.args), repr(n.kwargs), repr(list(n.users)))
        for n in graph.nodes
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_the_program(name: str) -> None:
    program, x = made(name, taeda)
    traced = fx.symbolic_trace(program)
    expected = program(x)
    assert same(traced(x), expected)
    assert same(fx.Interpreter(traced).run(x), expected)
    assert same(fx.Transformer(traced).transform()(x), expected)
    again = fx.symbolic_trace(traced)
    assert same(again(x), expected) and str(again.graph) == str(traced.graph)
    traced.graph.lint()


@pytest.mark.torch
@pytest.mark.parametrize("name", PROGRAMS)
def test_graphs_are_those_of_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.fx")
    ours, theirs = (library.fx.symbolic_trace(made(name, library)[0]) for library in (taeda, torch))
    assert described(ours.graph) == described(theirs.graph)
    # PyTorch's text starts with the functions to wrap, and calls operator's module by its private name.
    assert ours.code.strip() == theirs.code[theirs.code.index("def") :].replace("_operator_", "operator_").strip()


@pytest.mark.parametrize(
    ("program", "error", "teaches"),
    [
        (lambda x: 1 if x.sum() > 0 else 2, fx.proxy.TraceError, "torch.where"),
        (lambda x: x and 1, fx.proxy.TraceError, "branches on"),
        (lambda x: [y for y in x], fx.proxy.TraceError, "loops over"),
        (lambda x: taeda.cat([*x]), fx.proxy.TraceError, "loops over"),
        (lambda x: 1 in x, fx.proxy.TraceError, "loops over"),
        (lambda x: dict(**x), fx.proxy.TraceError, "loops over"),
        (lambda x: builtins.len(x), RuntimeError, "wrap"),
        (lambda x: x.__setitem__(0, 1), TypeError, "torch.where"),
        (lambda x: int(x), TypeError, "int"),
        (lambda x: range(x), TypeError, "integer"),
        (lambda x: x + object(), NotImplementedError, "object"),
        (lambda x: taeda.add(x, nn.Parameter(taeda.ones(1))), NameError, "parameter"),
        (lambda x: {x: 1}, RuntimeError, "key"),
        (lambda x: nn.ReLU()(x), NameError, "submodule"),
    ],
)
def test_what_a_graph_cannot_hold(program: Any, error: type[Exception], teaches: str) -> None:
    call, get, relu = nn.Module.__call__, nn.Module.__dict__.get("__getattribute__"), nn.functional.relu
    with pytest.raises(error, match=teaches):
        fx.symbolic_trace(program)
    assert nn.Module.__call__ is call and nn.functional.relu is relu, "a trace that fails leaves nothing behind"
    assert nn.Module.__dict__.get("__getattribute__") is get and not fx._symbolic_trace.is_fx_tracing()


def test_trace_needs_a_program() -> None:
    for other, kind in ((3, "int"), (nn.ReLU().forward, "method"), (taeda.relu, "builtin")):
        with pytest.raises(AssertionError, match=kind):
            fx.symbolic_trace(other)


def test_variadic_parameters() -> None:
    traced = fx.symbolic_trace(lambda x, *rest, scale=2, **named: x * scale + rest[0] - named["y"])
    assert traced(1, 2, 10, y=4) == 8  # those that were for keywords only come before the rest
    assert [str(n.target) for n in traced.graph.find_nodes(op="placeholder")] == ["x", "scale", "*rest", "**named"]


def test_concrete_args() -> None:
    def program(x, deep=True, n=1):
        for _ in range(n):
            x = x + 1 if deep else x - 1
        return x

    traced = fx.symbolic_trace(program, concrete_args={"deep": False, "n": 3})
    assert traced(10, False, 3) == 7
    with pytest.raises(AssertionError, match="deep has the value False"):
        traced(10, True, 3)
    with pytest.raises(AssertionError, match="n is None|n has the value None"):
        fx.symbolic_trace(lambda x, n: x, concrete_args={"n": None})(1, 2)


def test_concrete_args_that_are_nested() -> None:
    PH = fx.PH
    traced = fx.symbolic_trace(lambda d, y: d["a"] * y + d["b"][0], concrete_args={"d": {"a": PH, "b": [PH, 5]}})
    assert traced({"a": 2, "b": [1, 5]}, 10) == 21
    assert fx.Interpreter(traced).run({"a": 2, "b": [1, 5]}, 10) == 21
    with pytest.raises(ValueError, match="nested"):
        traced({"a": 2}, 10)


class Tail(nn.Module):
    """Branches on its input, so that it must stay whole."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        return self.inner(x) if x.sum() > 0 else x


def test_leaf_modules() -> None:
    class Tracer(fx.Tracer):
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return isinstance(m, Tail) or super().is_leaf_module(m, module_qualified_name)

    root = nn.Sequential(nn.Linear(2, 2), Tail())
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(root)
    tracer = Tracer()
    graph = tracer.trace(root)
    assert [n.target for n in graph.nodes] == ["input", "0", "1", "output"]
    x = taeda.ones(1, 2)
    assert taeda.equal(fx.GraphModule(tracer.root, graph)(x), root(x))
    assert graph.find_nodes(op="call_module")[1].meta["nn_module_stack"] == {"1": ("1", Tail)}


def test_tracing_into_layers() -> None:
    class Tracer(fx.Tracer):
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return False

    root = nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.Flatten(), nn.LayerNorm(2), nn.Linear(2, 2))
    graph = Tracer().trace(root)
    assert {n.op for n in graph.nodes} == {"placeholder", "get_attr", "call_function", "call_method", "output"}
    x = taeda.randn(2, 1, 4, 4)
    assert taeda.equal(fx.GraphModule(root, graph)(x), root(x))


def test_parameters_of_known_shape_and_proxies_of_buffers() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(taeda.ones(3))
            self.register_buffer("shift", taeda.ones(3))

        def forward(self, x: Any) -> Any:
            return x * self.weight + self.shift * 2 if self.weight.shape[0] == 3 and self.weight.dim() == 1 else x

    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(Net())
    tracer = fx.Tracer(param_shapes_constant=True)
    tracer.proxy_buffer_attributes = True
    net = Net()
    graph = tracer.trace(net)
    assert [n.target for n in graph.find_nodes(op="get_attr")] == ["weight", "shift"]
    assert fx.GraphModule(net, graph)(taeda.ones(3)).tolist() == [3.0] * 3


def steps(x: Any, n: int) -> Any:
    return x * 2 if n > 1 else x


fx.wrap("len")
fx.wrap("steps")


@fx.wrap
def decorated(x: Any) -> int:
    return int(x) + 1


def test_wrapped_functions() -> None:
    traced = fx.symbolic_trace(lambda x: (len(x), steps(x, 2), decorated(x[0]), steps(1, 2), math.floor(x[1])))
    assert [n.target for n in traced.graph.find_nodes(op="call_function") if n.name != "getitem"][:2] == [len, steps]
    x = taeda.tensor([3.0, 4.5])
    assert same(traced(x), (2, x * 2, 4, 2, 4))
    assert str(fx.symbolic_trace(traced).graph) == str(traced.graph)
    assert len([1, 2]) == 2 and steps.__name__ == "steps" and not hasattr(steps, "__wrapped__")


def test_wrap_is_for_the_top_of_a_file() -> None:
    with pytest.raises(NotImplementedError, match="top level"):
        fx.wrap("steps")
    with pytest.raises(RuntimeError, match="int"):
        fx.wrap(3)


def test_stack_traces() -> None:
    tracer = fx.Tracer()
    tracer.record_stack_traces = True
    graph = tracer.trace(lambda x: x.relu())
    node = graph.find_nodes(op="call_method")[0]
    assert node.stack_trace is not None and "x.relu()" in node.stack_trace
    assert "x.relu()" in fx.GraphModule(nn.Module(), graph).print_readable(print_output=False)


def test_proxies_of_two_tracers_do_not_mix() -> None:
    a, b = (fx.Proxy(fx.Graph().placeholder("x")) for _ in range(2))
    with pytest.raises(RuntimeError, match="one tracer"):
        taeda.add(a, b)


def test_op_packets() -> None:
    traced = fx.symbolic_trace(lambda x: taeda.ops.aten.relu(x))
    assert "torch.ops.aten.relu(x)" in traced.code and traced(taeda.tensor(-1.0)) == 0


def test_attributes_are_made_when_they_are_used() -> None:
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"))
    shape = x.shape
    assert len(graph.nodes) == 1 and repr(x) == "Proxy(x)"
    assert shape[0].node.args[0].target is getattr and len(graph.nodes) == 3
    with pytest.raises(AttributeError):
        x.__array_interface__  # noqa: B018


def test_annotations() -> None:
    def program(x: taeda.Tensor, n: int = 2) -> taeda.Tensor:
        return x * n

    program.__annotations__ = {"x": taeda.Tensor, "n": int, "return": taeda.Tensor}
    traced = fx.symbolic_trace(program)
    assert "def forward(self, x : torch.Tensor, n : int = 2) -> torch.Tensor:" in traced.code
    assert "%n : int [num_users=1]" in str(traced.graph)
    assert traced(3) == 6


def test_a_module_that_has_a_getattr_of_its_own() -> None:
    class Asked(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.weight = nn.Linear(2, 2), nn.Parameter(taeda.ones(1))
            self.register_buffer("shift", taeda.ones(1))

        def __getattr__(self, name):
            return super().__getattr__(name)

        def forward(self, x):
            return self.inner(x) * self.weight + self.weight * self.shift

    graph = fx.symbolic_trace(Asked()).graph
    assert [n.target for n in graph.find_nodes(op="get_attr")] == ["weight", "shift"]
    assert [n.target for n in graph.find_nodes(op="call_module")] == ["inner"]
    assert len(graph.find_nodes(op="call_function", target=operator.mul)) == 2


def test_a_tracer_with_a_trace_of_its_own():
    from taeda.fx import _symbolic_trace as parts

    class Own(fx.Tracer):
        """Records every module but containers in one step, as tracers of graph libraries do."""

        @parts.compatibility(is_backward_compatible=True)
        def trace(self, root, concrete_args=None):
            self.root = root
            self.submodule_paths = {module: name for name, module in root.named_modules()}
            self.graph = fx.Graph(tracer_cls=type(self))
            function, args = self.create_args_for_root(type(root).forward, True, concrete_args)

            @parts.functools.wraps(parts._orig_module_call)
            def call(module, *args, **kwargs):
                def forward(*args, **kwargs):
                    return parts._orig_module_call(module, *args, **kwargs)

                parts._autowrap_check(patcher, module.forward.__globals__, self._autowrap_function_ids)
                return self.call_module(module, forward, args, kwargs)

            with parts._Patcher() as patcher:
                patcher.patch_method(nn.Module, "__call__", call, deduplicate=False)
                parts._patch_wrapped_functions(patcher)
                parts._autowrap_check(patcher, function.__globals__, self._autowrap_function_ids)
                self.create_node("output", "output", (self.create_arg(function(*args)),), {})
            return self.graph

    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    ordinary = nn.Module.__call__
    traced, x = fx.GraphModule(net, Own().trace(net)), taeda.ones(4, 2)
    assert nn.Module.__call__ is ordinary and taeda.equal(traced(x), net(x))
    assert [node.target for node in traced.graph.nodes if node.op == "call_module"] == ["0", "1", "2"]


def test_patches_by_the_names_of_other_libraries():
    table, first, second = {"f": len}, lambda x: 1, lambda x: 2
    with Patches() as outer, Patches() as inner:
        outer.patch(table, "f", first)
        inner.patch(table, "f", second)
        assert table["f"] is first
        inner.patch(table, "g", second, deduplicate=False)
        inner.patch(table, "g", first, deduplicate=False)
        assert table["g"] is first
    assert table == {"f": len}
