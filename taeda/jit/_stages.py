"""``taeda.jit.explain``: a function through all stages, from its source to instructions, each beside the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import IO, Any

from taeda.jit.ir import Block, Graph, Node
from taeda.jit.source import Source, SourceRange

_WIDTH = 96
_REMARK = re.compile(r" ; (\d+) (\d+) (\d+)$")
_NODE = re.compile(r" +(%\S.*)?= \w+::\w+")
_SKIPPED = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)


def explain(function: Any, file: IO[str] | None = None) -> None:
    """Prints what becomes of a function: its source, tree, typed tree, graph, the graph after each pass that changed
    it, instructions, and where the ops that it calls are served.

    Args:
        function: a Python function, or what `script` or `trace` gave; of a module its ``forward``.
        file: where to print; standard output if None.

    Raises:
        RuntimeError: it cannot be compiled; shows where.
        TypeError: it is nothing that can be compiled.
    """
    print("\n".join(lines(function)), file=file)


def lines(function: Any) -> Iterator[str]:
    """The lines that `explain` prints."""
    compiled = _compiled(function)
    definition = getattr(compiled, "definition", None)
    graph: Graph = compiled.graph
    if definition is not None:
        yield from _section("source", _source(definition.node, definition.source))
        yield from _section("tree", _tree(definition.node, definition.source, {}))
        yield from _section("typed tree", _tree(definition.node, definition.source, _facts(graph, definition.source)))
    yield from _section("graph", _graph(graph))
    running = graph.copy()
    from taeda.jit.optimise import steps

    for each in steps(running):
        yield from _section(f"graph after {each.__name__}", _graph(running))
    yield from _section("instructions", _instructions(compiled, running))
    yield from _section("kernels", _kernels(running))


def _compiled(function: Any) -> Any:
    from taeda import nn
    from taeda.jit._script import script

    if not hasattr(function, "function") and not hasattr(function, "graph"):
        function = script(function)
    if isinstance(function, nn.Module):
        function = function.forward
    found = getattr(function, "function", function)
    if not hasattr(found, "graph"):
        raise TypeError(f"taeda.jit.explain: wants a function or a compiled module; got {type(function).__name__}")
    return found


def _section(title: str, body: Iterator[str]) -> Iterator[str]:
    yield f"== {title} " + "=" * max(0, _WIDTH - len(title) - 4)
    yield from body
    yield ""


def _beside(text: str, place: SourceRange | None) -> str:
    """A line with the line of the source that it stands for."""
    if place is None:
        return text
    number, _ = place.source.line_column(place.start)
    return f"{text:<{_WIDTH}} | {place.line}: {place.source.lines[number].strip()}"


# --- The first stages
def _source(node: ast.AST, source: Source) -> Iterator[str]:
    yield f"{source.filename}"
    for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):  # type: ignore[attr-defined]
        yield f"{source.first_line + number - 1:5}  {source.lines[number - 1]}"


def _tree(node: ast.AST, source: Source, facts: dict[tuple[int, int], str], depth: int = 0) -> Iterator[str]:
    """One line for each part of a tree: what it is and, where ``facts`` know it by its place, what it computes."""
    from taeda.jit.parse.definition import range_of

    place = range_of(node, source) if hasattr(node, "lineno") else None
    text = "  " * depth + _spelled(node)
    known = facts.get((place.start, place.end)) if place is not None else None
    if known is not None:
        text += f"  : {known}"
    is_statement = isinstance(node, ast.stmt)
    yield _beside(text, place) if is_statement else text
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, _SKIPPED):
            yield from _tree(inner, source, facts, depth + 1)


def _spelled(node: ast.AST) -> str:
    """A part of a tree without those in it: ``BinOp Add``, ``Name x``, ``Constant 3``."""
    parts = [type(node).__name__]
    for _, value in ast.iter_fields(node):
        if isinstance(value, _SKIPPED) and not isinstance(value, (ast.Load, ast.Store, ast.Del)):
            parts.append(type(value).__name__)
        elif isinstance(value, (str, int, float, complex, bool)) or value is Ellipsis:
            parts.append(value if isinstance(value, str) and not isinstance(node, ast.Constant) else repr(value))
    return " ".join(parts)


def _facts(graph: Graph, source: Source) -> dict[tuple[int, int], str]:
    """What is computed at each place of the source: types, and the overloads of ops."""
    found: dict[tuple[int, int], str] = {}
    for node in graph.all_nodes():
        place = node.range
        if place is not None and place.source is source and node._outputs:
            types = ", ".join(str(value.static_type) for value in node._outputs)
            called = f"  ({_called(node)})" if node.kind().startswith("aten::") else ""
            found[place.start, place.end] = f"{types}{called}"
    return found


def _called(node: Node) -> str:
    schema = node.op_schema()
    return node.kind() if schema is None or not schema.overload_name else f"{node.kind()}.{schema.overload_name}"


# --- Graphs and instructions
def _graph(graph: Graph) -> Iterator[str]:
    """A graph's text, each node with its line of the source."""
    places = _places(graph)
    for line in graph.str(False).splitlines():
        yield _beside(line, next(places, None)) if _NODE.match(line) else line


def _places(block: Block) -> Iterator[SourceRange | None]:
    for node in block.nodes():
        yield node.range
        for inner in node.blocks():
            yield from _places(inner)


def _instructions(compiled: Any, graph: Graph) -> Iterator[str]:
    from taeda.jit.translate.build import unit_of
    from taeda.jit.translate.program import Program

    program = Program(lambda function: function.qualified_name)
    owner = compiled.self_type._name if getattr(compiled, "self_type", None) is not None else None
    unit = unit_of(compiled.qualified_name, compiled, owner)
    program.add(unit._replace(graph=graph))
    text = program.text()
    for line in text[text.index("\nfunction ") + 1 :].splitlines():
        found = _REMARK.search(line)
        if found is None:
            yield line
            continue
        source, start, end = (int(part) for part in found.groups())
        yield _beside(line[: found.start()], SourceRange(program.sources[source], start, end))


def _kernels(graph: Graph) -> Iterator[str]:
    """Where each op is served, as ``python -m taeda explain`` tells it at more length."""
    from taeda._explain import UnknownName, describe

    seen: dict[str, None] = dict.fromkeys(_called(n) for n in graph.all_nodes() if n.kind().startswith("aten::"))
    for name in seen:
        kind, _, overload = name.partition(".")
        try:
            hops = describe(kind.removeprefix("aten::"), overload=overload or "default")
        except (UnknownName, NotImplementedError, RuntimeError, ValueError):
            yield f"{name:40} the language's own function (csrc/jit/primitives)"
            continue
        kernels = [hop for hop in hops if "computes" in hop or "calls other ops" in hop]
        yield f"{name:40} {' '.join((kernels or hops)[-1].split())}"
