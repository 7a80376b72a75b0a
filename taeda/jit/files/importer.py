"""The source in archives as graphs.

It is a small part of Python: every name is set once, or at the end of each branch or round of a loop, and every
function is called by its full name (``torch.add``, ``ops.prim.device``, ``__torch__.helper``). `Importer` reads
statements; expressions are read in ``expressions.py``.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from taeda import _C
from taeda.jit.check.classes import serves
from taeda.jit.check.types import BOOL, INT, NONE, unify
from taeda.jit.ir import Block, Graph, Value, make_constant
from taeda.jit.parse.errors import CompileError, fail
from taeda.jit.source import SourceRange

ENDLESS = (1 << 63) - 1


class Program(Protocol):
    """What the source of a function is read with. ``version`` is that of its archive."""

    version: int

    def type_of(self, tree: ast.expr) -> Any:
        """The type that an annotation says."""

    def named(self, name: str) -> Any:
        """What ``__torch__.…`` is: a type, a function, a member of an enumeration."""

    def constant(self, name: str) -> Any:
        """The value of ``CONSTANTS.name``."""

    def place(self, tree: ast.AST) -> SourceRange | None:
        """Where in the program's own files a piece of the tree comes from."""


class Unreachable(Exception):
    """What follows in the block is never run, and is not read."""


