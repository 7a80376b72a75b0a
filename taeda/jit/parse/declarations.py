"""Declarations of functions as ``torch.parse_type_comment`` gives them: what a comment says of arguments and result."""

from __future__ import annotations

import ast
from typing import NamedTuple

from taeda.jit.parse.errors import fail
from taeda.jit.source import Source, SourceRange


class Param(NamedTuple):
    """An argument: its name, empty where none is said, and the text of its type."""

    name: str
    type: str | None
    default: str | None = None
    kwarg_only: bool = False


class Decl:
    """Arguments and result of a function, as far as they are said."""

    def __init__(self, range: SourceRange, params: list[Param], result: str | None) -> None:
        self._range, self.params, self.result = range, params, result

    def range(self) -> SourceRange:
        """Where it stands."""
        return self._range

    def dump(self) -> None:
        """Prints it."""
        print(self)

    def __str__(self) -> str:
        params = " ".join(
            f"(param (ident {p.name}) {_option(p.type)} {_option(p.default)} ({p.kwarg_only}))" for p in self.params
        )
        return f"(decl (list {params}) {_option(self.result)})"


def _option(text: str | None) -> str:
    return "(option)" if text is None else f"(option {_tree(ast.parse(text, mode='eval').body)})"


def _tree(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return f"(variable (ident {node.id}))"
    if isinstance(node, ast.Attribute):
        return f"(. {_tree(node.value)} (ident {node.attr}))"
    if isinstance(node, ast.Subscript):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return f"(subscript {_tree(node.value)} (list {' '.join(map(_tree, inner))}))"
    return f"(const {ast.unparse(node)})"


def parse_type_comment(comment: str) -> Decl:
    """The declaration in ``# type: (int, Tensor) -> Tensor``.

    Raises:
        RuntimeError: it is no such comment.
    """
    place = SourceRange(Source(comment), 0, len(comment))
    head, found, rest = comment.partition("type:")
    left, arrow, right = rest.partition("->")
    if not found or head.strip(" #") or not arrow:
        fail(place, "a type comment is written '# type: (int, Tensor) -> Tensor'")
    try:
        taken = ast.parse(left.strip(), mode="eval").body
        given = ast.parse(right.strip(), mode="eval").body
    except SyntaxError:
        fail(place, "a type comment is written '# type: (int, Tensor) -> Tensor'")
    types = taken.elts if isinstance(taken, ast.Tuple) else [taken]
    return Decl(place, [Param("", ast.unparse(type)) for type in types], ast.unparse(given))


def merge_type_from_type_comment(decl: Decl, type_annotation_decl: Decl, is_method: bool) -> Decl:
    """A declaration with the types that a comment says.

    Args:
        decl: names and defaults.
        type_annotation_decl: the comment's.
        is_method: whether the first argument is the object, of which the comment says nothing.

    Raises:
        RuntimeError: the comment speaks of another number of arguments.
    """
    own, said = decl.params[is_method:], type_annotation_decl.params
    if len(own) != len(said):
        fail(
            type_annotation_decl.range(),
            f"the function takes {len(own)} arguments; its type comment speaks of {len(said)}",
        )
    merged = [mine._replace(type=theirs.type) for mine, theirs in zip(own, said)]
    return Decl(decl.range(), decl.params[:is_method] + merged, type_annotation_decl.result)
