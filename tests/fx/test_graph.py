"""Graphs and nodes: building, editing, checking, printing."""

from __future__ import annotations

import copy
import operator
import pickle
from collections import namedtuple
from typing import Any

import pytest

import taeda
from taeda import fx, nn
from taeda.fx.immutable_collections import immutable_dict, immutable_list
from taeda.fx.node import map_aggregate, map_arg


def small() -> tuple[fx.Graph, fx.Node, fx.Node, fx.Node]:
    """``relu(x) + 1``."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    relu = graph.call_function(taeda.relu, (x,))
    total = graph.call_method("add", (relu,), {"other": 1})
    graph.output(total)
    return graph, x, relu, total


def names(graph: fx.Graph) -> list[str]:
    return [node.name for node in graph.nodes]


def test_text() -> None:
    graph, *_ = small()
    assert str(graph).splitlines() == [
        "graph():",
        "    %x : [num_users=1] = placeholder[target=x]",
        "    %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})",
        "    %add : [num_users=1] = call_method[target=add](args = (%relu,), kwargs = {other: 1})",
        "    return add",
    ]
    assert graph.python_code("self").src.strip().splitlines() == [
        "def forward(self, x):",
        "    relu = torch.relu(x);  x = None",
        "    add = relu.add(other = 1);  relu = None",
        "    return add",
    ]


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    small()[0].print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"] and len(lines) == 6


def test_users_and_inputs_stay_up_to_date() -> None:
    graph, x, relu, total = small()
    assert list(x.users) == [relu] and total.all_input_nodes == [relu]
    total.args = (x, [relu, {"k": x}])
    assert list(x.users) == [relu, total] and total.all_input_nodes == [x, relu]
    total.update_arg(1, 3)
    assert list(relu.users) == [] and total.args == (x, 3)
    total.insert_arg(1, relu)
    total.update_kwarg("other", x)
    assert total.args == (x, relu, 3) and total.kwargs == {"other": x} and total in relu.users
    total.replace_input_with(x, relu)
    assert total.all_input_nodes == [relu] and list(x.users) == [relu]
    with pytest.raises(IndexError, match="0 to 3"):
        total.insert_arg(5, x)


def test_replacing_all_uses() -> None:
    graph, x, relu, total = small()
    with graph.inserting_after(relu):
        tanh = graph.call_function(taeda.tanh, (relu,))
    relu.meta["note"] = 1
    assert relu.replace_all_uses_with(tanh, lambda user: user is not tanh, propagate_meta=True) == [total]
    assert names(graph) == ["x", "relu", "tanh", "add", "output"] and tanh.meta == {"note": 1}
    assert list(relu.users) == [tanh] and list(tanh.users) == [total]
    graph.lint()


def test_order_can_change_during_a_loop() -> None:
    graph, x, relu, total = small()
    for node in graph.nodes:
        if node is relu:
            with graph.inserting_after(node):
                first = graph.call_function(taeda.tanh, (x,))
                graph.call_function(taeda.sin, (first,))
            node.replace_all_uses_with(first)
            graph.erase_node(node)
    assert names(graph) == ["x", "tanh", "sin", "add", "output"] and len(graph.nodes) == 5
    assert [n.name for n in reversed(graph.nodes)] == names(graph)[::-1]
    first.append(total)
    assert names(graph) == ["x", "tanh", "add", "sin", "output"] and first.next is total and total.prev is first
    x.prepend(total)
    with pytest.raises(RuntimeError, match="comes later"):
        graph.lint()


def test_insertion_points() -> None:
    graph, x, relu, total = small()
    with graph.inserting_before(relu):
        graph.call_method("a", (x,))
        graph.call_method("b", (x,))
    with graph.inserting_before():
        graph.placeholder("w")
    graph.inserting_after(x)
    graph.call_method("c", (x,))
    assert names(graph) == ["w", "x", "c", "a", "b", "relu", "add", "output"]
    for use in (graph.inserting_before, graph.inserting_after):
        with pytest.raises(AssertionError, match="not a node of this graph"):
            use(small()[1])


def test_names() -> None:
    graph = fx.Graph()
    x = graph.placeholder("input")
    made = [
        graph.call_method(name, (x,)) for name in ("add", "add", "__add__", "sum", "camelCase", "class", "0.weight")
    ]
    made += [graph.call_module("seq.0"), graph.call_module("seq.1"), graph.call_module("seq.0")]
    made += [graph.create_node("call_function", operator.getitem, (x, 0), name="chosen"), graph.get_attr("torch")]
    assert [n.name for n in made] == [
        "add", "add_1", "add_2", "sum_1", "camel_case", "class_1", "_0_weight", "seq_0", "seq_1", "seq_2", "chosen",
        "torch_1",
    ]  # fmt: skip
    made[0]._rename("chosen")
    assert made[0].name == "chosen_1"


def test_erasing() -> None:
    graph, x, relu, total = small()
    with pytest.raises(RuntimeError, match="still used, by add"):
        graph.erase_node(relu)
    with pytest.raises(RuntimeError, match="another graph"):
        fx.Graph().erase_node(graph.output_node())
    graph.erase_node(graph.output_node())
    graph.erase_node(total)
    graph.erase_node(total)
    assert names(graph) == ["x", "relu"] and len(graph.nodes) == 2
    with pytest.raises(RuntimeError, match="output"):
        graph.output_node()
    graph.output(graph.call_method("neg", (total,)))
    with pytest.raises(RuntimeError, match="add of neg is not in the graph"):
        graph.lint()


def test_dead_code() -> None:
    graph, x, relu, total = small()
    dead = graph.call_function(taeda.sin, (x,))
    with graph.inserting_before(graph.output_node()):
        graph.call_function(taeda.cos, (graph.call_function(taeda.sin, (x,)),))
        graph.call_method("add_", (x, 1))
        graph.call_function(taeda._assert, (x, "text"))
        graph.call_function(operator.and_, (x, 1))
        graph.call_function(taeda.ops.aten.add_.Tensor, (x, 1))
        graph.call_function(taeda.rand, (2,))
    graph.erase_node(dead)
    assert graph.eliminate_dead_code()
    assert names(graph) == ["x", "relu", "add", "add_", "_assert", "add__tensor", "rand", "output"]
    assert not graph.eliminate_dead_code() and graph.eliminate_dead_code(lambda node: False)
    assert names(graph) == ["x", "relu", "add", "output"]


def test_side_effects_can_be_declared() -> None:
    @fx.has_side_effect
    def log(x: Any) -> None:
        pass

    graph, x, *_ = small()
    with graph.inserting_after(x):
        graph.call_function(log, (x,))
    assert not graph.eliminate_dead_code()


def test_copies() -> None:
    graph, x, relu, total = small()
    relu.meta["list"] = [1]
    twin = copy.deepcopy(graph)
    assert str(twin) == str(graph) and list(twin.nodes)[1].meta == {"list": [1]}
    assert list(twin.nodes)[1].meta["list"] is not relu.meta["list"]
    assert str(pickle.loads(pickle.dumps(graph))) == str(graph)
    outer = fx.Graph()
    start = outer.placeholder("start")
    result = outer.graph_copy(graph, {x: start})
    outer.output(result)
    assert names(outer) == ["start", "relu", "add", "output"]
    long = fx.Graph()
    node = long.placeholder("x")
    for _ in range(3000):  # no recursion along the nodes
        node = long.call_function(operator.neg, (node,))
    long.output(node)
    assert len(copy.deepcopy(long).nodes) == len(pickle.loads(pickle.dumps(long)).nodes) == 3002
    alone = copy.deepcopy(relu)
    assert alone.graph is not graph and str(alone.graph) == str(graph) and alone.args[0].graph is alone.graph


def test_finding() -> None:
    graph, x, relu, total = small()
    assert graph.find_nodes(op="call_function", target=taeda.relu) == [relu]
    assert graph.find_nodes(op="call_function") == [relu] and graph.find_nodes(op="call_method", target="sub") == []
    assert graph.find_nodes(op="output") == [graph.output_node()]


@pytest.mark.parametrize(
    ("build", "error", "says"),
    [
        (lambda g, x: g.create_node("call", "f"), AssertionError, "op must be one of"),
        (lambda g, x: (g.call_function(taeda.relu, (small()[1],)), g.lint()), RuntimeError, "is not in the graph"),
        (lambda g, x: g.call_function("relu", (x,)), ValueError, "callable"),
        (lambda g, x: g.call_method(taeda.relu, (x,)), ValueError, "str"),
        (lambda g, x: x.prepend(small()[1]), AssertionError, "another graph"),
        (lambda g, x: map_arg(x, 3), TypeError, "callable"),
    ],
)
def test_what_is_refused(build: Any, error: type[Exception], says: str) -> None:
    graph, x, *_ = small()
    with pytest.raises(error, match=says):
        build(graph, x)


def test_lint_asks_the_owner() -> None:
    graph = fx.Graph(owning_module=nn.Module())
    graph.call_module("inner.layer")
    with pytest.raises(RuntimeError, match="no inner in Module"):
        graph.lint()


def test_arguments_are_immutable() -> None:
    node = fx.Graph().call_function(max, ([1, 2],), {"key": {"a": 1}})
    items, mapping = node.args[0], node.kwargs["key"]
    assert type(items) is immutable_list and type(mapping) is immutable_dict and items == [1, 2]
    changes = [
        lambda: items.append(1), lambda: items.__setitem__(0, 1), lambda: items.sort(), lambda: mapping.update(a=2),
        lambda: mapping.pop("a"), lambda: node.kwargs.__setitem__("key", 1), lambda: items.__iadd__([1]),
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(TypeError, match="update_arg"):
            change()
    assert pickle.loads(pickle.dumps((items, mapping))) == ([1, 2], {"a": 1}) and hash(items) == hash((1, 2))
    assert taeda.utils._pytree.tree_map(lambda v: v + 1, items) == [2, 3]


def test_map_aggregate() -> None:
    Pair = namedtuple("Pair", "x y")
    nested = {"a": [1, (2, slice(3, None))], "b": Pair(4, 5)}
    mapped = map_aggregate(nested, lambda leaf: None if leaf is None else leaf * 2)
    assert mapped == {"a": [2, (4, slice(6, None))], "b": Pair(8, 10)} and type(mapped["b"]) is Pair


def test_constants_in_code() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    values = (float("inf"), -1.5, 1j, "it's", b"b", ..., None, range(3), taeda.float32, taeda.device("cpu"), float,
              taeda.channels_last, slice(x, None, 2), {"k": [x]}, (x,))  # fmt: skip
    graph.output((graph.call_function(operator.pow, (-2, x)), *values))
    result = fx.GraphModule({}, graph)(2)
    assert result[0] == 4 and result[1:] == (*values[:-3], slice(2, None, 2), {"k": [2]}, (2,))


def test_normalized_arguments() -> None:
    graph, x, *_ = small()
    call = graph.call_function(nn.functional.dropout, (x, 0.25))
    everything = {"input": x, "p": 0.25, "training": True, "inplace": False}
    assert call.normalized_arguments(nn.Module(), normalize_to_only_use_kwargs=True) == ((), everything)
    layer = graph.call_module("0", (x,))
    assert (
        layer.normalized_arguments(nn.Sequential(nn.ReLU())) == ((x,), {})
        and x.normalized_arguments(nn.Module()) is None
    )


def test_nodes_compare_by_their_places() -> None:
    graph = fx.symbolic_trace(lambda x: taeda.sin(x).cos()).graph
    first, *_, last = graph.nodes
    assert first < last and last > first and first <= first and last >= first and not last < first
    assert sorted(reversed(list(graph.nodes))) == list(graph.nodes)
