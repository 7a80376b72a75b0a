"""Which calls of a program its nodes come from, and how the program prints."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any

import pytest

import taeda
from taeda import nn
from taeda.export import Dim, export, load, save, unflatten
from taeda.fx import symbolic_trace
from taeda.fx.graph_module import GraphModule
from taeda.fx.passes.infra.pass_base import PassResult
from taeda.fx.passes.utils.matcher_with_name_node_map_utils import SubgraphMatcherWithNameNodeMap
from taeda.fx.passes.utils.source_matcher_utils import check_subgraphs_connected, get_source_partitions


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        y = nn.functional.relu(self.layer(self.layer(x)))
        return nn.functional.interpolate(y[None, None], scale_factor=2.0), y.split(2, 1)


X = taeda.ones(2, 4)


def origins(program: Any) -> list[Any]:
    return [node.meta["torch_fn"][0] for node in program.graph.nodes if "torch_fn" in node.meta]


def test_functions() -> None:
    program = export(Net(), (X,))
    found = origins(program)
    assert found[:3] == ["linear_1", "linear_2", "relu_1"] and "interpolate_1" in found
    assert found[-3:] == ["split_1"] * 3  # the call and its parts
    stream = io.BytesIO()
    save(program, stream)
    stream.seek(0)
    assert origins(load(stream)) == found
    assert origins(program.run_decompositions())[:4] == ["linear_1", "linear_1", "linear_2", "linear_2"]


@pytest.mark.parametrize("strict", [False, True])
def test_partitions(strict: bool) -> None:
    graph = export(Net(), (X,), strict=strict).graph
    layer: Any = nn.Linear if strict else "linear"
    function: Any = nn.functional.relu if strict else "relu"
    found = get_source_partitions(graph, [layer, function])
    assert len(found[layer]) == 2 and len(found[function]) == 1
    (last,) = (part for part in found[layer] if check_subgraphs_connected(part, found[function][0]))
    assert last.output_nodes[-1].name == "linear_1"


def test_sources_in_files() -> None:
    stream = io.BytesIO()
    save(export(Net(), (X,), strict=True), stream)
    stream.seek(0)
    nodes = list(load(stream).graph.nodes)
    assert [n.meta["source_fn_stack"][-1][1] for n in nodes if n.name == "linear"] == [nn.Linear]


def test_text() -> None:
    text = str(export(Net(), (taeda.ones(3, 4),), dynamic_shapes=({0: Dim("batch", min=2)},)))
    assert 'x: "f32[batch, 4]"):' in text and 'relu: "f32[batch, 4]" = ' in text
    assert "    # File: " in text and "\nGraph signature: \n    # inputs\n    p_layer_weight: PARAMETER" in text
    assert "Range constraints: {batch: VR[2, int_oo]}" in text


def test_graphs_of_programs_as_modules() -> None:
    module = export(Net(), (X,)).module()
    again = GraphModule(module, module.graph)
    assert taeda.equal(again(X)[0], module(X)[0])
    assert "fx_pytree.tree_flatten_spec(([x], {}), self._in_spec)" in again.code


def test_named_patterns_from_programs() -> None:
    class Pattern(nn.Module):
        def forward(self, x: Any, w: Any) -> Any:
            product = nn.functional.linear(x, w)
            return nn.functional.relu(product), {"product": product}

    class Target(nn.Module):
        def forward(self, x: Any, w: Any) -> Any:
            return nn.functional.relu(nn.functional.linear(x * 2, w)) + 1

    given = (X, taeda.ones(4, 4))
    pattern, target = export(Pattern(), given).module(), export(Target(), given).module()
    (match,) = SubgraphMatcherWithNameNodeMap(pattern).match(target.graph)
    assert match.name_node_map["product"].target is taeda.ops.aten.linear.default
    assert pattern(*given)[0].shape == (2, 4)


def test_exports_of_programs_keep_what_is_known_of_nodes() -> None:
    first = export(Net(), (X,))
    module = first.module()
    module.meta["custom"] = {"key": 1}
    node = next(n for n in module.graph.nodes if n.name == "relu")
    node.meta["custom"] = {"tag": 2}
    second = export(module, (X,))
    pairs = {n.name: n for n in first.graph.nodes if n.op == "call_function"}
    again = [n for n in second.graph.nodes if n.name in pairs and n.op == "call_function"]
    assert len(again) == len(pairs)
    for found in again:
        for key in ("stack_trace", "nn_module_stack", "torch_fn"):
            assert found.meta[key] == pairs[found.name].meta[key]
    assert second.graph_module.meta["custom"] == {"key": 1}
    assert [n.name for n in again if n.meta.get("custom") == {"tag": 2}] == ["relu"]


def test_exports_of_traced_modules() -> None:
    traced = symbolic_trace(nn.Sequential(nn.Sequential(nn.Linear(4, 4)), nn.ReLU()))
    program = export(traced, (), {"input": X})
    assert taeda.equal(program.module()(input=X), traced(X))
    stacks = [list(n.meta["nn_module_stack"].values())[-1][0] for n in program.graph.nodes if n.op == "call_function"]
    assert stacks == ["0.0", "1"]


def test_modules_that_are_made_while_others_run() -> None:
    class Makes(nn.Module):
        def forward(self, x: Any) -> Any:
            return nn.ReLU()(x)

    (relu,) = (n for n in export(Makes(), (X,)).graph.nodes if n.op == "call_function")
    ((path, name),) = relu.meta["nn_module_stack"].values()
    assert path == "" and name.endswith("Makes")


def test_other_names_of_parameters() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Parameter(taeda.ones(4))
            self.second = self.first

        def forward(self, x: Any) -> Any:
            return x + self.second

    program = export(Tied(), (X,))
    tree = unflatten(program)
    assert set(tree.state_dict()) == set(program.state_dict) == {"first", "second"}
    assert tree.get_parameter("first") is tree.get_parameter("second")


def test_passes_over_programs() -> None:
    def cosines(module: GraphModule) -> PassResult:
        found = [n for n in module.graph.nodes if n.target is taeda.ops.aten.sin.default]
        for node in found:
            with module.graph.inserting_after(node):
                node.replace_all_uses_with(module.graph.call_function(taeda.ops.aten.cos.default, node.args))
            module.graph.erase_node(node)
        return PassResult(module, bool(found))

    class Sine(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.sin()

    program = export(Sine(), (X,))
    changed = program._transform_do_not_use(cosines)
    assert taeda.equal(changed.module()(X), X.cos())
    assert [spec.arg.name for spec in changed.graph_signature.output_specs] == ["cos_default"]
    assert changed._transform_do_not_use(cosines) is changed


def test_other_names_of_constants() -> None:
    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = taeda.ones(4)

        def forward(self, x: Any) -> Any:
            return x + self.table

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()
            self.table = self.inner.table

        def forward(self, x: Any) -> Any:
            return self.inner(x) + self.table

    program = export(Outer(), (X,))
    assert sorted(program.constants) == ["inner.table", "table"] and len(program.graph_signature.input_specs) == 2
    stream = io.BytesIO()
    save(program, stream)
    stream.seek(0)
    for one in (load(stream), program.run_decompositions()):
        assert taeda.equal(one.module()(X), X + 2)
    assert taeda.equal(unflatten(program)(X), X + 2)


@pytest.mark.parametrize("record", [export, taeda.jit.trace])
def test_what_other_threads_call_is_not_seen(record: Callable[..., Any]) -> None:
    begun, ends = threading.Event(), threading.Event()

    class Waits(nn.Module):
        def forward(self, x: Any) -> Any:
            begun.set()
            assert ends.wait(60)
            return x

    class Joins(nn.Sequential):
        def forward(self, x: Any) -> Any:
            ends.set()
            other.join()
            return super().forward(x)

    record(Net(), (X,))  # from now on modules ask for hooks
    other = threading.Thread(target=Waits(), args=(X,))
    other.start()
    assert begun.wait(60)
    recorded, alone = record(Joins(nn.Linear(4, 4)), (X,)), record(nn.Sequential(nn.Linear(4, 4)), (X,))
    modules = lambda program: [
        list(n.meta["nn_module_stack"].values())[1:] for n in program.graph.nodes if n.meta.get("nn_module_stack")
    ]
    scopes = lambda program: [node.scopeName().rpartition("/")[2] for node in program.graph.nodes()]
    shown = modules if record is export else scopes
    assert shown(recorded) == shown(alone) != []
