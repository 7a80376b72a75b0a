"""Splitting and partitioning: the parts together do what the whole did, and are those that were asked for."""

from __future__ import annotations

import operator
from typing import Any

import pytest

import taeda as torch
from taeda import fx, nn
from taeda.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from taeda.fx.passes.operator_support import OperatorSupport, OpSupports, any_chain, chain, create_op_support
from taeda.fx.passes.shape_prop import ShapeProp
from taeda.fx.passes.split_module import split_module
from taeda.fx.passes.split_utils import split_by_tags
from taeda.fx.passes.tools_common import get_node_target, legalize_graph, stable_topological_sort
from taeda.fx.passes.utils.common import compare_graphs
from taeda.fx.passes.utils.fuser_utils import fuse_by_partitions, topo_sort, validate_partition


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.randn(4))

    def forward(self, a: Any, b: Any) -> Any:
        x = self.first(a + b) * self.scale
        y, z = x.split(2, 1)
        return self.second(torch.relu(x)) - self.scale, y + z


BLOCK, ARGS = Block(), (torch.randn(3, 4), torch.randn(3, 4))


def traced() -> fx.GraphModule:
    return fx.symbolic_trace(BLOCK)


def same(made: Any, *args: Any) -> bool:
    return all(torch.equal(x, y) for x, y in zip(made(*(args or ARGS)), BLOCK(*(args or ARGS)), strict=True))


def calls(graph: fx.Graph) -> list[fx.Node]:
    return [n for n in graph.nodes if n.op.startswith("call")]


@pytest.mark.parametrize("options", [
    {}, {"keep_original_order": True}, {"keep_original_node_name": True}, {"tuple_return": True},
    {"partition_affix": "x"}, {"keep_original_input_name": False},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("count", [1, 2, 4])
def test_split_modules_do_the_same(count: int, options: dict[str, Any]) -> None:
    module = traced()
    number = {node: i * count // len(calls(module.graph)) for i, node in enumerate(calls(module.graph))}
    paths: dict[str, str] = {}
    made = split_module(module, BLOCK, lambda node: number[node], paths, **options)
    assert same(made)
    affix = f"_{options['partition_affix']}" if "partition_affix" in options else ""
    assert [name for name, _ in made.named_children()][:count] == [f"submod{affix}_{i}" for i in range(count)]
    assert {path for path in paths.values()} == {"first", "second"}
    assert [node.target for node in made.graph.find_nodes(op="get_attr")] == ["scale"]  # parts get it as an argument
    assert {id(p) for p in made.parameters()} == {id(p) for p in BLOCK.parameters()}


def test_parts_in_a_circle_are_refused() -> None:
    with pytest.raises(RuntimeError, match="circle"):
        split_module(traced(), BLOCK, lambda node: int(node.target == "first"))


def test_tags_split_in_their_order() -> None:
    module = traced()
    for node in calls(module.graph):
        node.tag = "late" if node.target in (torch.relu, "second", operator.sub) else "early"
    made, paths = split_by_tags(module, ["early", "late"], return_fqn_mapping=True)
    assert same(made) and [name for name, _ in made.named_children()] == ["early", "late"]
    assert paths["second"] == "late.second"
    with pytest.raises(AssertionError, match="comes later"):
        split_by_tags(module, ["late", "early"])


def supports(*targets: str) -> OperatorSupport:
    return OperatorSupport(dict.fromkeys(targets))


@pytest.mark.parametrize("names", [
    ["_operator.add", "_operator.mul"], ["torch.relu", "_operator.sub"], [], ["_operator.getitem", "split"],
    ["_operator.add", "_operator.mul", "torch.relu", "_operator.sub", "_operator.getitem", "split"],
])  # fmt: skip
@pytest.mark.parametrize("single", [False, True])
def test_partitions_of_what_is_supported_do_the_same(names: list[str], single: bool) -> None:
    module = traced()
    kinds = {get_node_target(dict(module.named_modules()), node) for node in calls(module.graph)}
    wanted = supports(*names, *(kind for kind in kinds if kind.replace("operator.", "_operator.") in names))
    partitioner = CapabilityBasedPartitioner(module, wanted, allows_single_node_partition=single)
    parts = partitioner.propose_partitions()
    assert all(validate_partition(list(p.nodes)) for p in parts)
    assert single or all(p.size() > 1 for p in parts)
    made = partitioner.fuse_partitions(parts)
    assert same(made) and sum(n.op == "call_module" and "fused" in n.target for n in made.graph.nodes) == len(parts)


def test_a_partition_never_depends_on_itself() -> None:
    def f(a: Any) -> Any:
        b = a + 1
        c = torch.relu(b)
        return b + c

    module = fx.symbolic_trace(f)
    add = create_op_support(lambda modules, node: node.target is operator.add)
    parts = CapabilityBasedPartitioner(module, add, allows_single_node_partition=True).propose_partitions()
    assert len(parts) == 2
    both = [node for node in module.graph.nodes if node.target is operator.add]
    assert not validate_partition(both)
    with pytest.raises(AssertionError, match="depends"):
        fuse_by_partitions(module, [dict.fromkeys(both)])


def test_supports_join_and_decline() -> None:
    module = traced()
    ShapeProp(module).propagate(*ARGS)
    node = next(n for n in module.graph.nodes if n.target is torch.relu)
    yes, no = (create_op_support(lambda modules, node, answer=answer: answer) for answer in (True, False))
    asked = {
        chain(yes, yes): True, chain(yes, no): False, any_chain(yes, no): True, any_chain(no): False,
        OpSupports.decline_if_input_dtype(torch.float32): False, OpSupports.decline_if_input_dtype(torch.int64): True,
        OpSupports.decline_if_node_in_names({node.name}): False,
    }  # fmt: skip
    assert {s: s.is_node_supported({}, node) for s in asked} == asked
    by_dtype = {d: OperatorSupport({"torch.relu": (([d],), {})}) for d in (torch.float32, torch.float16)}
    assert [s.is_node_supported({}, node) for s in by_dtype.values()] == [True, False]


@pytest.mark.parametrize("sort", [legalize_graph, stable_topological_sort])
def test_sorting_puts_values_before_their_users(sort: Any) -> None:
    module = traced()
    last = calls(module.graph)[-1]
    next(iter(module.graph.nodes)).prepend(last)
    with pytest.raises(RuntimeError):
        module.graph.lint()
    sort(module)
    module.graph.lint()
    module.recompile()
    assert same(module)
    nodes = list(module.graph.nodes)
    assert topo_sort(reversed(nodes))[-1].op == "output"


def test_graphs_are_compared_by_what_they_do() -> None:
    assert compare_graphs(traced().graph, traced().graph)
    other = traced()
    next(n for n in other.graph.nodes if n.target is torch.relu).target = torch.tanh
    assert not compare_graphs(traced().graph, other.graph)
