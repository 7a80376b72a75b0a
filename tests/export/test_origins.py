"""Which calls of a program its nodes come from, and how the program prints."""

from __future__ import annotations

import io
from typing import Any

import pytest

import taeda
from taeda import nn
from taeda.export import Dim, export, load, save
from taeda.fx.graph_module import GraphModule
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
