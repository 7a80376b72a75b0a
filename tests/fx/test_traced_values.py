"""What programs do with traced values beside calling ops: arguments of other kinds, scripted parts, copies, files."""

from __future__ import annotations

import copy
import dataclasses
import enum
import importlib.util
import operator
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional  # noqa: UP035

import pytest

import taeda
import taeda.nn.functional as F
from taeda import fx, nn
from taeda._decomp import get_decompositions
from taeda.fx import _pytree as fx_pytree
from taeda.fx.experimental.proxy_tensor import make_fx
from taeda.fx.experimental.rewriter import RewritingTracer
from taeda.utils import _pytree as pytree


class Mode(enum.Enum):
    SUM = 1
    MEAN = 2


@dataclasses.dataclass
class Output:
    loss: Any
    scale: Any = 3


class Pair(metaclass=fx.ProxyableClassMeta):
    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right

    def plus(self, other: Pair) -> Pair:
        return Pair(self.left + other.left, self.right + other.right)


class Point:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


def reduced(x: Any, mode: Mode) -> Any:
    return x.sum() if mode is Mode.SUM else x.mean()


fx.wrap("reduced")
pytree.register_pytree_node(Point, lambda p: ([p.x, p.y], None), lambda parts, _: Point(*parts))
fx_pytree.register_pytree_flatten_spec(Point, lambda p, _: [p.x, p.y])
X = taeda.tensor([1.0, -2.0])


def test_enumerations_are_constants() -> None:
    traced = fx.symbolic_trace(lambda x: reduced(x, Mode.MEAN))
    assert traced(X) == -0.5 and ", Mode.MEAN)" in traced.code


def test_dataclasses_are_made_in_the_graph() -> None:
    traced = fx.symbolic_trace(lambda x: Output(x + 1))
    assert traced(X).scale == 3 and traced(X).loss.tolist() == [2, -1]
    (made,) = traced.graph.find_nodes(op="call_function", target=Output)
    assert made.args == () and list(made.kwargs) == ["loss", "scale"]


def test_classes_that_are_made_of_traced_values() -> None:
    traced = fx.symbolic_trace(lambda x, y: Pair(x, y).plus(Pair(taeda.ones(2), taeda.zeros(2))))
    both = traced(X, X)
    assert isinstance(both, Pair) and both.left.tolist() == [2, -1] and both.right.tolist() == [1, -2]
    assert [n.op for n in traced.graph.nodes][2:] == ["call_function", "get_attr", "call_method", "output"]


def test_arguments_of_the_programs_own_classes() -> None:
    traced = fx.symbolic_trace(lambda p: p.x * p.y, {"p": Point(fx.PH, fx.PH)})
    assert traced(Point(3, 4)) == 12
    again = fx.symbolic_trace(traced)  # where the argument is a proxy
    assert again(Point(3, 4)) == 12 and "= p.x" in again.code and "tree_flatten_spec" not in again.code
    assert fx.symbolic_trace(lambda p: len(p), {"p": []})([]) == 0


def test_scripted_parts_are_steps() -> None:
    class Holder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.part = taeda.jit.script(nn.ReLU())
            self.function = taeda.jit.script(twice)

        def forward(self, x: Any) -> Any:
            return self.function(self.part(x))

    traced = fx.symbolic_trace(Holder())
    assert [n.op for n in traced.graph.nodes] == ["placeholder", "get_attr", "call_method", "call_function", "output"]
    assert traced(X).tolist() == [2, 0] and Holder()(X).tolist() == [2, 0]


def twice(x):
    return x * 2


def test_operators_that_write() -> None:
    graph = fx.Graph()
    a, b = graph.placeholder("a"), graph.placeholder("b")
    total = graph.call_function(operator.iadd, (a, b))
    graph.output((a, total))
    module = fx.GraphModule({}, graph)
    assert "a += b;  iadd = a" in module.code
    x = taeda.zeros(2)
    assert module(x, 1)[1] is x and x.tolist() == [1, 1]


def test_tracers_can_refuse_ops_that_write() -> None:
    class Strict(fx.Tracer):
        check_mutable_operations = True

    def out(x: Any) -> Any:
        return taeda.sigmoid(x, out=taeda.rand_like(x))

    for program in (out, lambda x: taeda.relu_(x)):
        with pytest.raises(RuntimeError, match="check_mutable_operations"):
            Strict().trace(program)
    assert len(Strict().trace(lambda x: taeda.sigmoid(x)).nodes) == 3


def test_effects_stay() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(taeda.ops.aten.add.out, (x, 1), {"out": x})
    handle = graph.call_function(taeda.ops.profiler._record_function_enter_new, ("range",))
    graph.call_function(taeda.ops.profiler._record_function_exit, (handle,))
    graph.output(x)
    assert not graph.eliminate_dead_code()


