"""Graphs as source: the text of a function in an archive, and of ``.code``.

A value that is used once, right behind the node that makes it, stands as an expression where it is used; others are
variables. Constants stand where they are used. Text is marked with the places in the program that it comes from.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from typing import Any

from taeda.jit.files.calls import member, spell
from taeda.jit.files.literals import ConstantTable, literal, type_text
from taeda.jit.ir import Block, Graph, Node, Value
from taeda.jit.source import SourceRange

_LONG = 40  # an expression of this length, with its indentation, becomes a variable
_ENDLESS = (1 << 63) - 1
_MARK = re.compile("\x00(\\d+)\x00")
_RESERVED = frozenset([
    *keyword.kwlist, "CONSTANTS", "__torch__", "annotate", "awaitable", "bool", "complex", "device", "fork", "float",
    "getattr", "inf", "infj", "int", "isinstance", "nan", "nanj", "number", "ops", "print", "range", "setattr",
    "sorted", "str", "torch", "unchecked_cast", "uninitialized", "wait", "Tensor", "List", "Dict", "Tuple", "Optional",
    "Union", "_",
])  # fmt: skip
_NOT_IN_NAMES = re.compile(r"\W", re.ASCII)


class Names:
    """Names for the values of one function. Numbers go on from function to function of a file."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self._numbers = numbers
        self._used: set[str] = set()
        self._of: dict[Value, str] = {}

    def give(self, value: Value) -> str:
        """The value's name, which it gets if it has none."""
        if value not in self._of:
            self._of[value] = self._fresh(_base(value))
        return self._of[value]

    def share(self, value: Value, name: str) -> None:
        """Gives a value a name that others have."""
        self._of[value] = name

    def __contains__(self, value: Value) -> bool:
        return value in self._of

    def __getitem__(self, value: Value) -> str:
        return self._of[value]

    def fresh(self) -> str:
        """A name for something that is no value of the graph."""
        return self._fresh("_")

    def _fresh(self, wanted: str) -> str:
        name = wanted
        while name in self._used or name in _RESERVED:
            number = self._numbers.get(wanted, 0)
            self._numbers[wanted] = number + 1
            name = f"{wanted}{number}"
        self._used.add(name)
        return name


def _base(value: Value) -> str:
    name = value._name
    if not name:
        return "_"
    stem, dot, suffix = name.rpartition(".")
    name = _NOT_IN_NAMES.sub("_", stem if dot and suffix.isdigit() else name)
    return f"_{name}" if name[0].isdigit() else name


class Source:
    """Text with the places in the program that its parts stand for: (start, end, place) of each."""

    def __init__(self, text: str, places: list[tuple[int, SourceRange | None]]) -> None:
        self.text, self.places = text, places


