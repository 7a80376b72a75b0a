"""GraphModule, and what runs or rewrites graphs."""

from __future__ import annotations

import copy
import pickle
import traceback
from io import BytesIO
from typing import Any

import pytest

import taeda
from taeda import fx, nn
from taeda.fx.passes.shape_prop import ShapeProp
from taeda.fx.subgraph_rewriter import replace_pattern_with_filters

F = nn.functional


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.seq = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
        self.register_buffer("shift", taeda.ones(4))
        self.weight = nn.Parameter(taeda.full((4,), 2.0))
        self.unused = nn.Linear(1, 1)

    def forward(self, x: Any) -> Any:
        return self.seq(F.relu(self.layer(x) + self.shift) * self.weight + taeda.tensor(2.0))


X = taeda.linspace(-1, 1, 8).reshape(2, 4)


@pytest.fixture
def net() -> Net:
    taeda.manual_seed(0)
    return Net()


def test_state_is_shared_and_unused_modules_stay_behind(net: Net) -> None:
    traced = fx.symbolic_trace(net)
    assert type(traced).__name__ == "Net" and isinstance(traced, fx.GraphModule) and traced.layer is net.layer
    assert set(traced.state_dict()) == {
        "layer.weight", "layer.bias", "seq.0.weight", "seq.0.bias", "shift", "weight", "_tensor_constant0",
    }  # fmt: skip
    assert traced.graph.owning_module is traced and traced.meta == {}
    traced(X).sum().backward()
    assert net.weight.grad is not None and traced.weight is net.weight
    assert not fx.symbolic_trace(net.eval()).training


def test_code_follows_the_graph(net: Net) -> None:
    traced = fx.symbolic_trace(net)
    expected = net.seq(net.layer(X) + 1)
    for node in traced.graph.find_nodes(op="call_function"):
        if node.target is F.relu:
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    mul = next(n for n in traced.graph.nodes if n.name == "mul")
    add = next(n for n in traced.graph.nodes if n.name == "add_1")
    add.replace_all_uses_with(mul.args[0])
    assert traced.graph.eliminate_dead_code()
    assert not taeda.equal(traced(X), expected)
    assert traced.recompile().src == traced.code and "relu" not in traced.code
    assert taeda.equal(traced(X), expected) and traced.code in str(traced)


def test_classes_are_not_shared() -> None:
    one, two = fx.symbolic_trace(lambda x: x + 1), fx.symbolic_trace(lambda x: x - 1)
    assert (one(1), two(1)) == (2, 0) and type(one) is not type(two)


@pytest.mark.parametrize(
    "twin", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), copy.copy], ids=["deepcopy", "pickle", "copy"]
)
def test_copies(net: Net, twin: Any) -> None:
    traced = fx.symbolic_trace(net.eval())
    other = twin(traced)
    assert taeda.equal(other(X), traced(X)) and other.code == traced.code and not other.training
    assert str(other.graph) == str(traced.graph) and other.graph.owning_module is other
    assert list(other.state_dict()) == list(traced.state_dict()) and type(other).__name__ == "Net"
    assert (other.weight is traced.weight) == (twin is copy.copy)
    assert taeda.equal(twin(other)(X), traced(X))


def test_files(net: Net) -> None:
    traced, file = fx.symbolic_trace(net), BytesIO()
    taeda.save(traced, file)
    file.seek(0)
    assert taeda.equal(taeda.load(file, weights_only=False)(X), traced(X))


def test_attributes_that_copies_get() -> None:
    traced = fx.symbolic_trace(lambda x: x)
    traced.meta["_user_preserved_attributes"] = {"note": [1]}
    assert copy.deepcopy(traced).note == [1]


def test_roots() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    inner = graph.call_module("a.b", (x,))
    graph.output(graph.call_function(taeda.mul, (inner, graph.get_attr("a.c"))))
    module = fx.GraphModule({"a.b": nn.ReLU(), "a.c": taeda.tensor(3.0)}, graph, "Made")
    assert module(taeda.tensor([-1.0, 2.0])).tolist() == [0.0, 6.0] and type(module).__name__ == "Made"
    assert list(module.state_dict()) == ["a.c"]
    for root, error in (({}, "a.b, which root lacks"), (3, "int")):
        with pytest.raises(RuntimeError, match=error):
            fx.GraphModule(root, graph)
    with pytest.raises(AttributeError):
        fx.GraphModule(nn.Module(), graph)
    with pytest.raises(AssertionError, match="int"):
        module.graph = 3


