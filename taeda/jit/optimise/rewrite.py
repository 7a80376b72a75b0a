"""Patterns: what looks like one graph becomes another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from taeda.jit.ir import Graph, Node, Value, parse_ir

Match = dict[Value, Value]  # the pattern's values, and the graph's


def rewrite(graph: Graph, pattern: str, replacement: str, names: Sequence[tuple[str, str]] = (),
            accept: Callable[[dict[str, Value]], bool] = lambda found: True) -> bool:  # fmt: skip
    """Puts copies of ``replacement`` in place of what looks like ``pattern``. Whether there was anything.

    Args:
        graph: the graph.
        pattern: the text of a graph without blocks. Its inputs stand for any values; nodes match by kind and
            attributes, and constants by value. ``match::module[name="Conv2d"](%self)``
            is an attribute that is such a module.
        replacement: the text of a graph with as many inputs and outputs.
        names: pairs of a value of the replacement and one of the pattern, whose place in the source it is given;
            others have none.
        accept: whether to replace a match, by the pattern's names.

    Raises:
        RuntimeError: the texts are no graphs, or do not fit together.
    """
    wanted, given = parse_ir(pattern), parse_ir(replacement)
    sizes = [(len(list(g.inputs())), len(list(g.outputs()))) for g in (wanted, given)]
    if sizes[0] != sizes[1]:
        raise RuntimeError(f"rewrite: the pattern takes and gives {sizes[0]} values, the replacement {sizes[1]}")
    places = dict(names)
    changed = False
    for node in list(graph.all_nodes()):
        found = _match(wanted, node) if node._block is not None else None
        if found is not None and accept({value.debugName(): mine for value, mine in found.items()}):
            _replace(graph, wanted, given, found, places)
            changed = True
    return changed


def _match(wanted: Graph, node: Node) -> Match | None:
    """The values of a match whose first result the node gives."""
    results = list(wanted.outputs())
    last = results[0].node()
    if last.kind() != node.kind() or last.outputsSize() != node.outputsSize():
        return None
    found: Match = {}
    if not all(_equal(a, b, found, node) for a, b in zip(last._outputs, node._outputs, strict=True)):
        return None
    if any(result not in found for result in results):
        return None
    return found if _is_closed(wanted, found, set(results)) else None


def _equal(pattern: Value, mine: Value, found: Match, last: Node) -> bool:
    if pattern in found:
        return found[pattern] is mine
    theirs, node = pattern.node(), mine.node()
    if theirs.kind() == "prim::Param":
        found[pattern] = mine
        return True
    if not _same_step(theirs, node) or (node._block is not last._block and theirs.kind() != "prim::Constant"):
        return False
    found.update(zip(theirs._outputs, node._outputs, strict=True))
    return all(_equal(a, b, found, last) for a, b in zip(theirs._inputs, node._inputs, strict=True))


def _same_step(theirs: Node, node: Node) -> bool:
    sizes = (theirs.inputsSize(), theirs.outputsSize()) == (node.inputsSize(), node.outputsSize())
    if not sizes or node._blocks:
        return False
    if theirs.kind() == "match::module":
        return node.kind() == "prim::GetAttr" and _class_of(node.output()).endswith("." + theirs.s("name"))
    if theirs.kind() != node.kind():
        return False
    if theirs.kind() == "prim::Constant":
        return bool(theirs.constant() == node.constant())
    return all(
        node.hasAttribute(name) and node.attribute(name) == theirs.attribute(name) for name in theirs.attributeNames()
    )


def _class_of(value: Value) -> str:
    return str(value.static_type)


def _is_closed(wanted: Graph, found: Match, results: set[Value]) -> bool:
    """Whether nobody outside needs what is between, so that it may go."""
    nodes = {value.node() for pattern, value in found.items() if pattern.node().kind() != "prim::Param"}
    return all(
        user in nodes
        for pattern, value in found.items()
        if pattern not in results and pattern.node().kind() not in ("prim::Param", "prim::Constant", "match::module")
        for user in value._users
    )


def _replace(graph: Graph, wanted: Graph, given: Graph, found: Match, places: dict[str, str]) -> None:
    by_name = {pattern.debugName(): value for pattern, value in found.items()}
    last = found[next(wanted.outputs())].node()
    values: dict[Value, Value] = {a: found[b] for a, b in zip(given.inputs(), wanted.inputs(), strict=True)}
    with graph.insert_point_guard(last):
        for node in given.nodes():
            copy = graph.insertNode(graph.createClone(node, lambda v: values[v]))
            values.update(zip(node._outputs, copy._outputs, strict=True))
            named = [by_name[places[v.debugName()]] for v in node._outputs if v.debugName() in places]
            if named:
                copy.copyMetadata(named[0].node())
    for pattern, mine in zip(wanted.outputs(), given.outputs(), strict=True):
        new = values[mine]
        if mine.node().kind() != "prim::Param":
            new.setTypeAs(found[pattern])
        found[pattern].replaceAllUsesWith(new)
    for pattern in reversed([v for node in wanted.nodes() for v in node._outputs]):
        node = found[pattern].node()
        if node._block is not None and not node.hasUses():
            node.destroy()


LINEAR = """graph(%x, %w, %bias):
  %t = aten::t(%w)
  %y = aten::{product}(%x, %t)
  %one : int = prim::Constant[value=1]()
  %z = aten::{add}(%y, %bias, %one)
  return (%z)"""


def fuse_linear(graph: Graph) -> bool:
    """Products with a transposed matrix become ``aten::linear``. Whether there were any."""
    made = """graph(%x, %w, %bias):
      %z = aten::linear(%x, %w, %bias)
      return (%z)"""
    same = [("z", "y")]
    changed = False
    for product in ("matmul", "mm"):
        for add in ("add_", "add"):
            changed |= rewrite(graph, LINEAR.format(product=product, add=add), made, same, _is_row)
        bare = f"""graph(%x, %w):
          %t = aten::t(%w)
          %z = aten::{product}(%x, %t)
          return (%z)"""
        none = """graph(%x, %w):
          %n : NoneType = prim::Constant()
          %z = aten::linear(%x, %w, %n)
          return (%z)"""
        changed |= rewrite(graph, bare, none, [("z", "z")])
    return changed


def _is_row(found: dict[str, Value]) -> bool:
    """Whether what is added may be a bias: of one dimension."""
    bias = found["bias"]
    held: Any = bias.toIValue()
    sizes = bias.facts.sizes if bias.facts is not None else None if held is None else tuple(held.shape)
    return sizes is None or len(sizes) == 1


def fuse_add_relu(graph: Graph) -> bool:
    """Sums of which only the positive part is used become ``aten::_add_relu``. Whether there were any."""
    changed = False
    for relu in ("relu", "relu_"):
        for extra in ("", ", %out"):
            head = f"graph(%a, %b, %alpha{extra}):"
            pattern = f"""{head}
              %s = aten::add(%a, %b, %alpha{extra})
              %r = aten::{relu}(%s)
              return (%r)"""
            new = f"""{head}
              %r = aten::_add_relu(%a, %b, %alpha{extra})
              return (%r)"""
            changed |= rewrite(graph, pattern, new, accept=_are_tensors)
    return changed


def _are_tensors(found: dict[str, Value]) -> bool:
    return all(found[name].static_type.kind() == "TensorType" for name in ("a", "b"))


def decompose_addmm(graph: Graph) -> bool:
    """``addmm`` with factors 1 becomes a product and a sum. Whether there were any."""
    changed = False
    for node in graph.findAllNodes("aten::addmm"):
        if any(value.toIValue() != 1 for value in node._inputs[3:]):
            continue
        with graph.insert_point_guard(node):
            product = graph.insert("aten::mm", node._inputs[1:3])
            total = graph.insert("aten::add", [product, node.inputsAt(0)], {"alpha": 1})
        for made in (product, total):
            made.node().copyMetadata(node)
        node.output().replaceAllUsesWith(total.setTypeAs(node.output()))
        node.destroy()
        changed = True
    return changed
