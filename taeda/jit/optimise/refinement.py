"""Numbers that a condition tells: behind ``if n != 4: raise`` an ``n`` is 4, and so is what ``len(x)`` gave."""

from __future__ import annotations

from typing import NamedTuple

from taeda.jit.ir import Block, Graph, Node, Value
from taeda.jit.optimise.aliases import Aliases, aliases_of
from taeda.jit.optimise.branches import known_result

Known = dict[Value, int]  # an integer, or a list that nobody changes: its length


class _Tells(NamedTuple):
    """What follows where a condition holds, and where it does not."""

    true: Known
    false: Known


def refine_integers(graph: Graph) -> bool:
    """Puts constants in place of integers where a condition has told what they are. Whether it changed the graph."""
    return _Refiner(graph, None).run()


def refine_list_lengths(graph: Graph) -> bool:
    """Puts constants in place of ``aten::len`` of lists that nobody changes, where a condition has told what it is.
    Whether it changed the graph."""
    return _Refiner(graph, aliases_of(graph)).run()


class _Refiner:
    """One walk over a graph. With ``aliases`` it looks for lengths, without for integers."""

    def __init__(self, graph: Graph, aliases: Aliases | None) -> None:
        self.graph, self.aliases, self.changed = graph, aliases, False

    def run(self) -> bool:
        self.block(self.graph, {})
        return self.changed

    def block(self, block: Block, known: Known) -> tuple[Known, bool]:
        """What is known at its end, and whether that is reached."""
        known = dict(known)
        for node in list(block.nodes()):
            self.replace(node, known)
            if node.kind() == "prim::RaiseException":
                return known, False
            if node.kind() == "prim::If":
                known.update(self.branch(node, known))
            else:
                for inner in node.blocks():
                    self.block(inner, known)
        self.replace(block.returnNode(), known)
        return known, True

    def branch(self, node: Node, known: Known) -> Known:
        """What is known behind a branch: what both blocks know that end."""
        tells = self.tells(node.inputsAt(0))
        first, second = node.blocks()
        after = [self.block(first, known | tells.true), self.block(second, known | tells.false)]
        self.merge(node, first, second, tells)
        ends = [found for found, goes_on in after if goes_on]
        if len(ends) == 1:
            return ends[0]
        return {v: n for v, n in ends[0].items() if ends[1].get(v) == n} if ends else {}

    def merge(self, node: Node, first: Block, second: Block, tells: _Tells) -> None:
        """``1 if x == 1 else x`` is ``x``."""
        results = zip(node._outputs, first.returnNode()._inputs, second.returnNode()._inputs, strict=True)
        for output, a, b in results:
            for value, constant, known in ((b, a, tells.true), (a, b, tells.false)):
                held = constant.toIValue()
                if self.aliases is None and type(held) is int and known.get(value) == held and output._users:
                    output.replaceAllUsesWith(value)
                    self.changed = True

    def replace(self, node: Node, known: Known) -> None:
        if self.aliases is None:
            for i, value in enumerate(node._inputs):
                if value in known:
                    node.replaceInput(i, self.constant(node, known[value]))
        elif node.kind() == "aten::len" and node.inputsAt(0) in known and node.hasUses():
            node.output().replaceAllUsesWith(self.constant(node, known[node.inputsAt(0)]))

    def constant(self, node: Node, value: int) -> Value:
        self.changed = True
        with self.graph.insert_point_guard(node):
            return self.graph.insertConstant(value)

    def tells(self, condition: Value) -> _Tells:
        node = condition.node()
        if node.kind() == "aten::__not__":
            inner = self.tells(node.inputsAt(0))
            return _Tells(inner.false, inner.true)
        if node.kind() in ("aten::eq", "aten::ne"):
            known = self.comparison(node)
            return _Tells(known, {}) if node.kind() == "aten::eq" else _Tells({}, known)
        return self.chosen(node, condition) if node.kind() == "prim::If" else _Tells({}, {})

    def comparison(self, node: Node) -> Known:
        left, right = node._inputs
        if left.node().kind() == "prim::Constant":
            left, right = right, left
        number, source = right.toIValue(), left.node()
        if isinstance(number, bool):  # a condition that is compared with one
            inner = self.tells(left)
            return inner.true if number else inner.false
        if type(number) is not int or left.static_type.kind() != "IntType":
            return {}
        if self.aliases is None:
            return {left: number}
        if source.kind() != "aten::len" or source.inputsAt(0).static_type.kind() != "ListType":
            return {}
        return {} if self.aliases.has_writers(source.inputsAt(0)) else {source.inputsAt(0): number}

    def chosen(self, node: Node, condition: Value) -> _Tells:
        """A condition that a branch gives, as ``a and b`` and ``a or b`` do."""
        outer = self.tells(node.inputsAt(0))
        results = [block.returnNode().inputsAt(condition.offset()) for block in node.blocks()]
        true: Known = {}
        false: Known = {}
        for place, here in ((0, outer.false), (1, outer.true)):
            constant, inner = known_result(node, place, condition.offset()), self.tells(results[1 - place])
            if constant is True:  # where it is false the other block ran
                false = false | here | inner.false
            elif constant is False:
                true = true | here | inner.true
        return _Tells(true, false)
