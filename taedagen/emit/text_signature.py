"""A native's signature as ``inspect`` and ``help`` read it: the first line of its documentation.

Overloads become one signature, that takes what any of them does: the parameters of the widest, those optional that
another one does without, and the others' keywords. The schemas, which follow in the documentation, tell the rest.
"""

from __future__ import annotations

import ast
import keyword

from taedagen.opdef.declaration import Op
from taedagen.opdef.schema import Argument


def text_signature(name: str, overloads: list[tuple[Op, Op | None]], is_method: bool, is_factory: bool) -> str:
    """``add(input, other, *, alpha=1, out=None)``, with the line below it by which CPython knows a signature."""
    ops = [op for op, _ in overloads]
    widest = max(ops, key=_width)
    positional = [a for a in widest.schema.arguments if not a.keyword_only]
    required = min(sum(not a.keyword_only and a.default is None for a in op.schema.arguments) for op in ops)
    parameters = [_parameter(a, is_method, i >= required) for i, a in enumerate(positional)]
    keywords = [_parameter(a, is_method, optional) for a, optional in _keywords(ops, widest, positional)]
    if any(out for _, out in overloads):
        keywords.append("out=None")
    if is_factory:
        keywords.append("requires_grad=False")
    if _spells_sizes(positional, is_method):
        parameters[-1] = f"*{positional[-1].name}"
    elif keywords:
        keywords.insert(0, "*")
    return f"{name}({', '.join(parameters + keywords)})\n--\n\n"


def _width(op: Op) -> tuple[bool, int, int]:
    """How telling an overload is: one that takes keywords alone tells less than any other."""
    arguments = op.schema.arguments
    several = sum(not a.keyword_only for a in arguments) > 1
    return several, len(arguments), sum(a.default is not None for a in arguments)


def _keywords(ops: list[Op], widest: Op, positional: list[Argument]) -> list[tuple[Argument, bool]]:
    """The keywords of all overloads, the widest one's first, and whether one of them does without."""
    found: dict[str, Argument] = {}
    for op in (widest, *ops):
        for argument in op.schema.arguments:
            if argument.keyword_only and argument.name not in {a.name for a in positional}:
                found.setdefault(argument.name, argument)
    return [(a, any(a.name not in op.schema.names for op in ops)) for a in found.values()]


def _parameter(argument: Argument, is_method: bool, optional: bool) -> str:
    name = argument.name
    if name == "self" and is_method:
        return "$self"
    name = "input" if name == "self" else name
    if keyword.iskeyword(name):
        name += "_"
    if argument.default is None:
        return f"{name}=None" if optional else name
    return f"{name}={_default(argument.default)}"


def _default(text: str) -> str:
    """The schema's default where Python writes it likewise; None where it is a name, such as ``long``."""
    try:
        return repr(ast.literal_eval(text))
    except ValueError:
        return "None"


def _spells_sizes(positional: list[Argument], is_method: bool) -> bool:
    """Whether sizes may be given one by one, as in ``zeros(2, 3)`` and ``x.view(2, 3)``."""
    if len(positional) != 1 + is_method:
        return False
    type_ = positional[-1].type
    return type_.base in ("int", "SymInt") and type_.is_list and not type_.list_size
