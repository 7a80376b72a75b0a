"""Type comments of functions: ``# type: (Tensor, int) -> Tensor``, and one behind each argument."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import NamedTuple

from taeda.jit.parse.definition import Definition
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange

_TYPE = re.compile(r"#(\s*)type(\s*):\s*(.*)")
_IGNORED = re.compile(r"ignore(\[[^\]]*\])?\s*($|#)")


class TypeComments(NamedTuple):
    """What a function's comments say: its signature, and the types of arguments by name; as texts."""

    signature: str | None
    arguments: dict[str, str]


def type_comments(definition: Definition) -> TypeComments:
    """The type comments in a function's head and right below it.

    Raises:
        CompileError: there are several signatures, or one beside comments of arguments that is not ``(...) -> ...``.
    """
    node = definition.node
    found = TypeComments(getattr(node, "type_comment", None), {})
    if isinstance(node, ast.Lambda) or not any("type" in line and "#" in line for line in _lines(definition, node)):
        return found
    signatures: list[str] = []
    for line, column, text in _comments(definition, node):
        match = _TYPE.match(text)
        if match is None or _IGNORED.match(match[3]):
            continue
        said = match[3].partition("#")[0].strip()
        argument = _argument_before(node, line, column)
        if "->" in said and (argument is None or said.startswith("(...)")):
            if match[1] != " " or match[2]:
                start = definition.source.offset(line, column)
                fail(SourceRange(definition.source, start, start + len(text)),
                     "a type comment begins with '# type:', with one space")  # fmt: skip
            signatures.append(said)
        elif argument is not None:
            found.arguments[argument.arg] = said
    if len(signatures) > 1 and len({*signatures}) > 1:
        fail(
            definition.head(), f"'{definition.name}' has {len(signatures)} type comments that are signatures; leave one"
        )
    signature = signatures[0] if signatures else found.signature
    if found.arguments and signature is not None and not signature.startswith("(...)"):
        fail(definition.head(), f"'{definition.name}' has types behind its arguments: its signature is then written "
                                "'# type: (...) -> Tensor'")  # fmt: skip
    return TypeComments(signature, found.arguments)


def _lines(definition: Definition, node: ast.FunctionDef) -> list[str]:
    """The lines from the ``def`` to where the body goes on behind comments and a documentation."""
    body = node.body
    first = body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    following = body[1] if is_text and len(body) > 1 else first
    end = following.lineno - 1 if following is not first or not is_text else (node.end_lineno or node.lineno)
    if following.lineno == node.lineno:  # all in one line
        end = node.lineno
    return definition.source.lines[node.lineno - 1 : max(end, node.lineno)]


def _comments(definition: Definition, node: ast.FunctionDef) -> list[tuple[int, int, str]]:
    """The comments in those lines: (line, column, text)."""
    text = "\n".join(line.rstrip("\n") for line in _lines(definition, node)) + "\n"
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found.append((node.lineno + token.start[0] - 1, token.start[1], token.string))
    except (tokenize.TokenError, IndentationError):  # the rest of the function is missing
        pass
    return found


def _argument_before(node: ast.FunctionDef, line: int, column: int) -> ast.arg | None:
    """The argument that a comment in a function's head stands behind; None for one below the head."""
    spec = node.args
    arguments = [*spec.posonlyargs, *spec.args, *([spec.vararg] if spec.vararg else []), *spec.kwonlyargs]
    before = [a for a in arguments if (a.lineno, a.col_offset) < (line, column)]
    if not before:
        return None
    heads: list[ast.arg | ast.expr] = [*arguments, *spec.defaults, *filter(None, spec.kw_defaults)]
    last = max(part.end_lineno or 0 for part in heads)
    return before[-1] if line <= last and line < node.body[0].lineno else None
