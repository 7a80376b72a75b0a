"""Branches whose condition is known, loops that run a known number of times, and tuples that are taken apart again."""

from __future__ import annotations

from collections.abc import Sequence

from taeda.jit.ir import Block, Graph, Node, Value

_MOST_COPIES = 8  # times that a body is copied
_MOST_NODES = 256  # that all copies may have


def fold_branches(graph: Graph) -> bool:
    """Puts the branch that will run in place of each ``prim::If`` whose condition is constant, and removes loops that
    never run; what both branches agree on is taken from none. Whether it changed the graph."""
    changed = False
    for node in list(graph.all_nodes()):
        if node._block is None or not _stands(node):
            continue
        if node.kind() == "prim::If":
            condition = node.inputsAt(0).toIValue()
            if isinstance(condition, bool):
                block = list(node.blocks())[0 if condition else 1]
                _replace(node, _splice(node, block, []))
                changed = True
            else:
                changed |= _agree(node)
        elif node.kind() == "prim::Loop" and _never_runs(node):
            _replace(node, node._inputs[2:])
            changed = True
    return changed


def _agree(branch: Node) -> bool:
    """Gives users what both blocks give alike: one value from outside, or equal constants. Whether there was any."""
    changed = False
    for i, output in enumerate(branch._outputs):
        same = _same(branch, i) if output._users else None
        if same is not None and same.static_type.isSubtypeOf(output.static_type):
            output.replaceAllUsesWith(same)
            changed = True
    return changed


def _same(branch: Node, output: int) -> Value | None:
    first, second = (block.returnNode().inputsAt(output) for block in branch.blocks())
    a, b = first.node(), second.node()
    if first is second:
        return first
    kind = first.static_type.kind()
    if kind == "BoolType" and (known := known_result(branch, 0, output)) is not None:
        if known_result(branch, 1, output) is not known:
            return None
        with branch._graph.insert_point_guard(branch):
            return branch._graph.insertConstant(known)
    if a.kind() != "prim::Constant" or b.kind() != "prim::Constant" or first.static_type is not second.static_type:
        return None
    if kind not in ("IntType", "StringType", "NoneType") or a.constant() != b.constant():
        return None
    return a._graph.createClone(a, lambda v: v).insertBefore(branch).output()


def known_result(branch: Node, place: int, output: int) -> bool | None:
    """The truth that a branch's block gives, if it is constant; the condition is one in either."""
    result = branch._blocks[place].returnNode().inputsAt(output)
    held = place == 0 if result is branch.inputsAt(0) else result.toIValue()
    return held if isinstance(held, bool) else None


def unroll_loops(graph: Graph) -> bool:
    """Puts copies of the body in place of each short loop of which it is known how often it runs. Whether it changed
    the graph."""
    changed = False
    for node in reversed(list(graph.all_nodes())):
        if node.kind() == "prim::Loop" and (count := _count(node)) is not None:
            body = next(node.blocks())
            size = sum(1 for _ in body.all_nodes())
            if count <= _MOST_COPIES and count * size <= _MOST_NODES:
                _replace(node, _copies(node, body, count))
                changed = True
    return changed


def unroll_counted_loops(graph: Graph) -> bool:
    """Lets each counted loop with a small body, and none in it, do several rounds at once; a second loop does those
    that are left. Whether there was any."""
    changed = unroll_loops(graph)
    for node in list(graph.all_nodes()):
        if node.kind() == "prim::Loop" and _is_counted(node) and not isinstance(node.inputsAt(0).toIValue(), int):
            inner = list(next(node.blocks()).all_nodes())
            if len(inner) <= _MOST_UNROLLED and all(each.kind() != "prim::Loop" for each in inner):
                _unroll(node)
                changed = True
    return changed


_MOST_UNROLLED = 32


def _is_counted(loop: Node) -> bool:
    goes_on = next(loop.blocks()).returnNode().inputsAt(0).toIValue()
    return goes_on is True and loop.inputsAt(1).toIValue() is True


def _unroll(loop: Node) -> None:
    graph, body = loop._graph, next(loop.blocks())
    with graph.insert_point_guard(loop):
        step, yes = graph.insertConstant(_MOST_COPIES), graph.insertConstant(True)
        rounds = graph.insert("aten::floordiv", [loop.inputsAt(0), step])
        done = graph.insert("aten::mul", [rounds, step])
        left = graph.insert("aten::sub", [loop.inputsAt(0), done])
        types = [value.static_type for value in loop._outputs]
        first = graph.emit("prim::Loop", [rounds, yes, *loop._inputs[2:]], types, loop.range)
    copies = first.addBlock()
    counter = copies.addInput(type=next(body.inputs()).static_type)
    carried = [copies.addInput(type=type) for type in types]
    counts = next(body.inputs()).hasUses()
    with graph.insert_point_guard(copies):
        start = graph.insert("aten::mul", [counter, step]) if counts else counter
        for i in range(_MOST_COPIES):
            number = graph.insert("aten::add", [start, i]) if counts else counter
            carried = _splice(copies.returnNode(), body, [number, *carried])[1:]
    for value in (yes, *carried):
        copies.registerOutput(value)
    for i, value in enumerate((left, loop.inputsAt(1), *first._outputs)):
        loop.replaceInput(i, value)
    counter = next(body.inputs())
    users = list(counter._users)
    if not users:
        return
    with graph.insert_point_guard(body._param._next):  # type: ignore[arg-type]
        number = graph.insert("aten::add", [counter, done])
    for user in users:
        user.replaceInputWith(counter, number)