def test_submodules(net: Net) -> None:
    traced = fx.symbolic_trace(net)
    assert traced.add_submodule("a.b.c", nn.ReLU()) and isinstance(traced.a.b.c, nn.ReLU)
    assert not traced.add_submodule("weight.c", nn.ReLU())
    assert (
        traced.delete_submodule("a.b.c") and not traced.delete_submodule("a.b.c") and not traced.delete_submodule("q.r")
    )
    traced.delete_all_unused_submodules()
    assert [name for name, _ in traced.named_modules()] == ["", "layer", "seq", "seq.0", "seq.1"]


def test_tracebacks_show_generated_code(net: Net) -> None:
    with pytest.raises(RuntimeError) as caught:
        fx.symbolic_trace(net)(taeda.ones(2, 3))
    assert "layer = self.layer(x);  x = None" in "".join(traceback.format_exception(caught.value))


def test_readable_text(net: Net, capsys: pytest.CaptureFixture[str]) -> None:
    outer = fx.GraphModule({"inner": fx.symbolic_trace(net)}, fx.Graph())
    outer.inner = fx.symbolic_trace(net)
    text = outer.print_readable()
    assert capsys.readouterr().out == text + "\n"
    assert "class GraphModule(torch.nn.Module):" in text and "    class inner(torch.nn.Module):" in text


def test_code_generators() -> None:
    class Listed(fx.CodeGen):
        def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
            return f"def forward(self, items):\n    {', '.join(free_vars)} = items"

        def process_inputs(self, *args: Any) -> Any:
            return args[0]

        def additional_globals(self) -> Any:
            return [("List", list)]

    traced = fx.symbolic_trace(lambda a, b: a - b)
    traced.graph.set_codegen(Listed())
    traced.recompile()
    assert traced([5, 3]) == 2 and fx.Interpreter(traced).run([5, 3]) == 2


def test_generated_lines_can_be_changed() -> None:
    traced = fx.symbolic_trace(lambda x: x + 1)
    with traced.graph.on_generate_code(
        lambda before: lambda body: ["x = x * 10\n", *(before(body) if before else body)]
    ):
        assert traced.recompile().src.splitlines()[4] == "    x = x * 10" and traced(2) == 21
    traced.recompile()
    assert traced(2) == 3


# Running


def test_interpreters(net: Net) -> None:
    seen: list[str] = []

    class Swapped(fx.Interpreter):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            if target is F.relu:
                return taeda.neg(args[0])
            return super().call_function(target, args, kwargs)

        def run_node(self, n: fx.Node) -> Any:
            seen.append(n.name)
            return super().run_node(n)

    traced = fx.symbolic_trace(net)
    expected = net.seq(-(net.layer(X) + 1) * 2 + 2)
    assert taeda.equal(Swapped(traced).run(X), expected) and seen == [n.name for n in traced.graph.nodes]
    kept = fx.Interpreter(traced, garbage_collect_values=False)
    box = [X]
    kept.boxed_run(box)
    assert box == [] and len(kept.env) == len(traced.graph.nodes)
    relu = traced.graph.find_nodes(op="call_function", target=F.relu)[0]
    replaced = fx.Interpreter(traced).run(X, initial_env={relu: taeda.zeros(2, 4)})
    assert taeda.equal(replaced, net.seq(taeda.full((2, 4), 2.0)))


def test_errors_of_interpreters(net: Net) -> None:
    traced = fx.symbolic_trace(net)
    with pytest.raises(RuntimeError, match="no argument for x"):
        fx.Interpreter(traced).run()
    with pytest.raises(RuntimeError) as caught:
        fx.Interpreter(traced).run(taeda.ones(2, 3))
    assert "call_module[target=layer]" in caught.value.__notes__[0]
    with pytest.raises(RuntimeError, match="leads nowhere"):
        fx.Interpreter(traced).fetch_attr("layer.nothing")
    defaults = fx.symbolic_trace(lambda x, y=3, *rest: x + y + rest[0])
    assert fx.Interpreter(defaults).run(1, 2, 10) == 13


def test_transformers(net: Net) -> None:
    class Doubled(fx.Transformer):
        def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_module(target, args, kwargs) * 2

    traced = fx.symbolic_trace(net)
    new = Doubled(traced).transform()
    inner = net.seq[0](F.relu(2 * net.layer(X) + 1) * 2 + 2)
    assert taeda.equal(new(X), 2 * F.relu(2 * inner))
    assert len(new.graph.find_nodes(op="call_module")) == 3 and new.layer is net.layer
    new.graph.lint()