class FunctionPrinter:
    """Writes one function.

    Args:
        graph: what it does.
        table: receives the constants that source cannot spell.
        level: how deep its ``def`` is indented.
        numbers: the numbers behind names that are in use.
        name_of: what a function is called in the source.
    """

    def __init__(
        self, graph: Graph, table: ConstantTable, level: int = 0, numbers: dict[str, int] | None = None,
        name_of: Callable[[Any], str] = lambda function: str(function.qualified_name),
    ) -> None:  # fmt: skip
        self._graph, self._table, self._level = graph, table, level
        self._name_of = name_of
        self._names = Names({} if numbers is None else numbers)
        self._lines: list[str] = []
        self._inline: set[Value] = set()
        self._constants: dict[Value, str] = {}
        self._pending: dict[Value, str] = {}  # expressions that are still to be used, in the order of the program
        self._ranges: list[SourceRange | None] = []
        self._marks: dict[SourceRange | None, str] = {}

    def write(self, name: str, schema: Any, is_method: bool = False) -> Source:
        """The function as ``name``, with the arguments and results of ``schema``."""
        takes = list(self._graph.inputs())
        # Archives know no parameters by keyword alone: what has a default stands behind what has none.
        needed = max((i for i, a in enumerate(schema.arguments) if not a.has_default_value()), default=-1)
        parameters = [self._parameter(v, a, i < needed or (i == 0 and is_method))
                      for i, (v, a) in enumerate(zip(takes, schema.arguments, strict=True))]  # fmt: skip
        given = ",\n    ".join(parameters)
        result = self._result_text(schema)
        self._line(f"def {name}({given}) -> {result}:")
        self._level += 1
        self._body(self._graph)
        self._return(self._graph)
        return self._finished()

    def _result_text(self, schema: Any) -> str:
        types = [type_text(a.type) for a in schema.returns]
        return types[0] if len(types) == 1 else f"Tuple[{', '.join(types) or '()'}]"

    def _parameter(self, value: Value, argument: Any, is_needed: bool) -> str:
        name = self._names.give(value)
        text = f"{name}: {type_text(value.static_type)}"
        if is_needed or not argument.has_default_value():
            return text
        return f"{text}={literal(argument.default_value, value.static_type, self._table)}"

    def _return(self, graph: Graph) -> None:
        texts = self._inputs(graph.return_node())
        self._line(f"return {texts[0] if len(texts) == 1 else '(' + ', '.join(texts) + ')'}")

    # --- Text
    def _line(self, text: str) -> None:
        self._lines.append("  " * self._level + text)

    def _marked(self, node: Node, text: str) -> str:
        mark = self._marks.get(node.range)
        if mark is None:
            mark = self._marks[node.range] = f"\x00{len(self._ranges)}\x00"
            self._ranges.append(node.range)
        return f"{mark}{text}"

    def _finished(self) -> Source:
        pieces = _MARK.split("\n".join(self._lines) + "\n")
        places: list[tuple[int, SourceRange | None]] = []
        at = len(pieces[0])
        for number, piece in zip(pieces[1::2], pieces[2::2], strict=True):
            places.append((at, self._ranges[int(number)]))
            at += len(piece)
        return Source("".join(pieces[::2]), places)

    def _is_long(self, text: str) -> bool:
        return len(text) + 2 * self._level >= _LONG and len(_MARK.sub("", text)) + 2 * self._level >= _LONG

    # --- What stands where it is used
    def _plan(self, block: Block) -> None:
        """Finds the values of a block that can stand where they are used without anything changing its place."""
        node = block.returnNode()
        while node is not block.paramNode():
            node = self._plan_inputs(node, _before(node))

    def _plan_inputs(self, node: Node, last: Node) -> Node:
        """Takes as many of the nodes that end with ``last`` into the expression of ``node`` as possible; the one
        before them."""
        if node.kind() in ("prim::Enter", "prim::Exit", *_APART):
            return last
        inputs = node._inputs
        if node.kind() == "prim::Loop":  # its count or condition, which is read behind what it carries
            inputs = [value for value in inputs[:2] if value.node().kind() != "prim::Constant"]
            inputs = inputs if len(inputs) == 1 else []
        for value in reversed(inputs):
            if value.node() is last and self._can_inline(value, node):
                self._inline.add(value)
                last = self._plan_inputs(last, _before(last))
        return last

    def _can_inline(self, value: Value, user: Node) -> bool:
        node = value.node()
        if len(node._outputs) != 1 or node._blocks or node.kind() in _ALWAYS_VARIABLES or len(value.uses()) != 1:
            return False
        if user.owningBlock() is not node.owningBlock():
            return False
        return not value._name or user.kind() == "prim::Return"

    def _use(self, value: Value) -> str:
        """The expression for a value."""
        if value in self._names:
            return self._names[value]
        if value in self._pending:
            return self._pending.pop(value)
        return self._constant(value.node())

    def _constant(self, node: Node) -> str:
        value = node.output()
        found = self._constants.get(value)
        if found is None:
            function = getattr(value.static_type, "function", None)
            text = self._name_of(function) if function is not None else None
            found = self._constants[value] = text or literal(node.constant(), value.static_type, self._table)
        return found

    def _inputs(self, node: Node) -> list[str]:
        """The expressions for what goes in. A long one becomes a variable, and so does all that is computed before it
        and not used yet, so that nothing changes its place."""
        waiting = [value for value in node._inputs if value in self._pending]
        long = [value for value in waiting if self._is_long(self._pending[value])]
        if long:
            for value in list(self._pending):
                text = self._pending.pop(value)
                self._line(f"{self._names.give(value)} = {text}")
                if value is long[-1]:
                    break
        return [self._use(value) for value in node._inputs]

    def _expression(self, node: Node) -> str:
        return self._marked(node, spell(node, self._inputs(node)))

    # --- Statements
    def _body(self, block: Block) -> None:
        self._plan(block)
        for node in block.nodes():
            if node.kind() == "prim::Constant":
                self._hoist(node)
            elif node._outputs and node._outputs[0] in self._inline:
                self._pending[node._outputs[0]] = self._expression(node)
            else:
                self._statement(node)

    def _hoist(self, node: Node) -> None:
        """Makes a variable of a constant whose text is long."""
        if node.output()._users and self._is_long(text := self._constant(node)):
            self._line(f"{self._names.give(node.output())} = {self._marked(node, text)}")

    def _statement(self, node: Node) -> None:
        special = _STATEMENTS.get(node.kind())
        if special is not None:
            special(self, node)
            return
        text = self._expression(node)
        if node._outputs:
            names = [self._names.give(value) for value in node._outputs]
            text = f"{', '.join(names)}{', ' if len(names) > 1 else ''} = {text}"
        self._line(text)

    def _if(self, node: Node) -> None:
        condition = self._inputs(node)[0]
        names = [self._names.give(value) for value in node._outputs]
        for block, head in zip(node.blocks(), (f"if {condition}:", "else:"), strict=True):
            self._line(self._marked(node, head))
            self._level += 1
            start = len(self._lines)
            self._body(block)
            self._assign(names, node._outputs, block.returnNode(), declares=head != "else:")
            if len(self._lines) == start:
                self._line("pass")
            self._level -= 1

    def _assign(self, names: list[str], targets: list[Value], returned: Node, declares: bool) -> None:
        """Assigns what a branch returns to variables, with their types where a value's says too little."""
        if not names:
            return
        texts = self._inputs(returned)
        wide = [declares and t.static_type is not v.static_type for t, v in zip(targets, returned._inputs, strict=True)]
        if not any(wide):
            self._line(f"{', '.join(names)} = {', '.join(texts)}")
            return
        for name, target, text in zip(names, targets, texts, strict=True):
            self._line(f"{name} : {type_text(target.static_type)} = {text}")

    def _loop(self, node: Node) -> None:
        body = next(node.blocks())
        counter, *carried = body.inputs()
        limit, start, *initial = node.inputs()
        names = []
        for value, output, given in zip(carried, node._outputs, initial, strict=True):
            names.append(self._names.give(value))
            self._names.share(output, names[-1])
            wide = value.static_type is not given.static_type
            self._line(f"{names[-1]}{': ' + type_text(value.static_type) if wide else ''} = {self._use(given)}")
        goes_on = body.returnNode().inputsAt(0)
        if _is_constant(start, True) and _is_constant(goes_on, True):
            head = f"for {self._names.give(counter)} in range({self._use(limit)}):"
            self._loop_body(node, body, head, names, lambda texts: texts[1:])
        elif _is_constant(limit, _ENDLESS) and not counter._users:
            condition = self._names.fresh()
            self._line(f"{condition} = {self._use(start)}")
            self._loop_body(node, body, f"while {condition}:", [condition, *names], lambda texts: texts)
        else:
            self._counted_while(node, body, names)

    def _counted_while(self, node: Node, body: Block, names: list[str]) -> None:
        """A loop that ends by a count or by a condition: the count is a variable."""
        limit, start = node.inputsAt(0), node.inputsAt(1)
        bound, place, condition = self._use(limit), self._names.give(next(body.inputs())), self._names.fresh()
        self._line(f"{place} = 0")
        self._line(f"{condition} = torch.__and__(torch.gt({bound}, 0), {self._use(start)})")

        def advance(texts: list[str]) -> list[str]:
            following = self._names.fresh()
            self._line(f"{following} = torch.add({place}, 1)")
            return [f"torch.__and__(torch.lt({following}, {bound}), {texts[0]})", following, *texts[1:]]

        self._loop_body(node, body, f"while {condition}:", [condition, place, *names], advance)

    def _loop_body(self, node: Node, body: Block, head: str, names: list[str],
                   next_values: Callable[[list[str]], list[str]]) -> None:  # fmt: skip
        self._line(self._marked(node, head))
        self._level += 1
        start = len(self._lines)
        self._body(body)
        texts = next_values(self._inputs(body.returnNode()))
        if names:
            self._line(f"{', '.join(names)} = {', '.join(texts)}")
        if len(self._lines) == start:
            self._line("pass")
        self._level -= 1

    def _unpack(self, node: Node) -> None:
        names = "".join(f"{self._names.give(value)}, " for value in node._outputs)
        self._line(f"{names}= {self._marked(node, self._inputs(node)[0])}")

    def _container_item(self, node: Node) -> None:
        """A module by an index that the program computes: its type is said, since nothing else says it."""
        output = node.output()
        name = self._names.give(output)
        self._line(f"{name} : {type_text(output.static_type)} = {self._expression(node)}")

    def _set_attribute(self, node: Node) -> None:
        owner, value = self._inputs(node)
        name = node.s("name")
        target = member(owner, name)
        text = f"{target} = {value}" if target.endswith(f".{name}") else f'setattr({owner}, "{name}", {value})'
        self._line(self._marked(node, text))

    def _raise(self, node: Node) -> None:
        inputs = self._inputs(node)
        if len(inputs) > 1 and inputs[1] == "None":
            inputs = inputs[:1]
        self._line(self._marked(node, f"ops.prim.RaiseException({', '.join(inputs)})"))

    def _enter(self, node: Node) -> None:
        output = node._outputs[0] if node._outputs else None
        named = f" as {self._names.give(output)}" if output is not None and output._users else ""
        self._line(self._marked(node, f"with {self._inputs(node)[0]}{named}:"))
        self._level += 1
        self._entered = len(self._lines)

    def _exit(self, node: Node) -> None:
        if self._lines[-1].lstrip().startswith("with ") and self._lines[-1].endswith(":"):
            self._line("pass")
        self._level -= 1

    def _apart(self, node: Node) -> None:
        inner: Graph = node.attribute("Subgraph")
        function, called = _APART[node.kind()]
        name = self._names.fresh().replace("_", function, 1)
        self._line(f"def {name}():")
        self._level += 1
        for theirs, mine in zip(inner.inputs(), node.inputs(), strict=True):
            self._names.share(theirs, self._use(mine))
        self._body(inner)
        self._return(inner)
        self._level -= 1
        self._line(f"{self._names.give(node.output())} = {self._marked(node, f'{called}({name})')}")


