"""Writing becomes making: an op in place on a value that nobody has seen before is an op that gives a new one."""

from __future__ import annotations

from taeda._schema.types import NoneType
from taeda.jit.ir import Graph, Node, Value
from taeda.jit.optimise.dead_code import remove_dead_code

# What an op in place is as an op that makes, where that is more than its name without the `_`.
_MADE_BY = {"aten::zero_": "aten::zeros_like"}
_LISTS = ("aten::append", "aten::insert", "aten::_set_item")


def remove_mutation(graph: Graph) -> bool:
    """Removes writes to lists and tensors. Whether it changed the graph.

    A write is removed where what it writes to was made in the same block and nothing has read it before: all who read
    it afterwards are given the new value.
    """
    dead = remove_dead_code(graph)  # what nobody needs stands in the way
    return remove_list_mutation(graph) | remove_tensor_mutation(graph) | dead


def remove_list_mutation(graph: Graph) -> bool:
    """As `remove_mutation`, of lists alone."""
    changed = False
    for node in list(graph.all_nodes()):
        if node.kind() in _LISTS:
            changed |= _rebuild(graph, node)
    return changed


def remove_tensor_mutation(graph: Graph, kinds: frozenset[str] | None = None) -> bool:
    """As `remove_mutation`, of tensors alone, and of ops of these kinds alone if any are given."""
    changed = False
    for node in list(graph.all_nodes()):
        if kinds is not None and node.kind() not in kinds:
            continue
        if node.kind().startswith("aten::") and node.kind().endswith("_") and node.inputsSize():
            changed |= _make(graph, node)
    return changed


def _is_first_use(node: Node, value: Value) -> bool:
    """Whether a value comes from the node's block and the node is the first to use it."""
    users = value._users
    return (
        value.node()._block is node._block
        and users[node] == 1
        and all(user is node or user.isAfter(node) for user in users)
    )


def _rebuild(graph: Graph, node: Node) -> bool:
    """The list is made where it was written to."""
    given = node.inputsAt(0)
    made = given.node()
    if made.kind() != "prim::ListConstruct" or not _is_first_use(node, given):
        return False
    items = list(made._inputs)
    if node.kind() == "aten::append":
        items.append(node.inputsAt(1))
    else:
        place, item = node.inputsAt(1).toIValue(), node.inputsAt(2)
        if type(place) is not int:
            return False
        if node.kind() == "aten::insert":
            items.insert(place, item)
        elif -len(items) <= place < len(items):
            items[place] = item
        else:
            return False  # left to raise
    readers = [user for user in given._users if user is not node]
    with graph.insert_point_guard(node):
        fresh = graph.emit("prim::ListConstruct", items, [given.static_type], node.range).output()
    _replace(node, given, readers, fresh)
    made.destroy()
    return True


def _replace(node: Node, given: Value, readers: list[Node], fresh: Value) -> None:
    """Gives those who read what was written to, and what the writing gave, the new value."""
    for output in node._outputs:
        output.replaceAllUsesWith(fresh)
    for user in readers:
        user.replaceInputWith(given, fresh)
    node.destroy()


def _make(graph: Graph, node: Node) -> bool:
    given, schema = node.inputsAt(0), node.op_schema()
    if schema is None or not _is_fresh(given) or not _is_first_use(node, given):
        return False
    if [a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write] != ["self"]:
        return False
    readers = [user for user in given._users if user is not node]
    name = _MADE_BY.get(node.kind(), node.kind()[:-1])
    with graph.insert_point_guard(node):
        try:
            if name == "aten::normal":
                fresh = _normal(graph, *node._inputs)
            else:
                fresh = graph.insert(name, node._inputs[: 1 if node.kind() in _MADE_BY else None])
        except RuntimeError:  # there is no such op
            return False
    fresh.node().range = node.range
    fresh.setTypeAs(given)
    _replace(node, given, readers, fresh)
    return True


def _normal(graph: Graph, like: Value, mean: Value, deviation: Value, generator: Value) -> Value:
    """Random numbers of the shape, dtype and device of a tensor."""
    size = graph.insert("aten::size", [like])
    named = {"dtype": graph.insert("prim::dtype", [like]), "device": graph.insert("prim::device", [like])}
    return graph.insert("aten::normal", [mean, deviation, size], {"generator": generator, **named})


def _is_fresh(value: Value) -> bool:
    """Whether a value is a tensor that was just made and that nothing else holds."""
    node = value.node()
    if node.kind() == "prim::If":
        results = [block.returnNode().inputsAt(value.offset()) for block in node.blocks()]
        return all(
            result.node()._block is block and list(result._users.values()) == [1] and _is_fresh(result)
            for result, block in zip(results, node.blocks(), strict=True)
        )
    schema = node.op_schema() if node.kind().startswith("aten::") else None
    if schema is None or value.static_type is NoneType.get():
        return False
    return all(returned.alias_info is None for returned in schema.returns)