def test_shapes(net: Net) -> None:
    traced = fx.symbolic_trace(net)
    ShapeProp(traced).propagate(X)
    found = {n.name: tuple(n.meta["tensor_meta"].shape) for n in traced.graph.nodes}
    assert found["layer"] == (2, 4) and found["seq_1"] == (2, 3) and found["_tensor_constant0"] == ()
    meta = traced.graph.find_nodes(op="placeholder")[0].meta
    assert (
        meta["tensor_meta"].dtype is taeda.float32
        and meta["tensor_meta"].stride == (4, 1)
        and meta["type"] is taeda.Tensor
    )
    split = fx.symbolic_trace(lambda x: x.split(1))
    ShapeProp(split).propagate(X)
    assert [m.shape for m in split.graph.output_node().meta["tensor_meta"]] == [(1, 4), (1, 4)]


# Rewriting


def rewritten(program: Any, pattern: Any, replacement: Any) -> tuple[Any, int]:
    traced = fx.symbolic_trace(program)
    matches = fx.replace_pattern(traced, pattern, replacement)
    traced.graph.lint()
    return traced, len(matches)


def test_patterns_are_replaced_everywhere() -> None:
    traced, count = rewritten(
        lambda x, y: taeda.relu(x + y) + taeda.relu(y + x),
        lambda a, b: taeda.relu(a + b),
        lambda a, b: taeda.tanh(b - a),
    )
    assert count == 2 and traced(taeda.tensor(1.0), taeda.tensor(3.0)).item() == 0.0 and "relu" not in traced.code


def test_patterns_in_a_chain() -> None:
    traced, count = rewritten(lambda x: x.neg().neg().neg(), lambda a: a.neg(), lambda a: a * 2)
    assert count == 3 and traced(1) == 8


def test_results_that_others_need_stay() -> None:
    program = lambda x: (taeda.sin(taeda.cos(x)), taeda.cos(x))
    assert rewritten(program, lambda a: taeda.sin(taeda.cos(a)), lambda a: a)[1] == 1

    def shared(x: Any) -> Any:
        inner = taeda.cos(x)
        return taeda.sin(inner), inner

    assert rewritten(shared, lambda a: taeda.sin(taeda.cos(a)), lambda a: a)[1] == 0


def test_constants_of_patterns_must_be_equal() -> None:
    pattern, replacement = (lambda a: a.sum(dim=1)), (lambda a: a.mean(dim=1))
    assert rewritten(lambda x: x.sum(dim=0), pattern, replacement)[1] == 0
    assert rewritten(lambda x: x.sum(dim=1), pattern, replacement)[1] == 1
    assert rewritten(lambda x: x + 1, lambda a: a + 1.0, lambda a: a)[1] == 0


def test_patterns_with_several_results() -> None:
    traced, count = rewritten(
        lambda x, y: taeda.sin(x) + taeda.cos(y) * 2,
        lambda a, b: (taeda.sin(a), taeda.cos(b)),
        lambda a, b: (a - b, a + b),
    )
    assert count == 1 and traced(5, 3) == 18


def test_parameters_may_be_constants() -> None:
    traced, count = rewritten(lambda x: taeda.add(x, 3), lambda a, b: taeda.add(a, b), lambda a, b: a * b)
    assert count == 1 and traced(5) == 15


def test_modules_as_replacements() -> None:
    class Gated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate = nn.Sigmoid()

        def forward(self, a: Any) -> Any:
            return a * self.gate(a)

    traced, count = rewritten(lambda x: taeda.relu(x), lambda a: taeda.relu(a), fx.symbolic_trace(Gated()))
    assert count == 1 and taeda.allclose(traced(X), F.silu(X)) and isinstance(traced.gate, nn.Sigmoid)


def test_filters_and_callbacks() -> None:
    traced = fx.symbolic_trace(lambda x: taeda.pow(taeda.pow(x, 2), 3))
    found = replace_pattern_with_filters(
        traced,
        lambda a: taeda.pow(a, 1),
        match_filters=[lambda match, graph, pattern: match.anchors[0].args[1] == 3],
        ignore_literals=True,
        replacement_callback=lambda match, graph, pattern: fx.symbolic_trace(lambda a: a + 1).graph,
    )
    assert len(found) == 1 and [n.name for n in found[0].replacements] == ["add"] and traced(taeda.tensor(2)) == 5
    for arguments, says in (
        (((lambda a: taeda.add(a, 1)),), "replacement"),
        ((lambda a: a + 1, lambda: 1), "parameters"),
    ):
        with pytest.raises(AssertionError, match=says):
            replace_pattern_with_filters(fx.symbolic_trace(lambda x: taeda.add(x, 1) + 1), *arguments)


def test_functional_ops_that_are_builtins_are_called_where_programs_do() -> None:
    traced = fx.symbolic_trace(lambda x: F.pad(F.rms_norm(F.layer_norm(x, (4,)), (4,)), (1, 1)))
    for name in ("layer_norm", "rms_norm", "pad"):
        assert f" = torch.nn.functional.{name}(" in traced.code
    assert pickle.loads(pickle.dumps(traced)).code == traced.code