# Calls that are graphs of their own: the function's name, and what is called with it.
_APART = {
    "prim::fork": ("__forked_function", "fork"), "prim::awaitable": ("__awaitable_function", "awaitable"),
}  # fmt: skip
_ALWAYS_VARIABLES = frozenset(
    [
        "prim::Param",
        "prim::Enter",
        *_APART,
        "prim::Loop",
        "prim::If",
        "prim::TupleUnpack",
        "prim::ListUnpack",
        "prim::ModuleContainerIndex",
    ]
)
_STATEMENTS: dict[str, Any] = {
    "prim::If": FunctionPrinter._if,
    "prim::Loop": FunctionPrinter._loop,
    "prim::TupleUnpack": FunctionPrinter._unpack,
    "prim::ListUnpack": FunctionPrinter._unpack,
    "prim::SetAttr": FunctionPrinter._set_attribute,
    "prim::ModuleContainerIndex": FunctionPrinter._container_item,
    "prim::RaiseException": FunctionPrinter._raise,
    "prim::Enter": FunctionPrinter._enter,
    "prim::Exit": FunctionPrinter._exit,
    "prim::fork": FunctionPrinter._apart,
    "prim::awaitable": FunctionPrinter._apart,
}


def _before(node: Node) -> Node:
    """The node before it that is no constant."""
    node = node.prev()
    while node.kind() == "prim::Constant":
        node = node.prev()
    return node


def _is_constant(value: Value, wanted: Any) -> bool:
    node = value.node()
    if node.kind() != "prim::Constant":
        return False
    held = node.constant()
    return type(held) is type(wanted) and held == wanted


class ConstantMap:
    """The constants that a source names: ``const_mapping["c0"]`` is ``CONSTANTS.c0``."""

    def __init__(self, table: ConstantTable) -> None:
        self.const_mapping: dict[str, Any] = table.named()

    def __getitem__(self, name: str) -> Any:
        return self.const_mapping[name]

    def __getattr__(self, name: str) -> Any:
        table = self.__dict__.get("const_mapping", {})
        if name not in table:
            raise AttributeError(f"there is no constant '{name}'")
        return table[name]


def source_of(name: str, graph: Graph, schema: Any, is_method: bool = False) -> tuple[str, ConstantMap]:
    """A function as source, and the constants that it names."""
    table = ConstantTable()
    source = FunctionPrinter(graph, table).write(name, schema, is_method)
    return source.text, ConstantMap(table)
