"""Passes and their managers, and what they note of nodes."""

from __future__ import annotations

import operator
from typing import Any

import pytest

import taeda as torch
from taeda import fx, nn
from taeda.fx.experimental.proxy_tensor import make_fx
from taeda.fx.passes import pass_manager as older
from taeda.fx.passes.annotate_getitem_nodes import annotate_getitem_nodes
from taeda.fx.passes.dialect.common.cse_pass import CSEPass
from taeda.fx.passes.fake_tensor_prop import FakeTensorProp
from taeda.fx.passes.graph_drawer import FxGraphDrawer
from taeda.fx.passes.graph_manipulation import get_size_of_all_nodes, replace_target_nodes_with
from taeda.fx.passes.graph_transform_observer import GraphTransformObserver
from taeda.fx.passes.infra.pass_base import PassBase, PassResult
from taeda.fx.passes.infra.pass_manager import PassManager, pass_result_wrapper, this_before_that_pass_constraint
from taeda.fx.passes.param_fetch import lift_lowering_attrs_to_nodes
from taeda.fx.passes.utils.matcher_utils import SubgraphMatcher
from taeda.fx.passes.utils.matcher_with_name_node_map_utils import SubgraphMatcherWithNameNodeMap
from taeda.fx.passes.utils.source_matcher_utils import check_subgraphs_connected, get_source_partitions


def changed(old: Any, new: Any) -> Any:
    def replace(module: Any) -> None:
        for node in module.graph.nodes:
            node.target = new if node.target is old else node.target
        module.recompile()

    return replace


def program(x: Any) -> Any:
    return torch.relu(x) + 1


def test_passes_run_in_an_order_that_constraints_allow() -> None:
    first, second = (pass_result_wrapper(changed(*p)) for p in ((torch.relu, torch.tanh), (torch.tanh, torch.sin)))
    manager = PassManager([second, first], [this_before_that_pass_constraint(first, second)])
    result = manager(fx.symbolic_trace(program))
    assert result.modified and torch.sin in [n.target for n in result.graph_module.graph.nodes]
    with pytest.raises(RuntimeError, match="circle"):
        manager.add_constraint(this_before_that_pass_constraint(second, first))
        manager.solve_constraints()


def test_a_pass_checks_before_and_after() -> None:
    told: list[str] = []

    class Noted(PassBase):
        def requires(self, graph_module: Any) -> None:
            told.append("requires")

        def call(self, graph_module: Any) -> PassResult:
            told.append("call")
            return PassResult(graph_module, len(told) < 3)

        def ensures(self, graph_module: Any) -> None:
            told.append("ensures")

    assert PassManager([Noted()], steps=5)(fx.symbolic_trace(program)).modified
    assert told == ["requires", "call", "ensures"] * 2


def test_failures_name_the_pass_and_checks_may_be_let_go() -> None:
    def broken(module: Any) -> None:
        raise ValueError("no")

    with pytest.raises(Exception, match="broken"):
        PassManager([broken])(fx.symbolic_trace(program))
    with pytest.raises(TypeError, match="PassResult"):
        PassManager([lambda module: module])(fx.symbolic_trace(program))
    manager = PassManager([pass_result_wrapper(changed(torch.relu, torch.sin))], suppress_check_failures=True)
    manager.add_checks(broken)
    manager(fx.symbolic_trace(program))
    with pytest.raises(TypeError, match="one argument"):
        manager.add_checks(lambda a, b: None)


def test_the_older_manager_takes_and_gives_modules() -> None:
    twice = older.loop_pass(lambda n: n + 1, n_iter=2)
    until = older.loop_pass(lambda n: n * 2, predicate=lambda n: n < 50)
    passes = older.PassManager.build_from_passlist([twice, until])
    assert passes(1) == 96
    passes.add_constraint(older.this_before_that_pass_constraint(until, twice))
    with pytest.raises(RuntimeError, match="forbids"):
        passes(1)
    with pytest.raises(AssertionError, match="either"):
        older.loop_pass(twice)
    assert older.inplace_wrapper(list.sort)([2, 1]) == [1, 2]