def peel_loops(graph: Graph) -> bool:
    """Takes the first round out of each loop that begins by asking whether this is the first. Whether it changed the
    graph."""
    changed = False
    for node in list(graph.all_nodes()):
        if node.kind() == "prim::Loop" and _stands(node) and _asks_for_first(node):
            _peel(node)
            changed = True
    return changed


def _stands(node: Node) -> bool:
    """Whether it is still in the graph, with everything around it."""
    while node._block is not None:
        owner = node._block._owner
        if owner is None:
            return node._block is node._graph
        node = owner
    return False


def _splice(at: Node, block: Block, inputs: Sequence[Value]) -> list[Value]:
    """Puts a copy of a block's nodes before a node; what the block gives."""
    values = dict(zip(block.inputs(), inputs, strict=True))
    for node in block.nodes():
        copy = at._graph.createClone(node, lambda v: values.get(v, v)).insertBefore(at)
        values.update(zip(node._outputs, copy._outputs, strict=True))
    return [values.get(value, value) for value in block.outputs()]


def _replace(node: Node, values: Sequence[Value]) -> None:
    for output, value in zip(node._outputs, values, strict=True):
        output.replaceAllUsesWith(value)
    node.destroy()


def _never_runs(loop: Node) -> bool:
    limit, start = loop.inputsAt(0).toIValue(), loop.inputsAt(1).toIValue()
    return start is False or (isinstance(limit, int) and limit <= 0)


def _count(loop: Node) -> int | None:
    """How often a loop runs, if that is known."""
    goes_on = next(loop.blocks()).returnNode().inputsAt(0).toIValue()
    limit, start = loop.inputsAt(0).toIValue(), loop.inputsAt(1).toIValue()
    return max(limit, 0) if goes_on is True and start is True and isinstance(limit, int) else None


def _copies(loop: Node, body: Block, count: int) -> list[Value]:
    carried = loop._inputs[2:]
    for i in range(count):
        with loop._graph.insert_point_guard(loop):
            counter = loop._graph.insertConstant(i)
        carried = _splice(loop, body, [counter, *carried])[1:]
    return list(carried)


_QUESTIONS = ("aten::eq", "aten::ne", "aten::gt", "aten::lt", "aten::ge", "aten::le")


def _asks_for_first(loop: Node) -> bool:
    """Whether its body compares the count with 0, and the loop is sure to run: its start is True."""
    counter = next(next(loop.blocks()).inputs())
    if loop.inputsAt(1).toIValue() is not True or _count(loop) is None:
        return False
    return any(
        user.kind() in _QUESTIONS and user.inputsAt(1).toIValue() == 0 and user.inputsAt(0) is counter
        for user in counter._users
    )


def _peel(loop: Node) -> None:
    """The first round stands before the loop, which then counts from 1."""
    graph, body = loop._graph, next(loop.blocks())
    with graph.insert_point_guard(loop):
        zero, one = graph.insertConstant(0), graph.insertConstant(1)
        rest = graph.insertConstant(loop.inputsAt(0).toIValue() - 1)
    carried = _splice(loop, body, [zero, *loop._inputs[2:]])[1:]
    loop.replaceInput(0, rest)
    for i, value in enumerate(carried):
        loop.replaceInput(i + 2, value)
    counter = next(body.inputs())
    following = Node(graph, "aten::add", [counter, one])
    following.addOutput(counter.static_type)
    following.overload = "int"
    for user in list(counter._users):
        user.replaceInputWith(counter, following.output())
    body.prependNode(following)
    following.replaceInput(0, counter)


def lower_tuples(graph: Graph) -> bool:
    """Gives the users of a tuple's parts the values that it was made of. Whether it changed the graph."""
    changed = False
    for node in list(graph.all_nodes()):
        if node.kind() != "prim::TupleUnpack":
            continue
        made = node.inputsAt(0).node()
        if made.kind() == "prim::TupleConstruct" and made.inputsSize() == node.outputsSize():
            for output, value in zip(node._outputs, made._inputs, strict=True):
                output.replaceAllUsesWith(value)
            node.destroy()
            changed = True
    return changed
