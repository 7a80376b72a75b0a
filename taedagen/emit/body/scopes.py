"""Where the variables of a function are declared in C++: in the innermost block around all their uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Path = tuple[tuple[int, int], ...]  # the statement at each level: its block and its number there


def declared_at(body: list[ast.stmt]) -> dict[str, tuple[int, int]]:
    """The block and the statement before which each assigned variable is declared, unless that one declares it.

    A block is known by the ``id`` of its list of statements. What a loop or a comprehension runs through is its own.
    """
    found: dict[str, list[Path]] = {}
    assigned: set[str] = set()
    _visit(body, (), frozenset(), found, assigned)
    return {name: _site(paths) for name, paths in found.items() if name in assigned}


def _site(paths: list[Path]) -> tuple[int, int]:
    for level in range(min(map(len, paths))):
        here = {path[level] for path in paths}
        ends = any(len(path) == level + 1 for path in paths)
        if len(here) > 1 or ends or len({path[level + 1][0] for path in paths}) > 1:
            return paths[0][level][0], min(number for _, number in here)
    raise AssertionError("paths of different functions")


def _visit(body: list[ast.stmt], path: Path, hidden: frozenset[str], found: dict[str, list[Path]],
           assigned: set[str]) -> None:  # fmt: skip
    for number, statement in enumerate(body):
        here = (*path, (id(body), number))
        own = hidden
        if isinstance(statement, ast.For):
            own = hidden | targets(statement.target)
        for name, is_store in _names(statement, hidden):
            if isinstance(statement, ast.For) and is_store:
                continue
            found.setdefault(name, []).append(here)
            if is_store:
                assigned.add(name)
        for block in blocks(statement):
            _visit(block, here, own, found, assigned)


def blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    return [block for field in ("body", "orelse") if (block := getattr(statement, field, None))]


def targets(target: ast.expr) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _names(statement: ast.stmt, hidden: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """The names in a statement itself, without its blocks."""
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, ast.stmt):
            yield from _names_in(child, hidden)


def _names_in(node: ast.AST, hidden: frozenset[str]) -> Iterator[tuple[str, bool]]:
    if isinstance(node, ast.Name):
        if node.id not in hidden:
            yield node.id, isinstance(node.ctx, ast.Store)
        return
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        hidden |= targets(node.generators[0].target)
    for child in ast.iter_child_nodes(node):
        yield from _names_in(child, hidden)