def test_copies_of_tracers_and_proxies() -> None:
    class Named(fx.Tracer):
        name = ""

    tracer = Named()
    tracer.name = "first"
    graph = tracer.trace(nn.Linear(2, 2))
    twin = copy.deepcopy(tracer)
    assert twin.name == "first" and str(twin.graph) == str(graph) and twin.graph is not graph
    proxy = fx.Proxy(graph.output_node().prev, tracer)
    other = copy.deepcopy(proxy)
    assert other.node.name == proxy.node.name and other.node.graph is not graph and other.tracer is not tracer


def test_a_missing_method_and_a_missing_attribute() -> None:
    tracer = fx.Tracer()
    tracer.traced_func_name = "backward_of"
    with pytest.raises(AssertionError, match="ReLU has no backward_of"):
        tracer.trace(nn.ReLU())
    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    with pytest.warns(UserWarning, match="no bias in the Sequential"):
        traced.graph.get_attr("bias")


def test_tracebacks_name_the_program() -> None:
    traced = fx.symbolic_trace(twice)
    assert Path(__file__).name in traced.forward.__code__.co_filename
    assert copy.deepcopy(traced).forward.__code__.co_filename.endswith("in twice")


def test_annotations_by_name() -> None:
    def program(x: List[str], y: Optional[Dict[str, taeda.Tensor]] = None) -> List[str]:  # noqa: UP006, UP045
        return x

    program.__annotations__ = {"x": List[str], "return": List[str]}  # noqa: UP006
    traced = fx.symbolic_trace(program)
    assert "x : typing_List[str], y = None) -> typing_List[str]:" in traced.code and traced(["a"]) == ["a"]


def test_a_module_as_a_folder(tmp_path: Path) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(taeda.rand(2))
            self.shift = nn.Buffer(taeda.rand(2))
            self.layers = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
            self.last = nn.Linear(2, 1)

        def forward(self, x: Any) -> Any:
            return self.last(self.layers(x * self.weight + self.shift)).clamp(max=float("inf"))

    module = fx.symbolic_trace(Model())
    module.to_folder(tmp_path / "model", "Written")
    assert "self.last = nn.Linear(in_features=2" in (tmp_path / "model" / "module.py").read_text()
    spec: Any = importlib.util.spec_from_file_location("written_model", tmp_path / "model" / "__init__.py")
    package = sys.modules["written_model"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(package)
        taeda.testing.assert_close(package.Written()(X), module(X))
    finally:
        del sys.modules["written_model"]


def test_assertions_and_annotated_variables() -> None:
    limit = 3

    class Inner(nn.Module):
        def forward(self, x: Any) -> Any:
            assert x.shape[0] < limit, "too many"
            return x

    class Checked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()
            self.layer = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            y: int = self.inner(x)
            return self.layer(y)

    root = Checked()
    graph = RewritingTracer().trace(root)
    module = fx.GraphModule(root, graph)
    taeda.testing.assert_close(module(X[None]), root(X[None]))
    with pytest.raises(AssertionError, match="too many"):
        module(taeda.zeros(3, 2))
    assert next(iter(graph.nodes)).type is int and module.layer is root.layer
    assert [n.target for n in graph.nodes if n.op == "call_module"] == ["layer"]


def test_a_packet_is_one_step_whatever_its_overloads() -> None:
    ops = taeda.ops.aten
    traced = fx.symbolic_trace(lambda x: ops.permute(ops.add(x, 1), [1, 0]))
    assert [n.target for n in traced.graph.nodes if n.op == "call_function"] == [ops.add, ops.permute]


def test_writes_to_constants_do_not_stay() -> None:
    def program(x: Any) -> Any:
        count = taeda.tensor(3)
        count.add_(1)
        return x + count

    graph = make_fx(program)(X)
    assert graph(X).tolist() == graph(X).tolist() == program(X).tolist()


def test_ops_that_are_kernels_have_bodies_for_graphs() -> None:
    aten = taeda.ops.aten
    ops = [aten.silu, aten.addcmul, aten.logsumexp]
    table = get_decompositions(ops)
    graph = make_fx(lambda x: taeda.addcmul(F.silu(x), x, x).logsumexp(0), decomposition_table=table)(X)
    targets = {n.target for n in graph.graph.nodes if n.op == "call_function"}
    assert aten.sigmoid.default in targets and not targets & table.keys()
    taeda.testing.assert_close(graph(X), taeda.addcmul(F.silu(X), X, X).logsumexp(0))


def test_graphs_say_what_functions_say() -> None:
    def program(x: Any) -> Any:
        return taeda.zeros_like(x) + taeda.ones(2) * x.sum().item()

    code = make_fx(program, tracing_mode="symbolic")(X).code
    assert "zeros_like.default(x_1, pin_memory = False)" in code
    assert "ones.default([2], device = device(type='cpu'), pin_memory = False)" in code
    assert "aten._local_scalar_dense.default(sum_1)" in code and code.endswith("\n    ")
    assert "aten.item.default(" in make_fx(program, tracing_mode="symbolic", pre_dispatch=True)(X).code
