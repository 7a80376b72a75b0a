"""The source of a function or class as Python's own tree, with the place of each part."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import re
import sys
import textwrap
import types
from collections.abc import Callable
from typing import Any

from taeda.jit.parse.errors import CompileError, fail
from taeda.jit.source import Source, SourceRange

_COMMENT = re.compile(r"# type:")


class Definition:
    """A function's tree and its source.

    Args:
        node: the ``def`` or ``lambda``.
        source: the text that the tree's lines and columns speak of.
    """

    def __init__(self, node: ast.FunctionDef | ast.Lambda, source: Source) -> None:
        self.node, self.source = node, source
        self.name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"

    def range(self, node: ast.AST) -> SourceRange:
        """The place of a part of the tree."""
        return range_of(node, self.source)

    def head(self) -> SourceRange:
        """The place of the ``def`` with the name."""
        start = self.range(self.node).start
        return SourceRange(self.source, start, start + len(f"def {self.name}"))


def range_of(node: ast.AST, source: Source) -> SourceRange:
    """The place of a part of a tree."""
    if not hasattr(node, "lineno"):
        return SourceRange(source, 0, 0)
    place: Any = node  # whose attributes not all nodes have
    start = _offset(source, place.lineno, place.col_offset)
    end = _offset(source, place.end_lineno or place.lineno, place.end_col_offset or place.col_offset)
    return SourceRange(source, start, end)


def _offset(source: Source, line: int, column: int) -> int:
    text = source.lines[line - 1]
    if not text.isascii():  # Python counts bytes
        column = len(text.encode()[:column].decode(errors="ignore"))
    return source.offset(line, column)


def parse_text(text: str, filename: str = "<string>") -> tuple[ast.Module, Source]:
    """A text's tree, with type comments, and its source.

    Raises:
        CompileError: it is not Python.
    """
    source = Source(text, filename)
    return parse_source(source), source


def parse_source(source: Source) -> ast.Module:
    """As `parse_text`, for a source at hand."""
    text = source.text
    while True:
        try:
            return ast.parse(text, source.filename, type_comments=True)
        except SyntaxError as error:
            masked = _without_comment(text, error.lineno or 1)
            if masked == text:
                break
            text = masked
    try:
        return ast.parse(source.text, source.filename)
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), len(source.lines))
        start = source.offset(line, max((error.offset or 1) - 1, 0))
        fail(SourceRange(source, start, start + 1), f"this is not Python: {error.msg}")


def _without_comment(text: str, number: int) -> str:
    """The text with a line's type comment as a plain one: it stands where Python wants none."""
    lines = text.splitlines(keepends=True)
    if number <= len(lines):
        lines[number - 1] = _COMMENT.sub("# tipe:", lines[number - 1])
    return "".join(lines)


def _dedented(text: str) -> str:
    """The text with its first line at the margin; comments and lines of texts may stand further left than that."""
    plain = textwrap.dedent(text)
    margin = len(plain) - len(plain.lstrip(" \t"))
    if margin == 0:
        return plain
    return "".join(
        line[margin:] if not line[:margin].strip() else line.lstrip(" \t") for line in plain.splitlines(keepends=True)
    )


@functools.lru_cache(256)
def _lines(filename: str, first: int, text: str) -> tuple[ast.Module, Source]:
    plain = _dedented(text)
    shift = len(text.split("\n", 1)[0]) - len(plain.split("\n", 1)[0])
    source = Source(plain, filename, first, shift)
    return parse_source(source), source


def source_of(object: Any) -> tuple[ast.Module, Source]:
    """The tree and source of a function or class.

    Raises:
        CompileError: there is no source: it was typed into Python's prompt, or made by ``exec``.
    """
    code = getattr(object, "__code__", None)
    if code is not None:  # what a loader knows the text of, as of the functions of graphs
        linecache.lazycache(code.co_filename, object.__globals__)
    try:
        lines, first = inspect.getsourcelines(object)
    except (OSError, TypeError) as error:
        if (text := _command(object)) is not None:
            source = Source(text, "<string>")
            return parse_source(source), source
        name = getattr(object, "__name__", object)
        raise CompileError(
            f"taeda.jit.script: there is no source of {name}; programs are compiled from files ({error})"
        ) from None
    filename = inspect.getsourcefile(object) or "<string>"
    return _lines(filename, first or 1, "".join(lines))


def _command(object: Any) -> str | None:
    """The program's text, if it was given by ``python -c`` and the object stands in it."""
    given = sys.orig_argv
    if getattr(object, "__module__", "") != "__main__" or "-c" not in given[:-1]:
        return None
    return given[given.index("-c") + 1]


def definition_of(function: Callable[..., Any]) -> Definition:
    """The definition of a Python function or lambda.

    Raises:
        CompileError: there is no source, or it is not a plain function.
    """
    tree, source = source_of(function)
    code = getattr(function, "__code__", None)
    line = code.co_firstlineno - source.first_line + 1 if code is not None else 1
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if code is None or first == line or len(tree.body) == 1 and tree.body[0] is node:
                return Definition(node, source)
        if isinstance(node, ast.Lambda) and function.__name__ == "<lambda>" and node.lineno == line:
            return Definition(node, source)
    name = function.__name__
    if any(isinstance(node, ast.AsyncFunctionDef) for node in ast.walk(tree)):
        fail(None, f"taeda.jit.script: {name} is asynchronous; programs have fork and wait instead")
    for node in ast.walk(tree):  # a decorator may have renamed it
        if isinstance(node, ast.FunctionDef):
            return Definition(node, source)
    fail(SourceRange(source, 0, 0), f"taeda.jit.script: the source of {name} holds no such function")


def class_definition(cls: type) -> tuple[ast.ClassDef, Source]:
    """The definition of a Python class.

    Raises:
        CompileError: there is no source.
    """
    code = _code_within(cls)
    tree, source = source_of(cls)
    found = _class_in(tree, source, cls.__name__, code)
    if found is None and code is not None:  # Python took the first class of this name, in another branch perhaps
        whole = _lines(code.co_filename, 1, "".join(linecache.getlines(code.co_filename)))
        if (elsewhere := _class_in(*whole, cls.__name__, code)) is not None:
            return elsewhere, whole[1]
        found = _class_in(tree, source, cls.__name__, None)  # the code is generated
    if found is not None:
        return found, source
    fail(None, f"taeda.jit.script: the source of the class {cls.__name__} holds no such class")


def _code_within(cls: type) -> types.CodeType | None:
    """The code of a function that is written in the class; None if there is none."""
    for member in vars(cls).values():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if inspect.isfunction(function) and function.__qualname__ == f"{cls.__qualname__}.{function.__name__}":
            return function.__code__
    return None


def _class_in(tree: ast.Module, source: Source, name: str, code: types.CodeType | None) -> ast.ClassDef | None:
    """The class of a name that holds the code; None if there is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            line = 0 if code is None else code.co_firstlineno - source.first_line + 1
            if code is None or node.lineno <= line <= (node.end_lineno or line):
                return node
    return None


def uncached() -> None:
    """Forgets files that have changed."""
    linecache.checkcache()
    _lines.cache_clear()