class Importer:
    """Reads one function into a graph."""

    def __init__(self, graph: Graph, program: Program) -> None:
        self.graph, self.program = graph, program
        self.names: dict[str, Any] = {}
        self.declared: dict[str, Any] = {}
        self.here: SourceRange | None = None  # the place of what is being read
        self._constants: dict[Any, Value] = {}
        self._last_constant: Any = None

    def function(self, tree: ast.FunctionDef, self_type: Any = None) -> None:
        """Reads a definition; ``self_type`` is that of its first argument if this has no annotation."""
        for argument in tree.args.args:
            type = self_type if argument.annotation is None else self.program.type_of(argument.annotation)
            if type is None:
                self.fail(argument, f"the argument '{argument.arg}' has no type")
            self.names[argument.arg] = self.graph.addInput(_free(argument.arg), type)
        try:
            self.block(tree.body)
        except Unreachable:
            self.graph.registerOutput(self._never(NONE if tree.returns is None else self.program.type_of(tree.returns)))
        if not self.graph.return_node()._inputs:
            self.graph.registerOutput(self.constant(None))

    def fail(self, tree: ast.AST, message: str) -> Any:
        """Refuses a piece of the tree."""
        fail(self.program.place(tree), f"taeda.jit.load: {message}")

    # --- Constants
    def constant(self, value: Any, type: Any = None) -> Value:
        """A constant; equal ones are one node, at the graph's beginning."""
        key = (value.__class__, repr(value), id(type)) if value.__class__ in _POOLED else id(value)
        found = self._constants.get(key)
        if found is None:
            node = make_constant(self.graph, value, type)
            node.range = self.here
            node.insertAfter(self.graph.param_node() if self._last_constant is None else self._last_constant)
            self._last_constant = node
            found = self._constants[key] = node.output()
        return found

    # --- Statements
    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Reads statements into the present block."""
        for statement in statements:
            read = _STATEMENTS.get(statement.__class__)
            if read is None:
                self.fail(statement, f"archives hold no '{statement.__class__.__name__}'")
            read(self, statement)  # type: ignore[misc]

    def value(self, tree: ast.expr, wanted: Any = None) -> Value:
        """An expression's one value."""
        from taeda.jit.files.expressions import read

        found = read(self, tree)
        if not isinstance(found, Value):
            self.fail(tree, "this is no value")
        return found

    def _never(self, type: Any) -> Value:
        """A value where the program never gets."""
        return self.graph.emit("prim::Uninitialized", [], [type], self.here).output()

    def _assign(self, statement: ast.Assign) -> None:
        target, tree = statement.targets[0], statement.value
        if isinstance(target, ast.Tuple):
            self._assign_several(target, tree)
        elif isinstance(target, ast.Name):
            self.set(target.id, self._named_value(target.id, tree), tree)
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value)
            self._set_attribute(owner, target.attr, self.value(tree), statement)
        else:
            self.fail(target, "this cannot be assigned to")

    def _named_value(self, name: str, tree: ast.expr) -> Any:
        """What a name stands for: a value, or a function, type or member that is spoken of by name."""
        from taeda.jit.files.expressions import read

        found = read(self, tree)
        if isinstance(found, list):
            self.fail(tree, f"'{name}' is given {len(found)} values")
        return found

    def set(self, name: str, value: Any, tree: ast.expr | None = None) -> None:
        """Gives a name its value and, unless that is another name's in ``tree``, the value its name."""
        self.names[name] = value
        nameless = isinstance(value, Value) and not value._name and value.node().kind() != "prim::Constant"
        if nameless and name[0] != "_" and tree.__class__ is not ast.Name:
            value.setDebugName(name)

    def _assign_several(self, target: ast.Tuple, tree: ast.expr) -> None:
        names = [each.id for each in target.elts if isinstance(each, ast.Name)]
        if len(names) != len(target.elts):
            self.fail(target, "only names are assigned to together")
        if isinstance(tree, ast.Tuple) and len(tree.elts) == len(names):
            values = [self._named_value(name, each) for name, each in zip(names, tree.elts, strict=True)]
        else:
            values = self._unpacked(tree, len(names))
        trees = tree.elts if isinstance(tree, ast.Tuple) else [None] * len(names)
        for name, value, each in zip(names, values, trees, strict=True):
            self.set(name, value, each)

    def _unpacked(self, tree: ast.expr, count: int) -> list[Value]:
        from taeda.jit.files.expressions import read

        found = read(self, tree)
        if isinstance(found, list):
            values = found
        elif isinstance(found, Value) and found.static_type.kind() == "TupleType":
            types = found.static_type.containedTypes()
            values = list(self.graph.emit("prim::TupleUnpack", [found], types, self.here).outputs())
        elif isinstance(found, Value) and found.static_type.kind() == "ListType":
            types = found.static_type.containedTypes() * count
            values = list(self.graph.emit("prim::ListUnpack", [found], types, self.here).outputs())
        else:
            values = []
        if len(values) != count:
            self.fail(tree, f"this gives {len(values)} values for {count} names")
        return values

    def _declare(self, statement: ast.AnnAssign) -> None:
        if not isinstance(statement.target, ast.Name) or statement.value is None:
            self.fail(statement, "only a name with a value is declared")
            return
        type = self.declared[statement.target.id] = self.program.type_of(statement.annotation)
        value = self._named_value(statement.target.id, statement.value)
        if isinstance(value, Value) and value.node().kind() == "prim::ModuleContainerIndex":
            _serve_all(value.node().inputsAt(0).static_type, type)
            value.setType(type)
        self.set(statement.target.id, value)

    def _set_attribute(self, owner: Value, name: str, value: Value, tree: ast.AST) -> None:
        held = self.attribute_type(owner, name, tree)
        if not value.static_type.isSubtypeOf(held):
            self.fail(tree, f"the attribute '{name}' is a {held}, not a {value.static_type}")
        self.graph.emit("prim::SetAttr", [owner, value], [], self.here, name=("s", name))

    def attribute_type(self, owner: Value, name: str, tree: ast.AST) -> Any:
        """The type of an attribute of an object."""
        type = owner.static_type
        for attribute, held, _ in _C._class_attributes(type) if type.kind() == "ClassType" else ():
            if attribute == name:
                return held
        return self.fail(tree, f"{type} has no attribute '{name}'")

    def _expression(self, statement: ast.Expr) -> None:
        from taeda.jit.files.expressions import read

        call = statement.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "setattr":
            owner, name, value = call.args
            if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
                self.fail(name, "an attribute's name is a text")
            self._set_attribute(self.value(owner), name.value, self.value(value), statement)  # type: ignore[attr-defined]
        elif not isinstance(call, ast.Constant):
            read(self, call)

    def _return(self, statement: ast.Return) -> None:
        if self.graph.return_node()._inputs or self.graph.insertPoint() is not self.graph.return_node():
            self.fail(statement, "a function returns once, at its end")
        self.graph.registerOutput(self.constant(None) if statement.value is None else self.value(statement.value))

    # --- Blocks
    def _inside(self, block: Block, work: Callable[[], Any]) -> dict[str, Any] | None:
        """Does ``work`` in a block; the names that it set, None if it never comes to its end."""
        outer = self.names
        self.names = self._copied_names()
        try:
            with self.graph.insert_point_guard(block):
                work()
            return {name: value for name, value in self.names.items() if outer.get(name) is not value}
        except Unreachable:
            return None
        finally:
            self.names = outer

    def _copied_names(self) -> dict[str, Any]:
        return dict(self.names)

    def _if(self, statement: ast.If) -> None:
        condition = self._truth(statement.test)
        node = self.graph.emit("prim::If", [condition], [], self.here)
        blocks = [node.addBlock(), node.addBlock()]
        branches = (statement.body, statement.orelse)
        ways = [
            self._inside(block, functools.partial(self.block, s)) for block, s in zip(blocks, branches, strict=True)
        ]
        if ways[0] is None and ways[1] is None:
            raise Unreachable
        for name in dict.fromkeys(name for way in ways if way is not None for name in way):
            sides: list[Any] = [None if way is None else way.get(name, self.names.get(name)) for way in ways]
            if None in ways:
                found = sides[ways[0] is None]
                if not isinstance(found, Value):
                    self.names[name] = found
                    continue
                with self.graph.insert_point_guard(blocks[ways[1] is None]):
                    sides[ways[1] is None] = self._never(self.declared.get(name) or found.static_type)
            if not all(isinstance(side, Value) for side in sides):
                continue
            type = self.declared.get(name) or unify(sides[0].static_type, sides[1].static_type)
            if type is None or not all(side.static_type.isSubtypeOf(type) for side in sides):
                continue  # two names that happen to be the same
            for block, side in zip(blocks, sides, strict=True):
                block.registerOutput(side)
            self.names[name] = node.addOutput(type)
            if name[0] != "_":
                self.names[name].setDebugName(name)

    def _truth(self, tree: ast.expr) -> Value:
        value = self.value(tree)
        if value.static_type is not BOOL:
            self.fail(tree, f"a condition is a bool, not a {value.static_type}")
        return value

    def _for(self, statement: ast.For) -> None:
        call = statement.iter
        simple = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if not simple or len(call.args) != 1 or not isinstance(statement.target, ast.Name):  # type: ignore[attr-defined]
            self.fail(statement, "loops are 'for name in range(count)'")
        count = self.value(call.args[0])  # type: ignore[attr-defined]
        if count.static_type is not INT:
            self.fail(statement, f"a count is an int, not a {count.static_type}")
        true = self.constant(True)
        self._loop(statement, count, true, statement.target.id, lambda: true)  # type: ignore[attr-defined]

    def _while(self, statement: ast.While) -> None:
        start = self._truth(statement.test)
        test = statement.test
        self._loop(statement, self.constant(ENDLESS), start, None, lambda: self._truth(test))

    def _loop(self, statement: ast.For | ast.While, limit: Value, start: Value, counter: str | None,
              goes_on: Callable[[], Value]) -> None:  # fmt: skip
        test = statement.test.id if isinstance(statement, ast.While) and isinstance(statement.test, ast.Name) else None
        carried = [
            n for n in _assigned(statement.body) if isinstance(self.names.get(n), Value) and n not in (test, counter)
        ]
        given = [self.names[name] for name in carried]
        node = self.graph.emit("prim::Loop", [limit, start, *given], [], self.here)
        body = node.addBlock()
        index = body.addInput(type=INT)
        types = [self.declared.get(name, value.static_type) for name, value in zip(carried, given, strict=True)]
        again: list[Value] = []

        def work() -> None:
            if counter is not None:
                self.set(counter, index)
            for name, type in zip(carried, types, strict=True):
                self.names[name] = body.addInput("" if name[0] == "_" else _free(name), type)
            self.block(statement.body)
            again.append(goes_on())
            again.extend(self.names[name] for name in carried)

        if self._inside(body, work) is None:
            with self.graph.insert_point_guard(body):
                again = [self.constant(False), *(self._never(type) for type in types)]
        for i, value in enumerate(again):
            body.registerOutput(value)
            if i and not value.static_type.isSubtypeOf(types[i - 1]):
                self.fail(statement, f"'{carried[i - 1]}' is a {types[i - 1]}, and a {value.static_type} in the loop")
        for name, type in zip(carried, types, strict=True):
            self.names[name] = node.addOutput(type)
            if name[0] != "_":
                self.names[name].setDebugName(name)
        if test is not None:
            del self.names[test]

    def _with(self, statement: ast.With) -> None:
        item = statement.items[0]
        owner = self.value(item.context_expr)
        entered = self.graph.emit("prim::Enter", [owner], [self._entered_type(owner)], self.here).output()
        if isinstance(item.optional_vars, ast.Name):
            self.set(item.optional_vars.id, entered)
        self.block(statement.body)
        self.graph.emit("prim::Exit", [owner], [NONE], self.here)

    def _entered_type(self, owner: Value) -> Any:
        from taeda.jit.files.expressions import method_schema

        schema = method_schema(owner.static_type, "__enter__")
        return schema.returns[0].type if schema is not None and schema.returns else NONE

    def _closure(self, tree: ast.FunctionDef) -> None:
        self.names[tree.name] = tree

    def apart(self, kind: str, type_name: str, name: str, tree: ast.AST) -> Value:
        """A call of a function defined inside, that runs beside the rest or when somebody waits for it."""
        inner = self.names.get(name)
        if not isinstance(inner, ast.FunctionDef):
            return self.fail(tree, f"'{name}' is no function that is defined here")
        graph = Graph()
        reader = _Inner(graph, self)
        reader.block(inner.body)
        outputs = list(graph.outputs())
        result = outputs[0].static_type if outputs else NONE
        node = self.graph.emit(kind, reader.captured, [_C._make_type(type_name, [result])], self.here,
                               Subgraph=("g", graph))  # fmt: skip
        return node.output()

    def __call__(self, tree: ast.AST) -> None:
        """Remembers what is being read."""
        self.here = self.program.place(tree)