def test_equal_calls_become_one() -> None:
    def f(x: Any) -> Any:
        return x.cos() + x.cos(), x.sum(0) + x.sum(1), torch.rand(3) - torch.rand(3), x + 1, x + 1.0

    module = make_fx(f)(torch.randn(3, 3))
    result = CSEPass()(module)
    assert result is not None and result.modified
    names = [n.target._opname for n in result.graph_module.graph.nodes if n.op == "call_function"]
    assert names.count("cos") == 1 and names.count("sum") == 2 and names.count("rand") == 2
    written = make_fx(lambda x: (x.sum(), x.clone().add_(1), x.mul_(2), x.sum()))(torch.randn(3))
    untouched = CSEPass()(written)
    assert untouched is not None and not untouched.modified
    again = CSEPass()(result.graph_module)
    assert again is not None and not again.modified


def test_patterns_are_found() -> None:
    def f(x: Any, y: Any) -> Any:
        return torch.relu(x + y) * torch.relu(y + 2)

    def pattern(a: Any, b: Any) -> Any:
        return torch.relu(a + b)

    graph = fx.symbolic_trace(f).graph
    found = SubgraphMatcher(fx.symbolic_trace(pattern).graph).match(graph)
    assert [[str(n) for n in match.placeholder_nodes] for match in found] == [["x", "y"], ["y", "2"]]
    assert [match.anchors[0].name for match in found] == ["relu", "relu_1"]
    assert SubgraphMatcher(fx.symbolic_trace(lambda a: torch.relu(a + 3)).graph).match(graph) == []
    loose = SubgraphMatcher(fx.symbolic_trace(lambda a: torch.relu(a + 3)).graph, ignore_literals=True)
    assert len(loose.match(graph)) == 1

    def named(a: Any, b: Any) -> Any:
        added = a + b
        return torch.relu(added), {"added": added}

    match = SubgraphMatcherWithNameNodeMap(fx.symbolic_trace(named)).match(graph)[0]
    assert match.name_node_map["added"].name == "add"


def test_sources_group_nodes() -> None:
    module = fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    add, relu, mul = (n for n in module.graph.nodes if n.op == "call_function")
    add.meta["source_fn_stack"] = relu.meta["source_fn_stack"] = [("block", nn.ReLU)]
    mul.meta["source_fn_stack"] = [("mul", operator.mul)]
    found = get_source_partitions(module.graph, [nn.ReLU, operator.mul])
    first, second = found[nn.ReLU][0], found[operator.mul][0]
    assert first.nodes == [add, relu] and first.output_nodes == [relu] and first.input_nodes[0].name == "x"
    assert check_subgraphs_connected(first, second) and not check_subgraphs_connected(second, first)
    assert get_source_partitions(module.graph, [nn.ReLU], lambda node: node is add) == {}


def test_values_are_described_without_running() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    module = fx.symbolic_trace(model)
    FakeTensorProp(module).propagate(torch.ones(5, 2))
    assert [tuple(n.meta["val"].shape) for n in module.graph.nodes if n.op == "call_module"] == [(5, 3)] * 2
    get_size_of_all_nodes(module, [torch.ones(5, 2)])
    sizes = [n.size_bytes for n in module.graph.nodes if n.op == "call_module"]
    assert [(s.output_size, s.total_size) for s in sizes] == [(60, 96), (60, 60)]
    lift_lowering_attrs_to_nodes(module)
    linear = next(n for n in module.graph.nodes if n.op == "call_module")
    assert linear.attrs_for_lowering["weight"] is model[0].weight


def test_targets_are_replaced_and_changes_seen() -> None:
    module = fx.symbolic_trace(program)
    with GraphTransformObserver(module, "replace") as observer:
        replace_target_nodes_with(module, "call_function", torch.relu, "call_function", torch.sin)
    assert "relu" in observer.erased_nodes and torch.equal(module(torch.ones(1)), torch.sin(torch.ones(1)) + 1)


def test_items_have_the_types_of_their_containers() -> None:
    def f(x: tuple[torch.Tensor, int], y: list[int]) -> Any:
        return x[1] + y[0]

    f.__annotations__.update(x=tuple[torch.Tensor, int], y=list[int])
    module = fx.symbolic_trace(f)
    annotate_getitem_nodes(module.graph)
    assert [n.type for n in module.graph.nodes if n.target is operator.getitem] == [int, int]


def test_pictures_need_pydot() -> None:
    module = fx.symbolic_trace(program)
    try:
        import pydot  # noqa: F401
    except ImportError:
        with pytest.raises(RuntimeError, match="pip install pydot"):
            FxGraphDrawer(module, "program")
    else:
        assert "relu" in FxGraphDrawer(module, "program").get_dot_graph().to_string()
