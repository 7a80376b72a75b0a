"""Calls of the modules in a traced one, recorded in one row, as methods of theirs that call each other.

A method takes what its module was called with, as far as it uses that, and then what it uses beside: tensors that
another module made or holds. It gives what others use. Put in place of its calls it is the row again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, NamedTuple

from taeda import _C
from taeda._schema.types import NoneType, TensorType, Type
from taeda.jit.ir import Graph, Node, Value

MARK = "prim::TracedModuleForward"
READS = frozenset(["aten::size", "aten::stride", "aten::numel", "aten::storage_offset"])
Path = tuple[str, ...]


class ModuleCall(NamedTuple):
    """A call that was recorded.

    ``given`` are the values that it was given, with the names of parameters that are whole values; ``first`` and
    ``last`` are marks in the row.
    """

    path: Path
    scope: str
    given: Sequence[tuple[Value, str]]
    results: Sequence[Value]
    first: Node
    last: Node


class Attributes:
    """The attributes of an object of a program, and of the objects in it, as values at the beginning of a graph.

    Args:
        owner: the object.
        type_of: the type of an attribute of a class.
    """

    def __init__(self, owner: Value, type_of: Callable[[Type, str], Type]) -> None:
        self.owner, self.type_of = owner, type_of
        self.values: dict[Path, Value] = {(): owner}

    def at(self, path: Path) -> Value:
        """The attribute that stands at a path."""
        if path not in self.values:
            graph = self.owner.node().owningGraph()
            holder = self.at(path[:-1])
            node = Node(graph, "prim::GetAttr", [holder])
            node.s_("name", path[-1])
            node.addOutput(self.type_of(holder.static_type, path[-1]))
            graph.prependNode(node)
            if holder is not self.owner:
                node.moveAfter(holder.node())
            node.output().setDebugName(path[-1] if path[-1].isidentifier() else "_" + path[-1])
            self.values[path] = node.output()
        return self.values[path]


class _Part:
    """What stands between two marks: nodes and calls. ``needs`` are values and paths of attributes from outside."""

    def __init__(self, call: ModuleCall | None, first: int) -> None:
        self.call, self.first, self.last = call, first, first
        self.path: Path = call.path if call is not None else ()
        self.items: list[Node | _Part] = []
        self.needs: list[Value | Path] = []
        self.gives: list[Value] = []
        self.name = ""

    def calls(self) -> Iterator[_Part]:
        """The calls in it, the outer ones first."""
        for item in self.items:
            if isinstance(item, _Part):
                yield item
                yield from item.calls()


class Row:
    """A recorded graph with marks where calls of modules begin and end.

    Args:
        graph: what was recorded.
        calls: in it.
        attributes: the values of attributes that stand in it.
        kept: classes that the graphs need.
    """

    def __init__(self, graph: Graph, calls: Sequence[ModuleCall], attributes: Attributes, kept: Any) -> None:
        self._graph, self._attributes, self._kept = graph, attributes, kept
        self._paths = {value: path for path, value in attributes.values.items()}
        self._places: dict[Node, int] = {}
        begins = {call.first: call for call in calls}
        _read_anew(graph, begins)
        self.top = self._parts(begins)
        self._link(self.top)
        for call in calls:
            call.first.destroy()
            call.last.destroy()

    # --- What is where
    def _parts(self, begins: dict[Node, ModuleCall]) -> _Part:
        top = _Part(None, -1)
        inside = [top]
        for place, node in enumerate(self._graph.nodes()):
            self._places[node] = place
            if node.kind() != MARK:
                if not any(output in self._paths for output in node._outputs):
                    inside[-1].items.append(node)
                self._follow(node)
            elif node in begins:
                part = _Part(begins[node], place)
                inside[-1].items.append(part)
                inside.append(part)
            else:
                inside.pop().last = place
        top.last = len(self._places)
        self._places |= {self._graph.param_node(): -1, self._graph.return_node(): top.last}
        return top

    def _follow(self, node: Node) -> None:
        """What writes into an attribute gives that attribute, which is passed from none to another."""
        kind = node.kind()
        if kind.endswith("_") and not kind.endswith("__") and node._inputs and node.inputsAt(0) in self._paths:
            self._paths |= dict.fromkeys(node._outputs, self._paths[node.inputsAt(0)])

    def _is_inside(self, node: Node, part: _Part) -> bool:
        return part.first < self._places[node] < part.last

    def _link(self, part: _Part) -> None:
        """Finds what each call takes and gives, the inner ones first."""
        needs: dict[Value | Path, None] = {}
        made: list[Value] = []
        for item in part.items:
            wanted: list[Value | Path]
            if isinstance(item, _Part):
                self._link(item)
                wanted = [item.path, *item.needs]
                made += item.gives
            else:
                wanted = [self._paths.get(value, value) for value in item._inputs]
                made += item._outputs if item.kind() != "prim::Constant" else []
            needs |= dict.fromkeys(each for each in wanted if self._comes_in(each, part))
        if part.call is None:
            part.needs += list(self._graph.inputs())[1:]
            part.gives += self._graph.outputs()
            return
        order = [self._paths.get(value, value) for value, _ in part.call.given]
        given = [each for each in dict.fromkeys(order) if each in needs]
        rest = [each for each in needs if each not in given]
        part.needs = given + sorted(rest, key=lambda each: not isinstance(each, tuple))
        escaping = [value for value in made if value not in self._paths
                    and not all(self._is_inside(user, part) for user in value._users)]  # fmt: skip
        part.gives = list(dict.fromkeys([value for value in part.call.results if value in escaping] + escaping))

    def _comes_in(self, value: Value | Path, part: _Part) -> bool:
        if isinstance(value, tuple):
            return value[: len(part.path)] != part.path
        return value.node().kind() != "prim::Constant" and not self._is_inside(value.node(), part)

    def _type_at(self, path: Path) -> Type:
        return functools.reduce(self._attributes.type_of, path, self._attributes.owner.static_type)

    # --- The graphs
    def graph_of(self, part: _Part) -> Graph:
        """What a call does, with calls for the calls in it."""
        graph = Graph()
        graph.kept = self._kept
        attributes = Attributes(graph.addInput("self", self._type_at(part.path)), self._attributes.type_of)
        made: dict[Value | Path, Value] = {}
        self._take(graph, part, made)

        def value_of(key: Value | Path) -> Value:
            key = self._paths.get(key, key) if isinstance(key, Value) else key
            if key not in made and isinstance(key, tuple):
                made[key] = attributes.at(key[len(part.path) :])
            elif isinstance(key, Value) and key not in made:  # a constant, which is no argument
                made[key] = graph.insertNode(graph.createClone(key.node(), value_of)).output()
            return made[key]

        for item in part.items:
            if isinstance(item, _Part):
                results = _call(graph, item, [value_of(each) for each in (item.path, *item.needs)])
                made.update(zip(item.gives, results, strict=True))
            else:
                copy = graph.insertNode(graph.createClone(item, value_of))
                made.update(zip(item._outputs, copy._outputs, strict=True))
        graph.registerOutput(_one([value_of(value) for value in part.gives], graph))
        scope = part.call.scope if part.call is not None else ""
        for node in graph.nodes():
            node.scope = node.scope or scope
        graph.lint()
        return graph

    def _take(self, graph: Graph, part: _Part, made: dict[Value | Path, Value]) -> None:
        """The parameters."""
        names = {value: name for value, name in (part.call.given if part.call is not None else ()) if name}
        for i, need in enumerate(part.needs):
            if isinstance(need, tuple):
                made[need], name = graph.addInput("", self._type_at(need)), need[-1]
            else:
                made[need] = graph.addInput("", need.static_type)
                name = names.get(need) or need._name.partition(".")[0]
            made[need].setDebugName(name if name.isidentifier() else f"argument_{i + 1}")


def _read_anew(graph: Graph, begins: Container[Node]) -> None:
    """Has each call read the sizes that it uses, where the tensor cannot have changed: they are no arguments."""
    owners: dict[Node, Node | None] = {graph.return_node(): None}
    inside: list[Node | None] = [None]
    for node in graph.nodes():
        if node.kind() != MARK:
            owners[node] = inside[-1]
        elif node in begins:
            inside.append(node)
        else:
            inside.pop()
    for node, owner in owners.items():
        if node.kind() not in READS or any(user.kind().endswith("_") for user in node.inputsAt(0)._users):
            continue
        value = node.output()
        read = {owner: value}
        for user in list(value._users):
            if owners[user] not in read:
                copy = graph.createClone(node, lambda each: each).insertBefore(user)
                read[owners[user]] = copy.output()
            user.replaceInputWith(value, read[owners[user]])


def _call(graph: Graph, part: _Part, takes: Sequence[Value]) -> Sequence[Value]:
    """The results of a call, one by one."""
    assert part.call is not None
    types = [TensorType.get() if v.static_type.kind() == "TensorType" else v.static_type for v in part.gives]
    type = types[0] if len(types) == 1 else _C._make_type("TupleType", tuple(types)) if types else NoneType.get()
    node = graph.emit("prim::CallMethod", takes, [type], name=("s", part.name))
    node.scope = part.call.scope
    if len(types) < 2:
        return node._outputs[: len(types)]
    return graph.emit("prim::TupleUnpack", node._outputs, types)._outputs


def _one(values: Sequence[Value], graph: Graph) -> Value:
    """Several results are a tuple, and none are None."""
    if len(values) == 1:
        return values[0]
    if not values:
        return graph.insertConstant(None)
    type = _C._make_type("TupleType", tuple(value.static_type for value in values))
    return graph.emit("prim::TupleConstruct", values, [type]).output()