class _Inner(Importer):
    """Reads a function that is defined in another, whose names it takes as arguments."""

    def __init__(self, graph: Graph, outer: Importer) -> None:
        super().__init__(graph, outer.program)
        self._outer = outer
        self.captured: list[Value] = []
        self.names = _Captured(self, outer)

    def _copied_names(self) -> dict[str, Any]:
        return _Captured(self, self._outer, self.names)


class _Captured(dict[str, Any]):
    def __init__(self, inner: _Inner, outer: Importer, known: dict[str, Any] | None = None) -> None:
        super().__init__(known or {})
        self._inner, self._outer = inner, outer

    def __missing__(self, name: str) -> Any:
        found = self._outer.names[name]
        if isinstance(found, Value):
            if found.node().kind() == "prim::Constant":
                found = self._inner.constant(found.node().constant(), found.static_type)
            else:
                self._inner.captured.append(found)
                found = self._inner.graph.addInput(type=found.static_type).copyMetadata(found)
        self[name] = found
        return found

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default


def _serve_all(container: Any, interface: Any) -> None:
    """The modules of a container are called by the interface's methods."""
    for _, held, _ in _C._class_attributes(container):
        if held.kind() == "ClassType":
            serves(held, interface)


_POOLED = frozenset([bool, int, float, complex, str, type(None), _C.device])


def _free(name: str) -> str:
    return f"{name}_" if name.isdigit() else name


def _assigned(statements: Iterable[ast.stmt]) -> list[str]:
    """The names that statements set, outside of functions defined in them."""
    found: dict[str, None] = {}
    pending: list[Any] = list(statements)
    while pending:
        each = pending.pop(0)
        if isinstance(each, (ast.Assign, ast.AnnAssign)):
            for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(part, ast.Name):
                        found[part.id] = None
        elif isinstance(each, (ast.If, ast.For, ast.While)):
            pending += [*each.body, *each.orelse]
        elif isinstance(each, ast.With):
            pending += each.body
    return list(found)


def _nothing(importer: Importer, statement: ast.stmt) -> None:
    """``pass``."""


_STATEMENTS: dict[type, Callable[[Any, Any], None]] = {
    ast.Assign: Importer._assign,
    ast.AnnAssign: Importer._declare,
    ast.Expr: Importer._expression,
    ast.Return: Importer._return,
    ast.If: Importer._if,
    ast.For: Importer._for,
    ast.While: Importer._while,
    ast.With: Importer._with,
    ast.FunctionDef: Importer._closure,
    ast.Pass: _nothing,
}

__all__ = ["CompileError", "Importer", "Program"]
