"""A native's signature as ``inspect`` and ``help`` read it: the first line of its documentation.

Overloads become one signature: that of the overload with most parameters, in which those that a shorter one does
without are optional. The schemas, which follow in the documentation, tell the rest.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable

from taedagen.opdef.declaration import Op
from taedagen.opdef.schema import Argument


def text_signature(name: str, overloads: Iterable[tuple[Op, Op | None]], is_method: bool, is_factory: bool) -> str:
    """``add(input, other, *, alpha=1, out=None)``, with the line below it by which CPython knows a signature."""
    pairs = list(overloads)
    widest = max((op for op, _ in pairs), key=_width)
    arguments = widest.schema.arguments
    shorter = [set(op.schema.names) for op, _ in pairs if set(op.schema.names) < set(widest.schema.names)]
    positional: list[str] = []
    keywords: list[str] = []
    for argument in arguments:
        optional = any(argument.name not in names for names in shorter)
        (keywords if argument.keyword_only else positional).append(_parameter(argument, is_method, optional))
    if _spells_sizes(arguments, is_method):
        positional[-1] = f"*{arguments[len(positional) - 1].name}"
    elif keywords or is_factory or any(out for _, out in pairs):
        keywords.insert(0, "*")
    if any(out for _, out in pairs):
        keywords.append("out=None")
    if is_factory:
        keywords.append("requires_grad=False")
    return f"{name}({', '.join(_ordered(positional) + keywords)})\n--\n\n"


def _width(op: Op) -> tuple[bool, int]:
    """How telling an overload is: one that takes keywords alone tells less than any other."""
    arguments = op.schema.arguments
    return any(not a.keyword_only and a.name != "self" for a in arguments), len(arguments)


def _parameter(argument: Argument, is_method: bool, optional: bool) -> str:
    name = argument.name
    if name == "self":
        return "$self" if is_method else "input"
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


def _ordered(parameters: list[str]) -> list[str]:
    """Python has no required parameter after one with a default: then all that follow have one."""
    seen = False
    result = []
    for parameter in parameters:
        seen |= "=" in parameter
        result.append(parameter if "=" in parameter or not seen or parameter[0] == "*" else f"{parameter}=None")
    return result


def _spells_sizes(arguments: tuple[Argument, ...], is_method: bool) -> bool:
    """Whether sizes may be given one by one, as in ``zeros(2, 3)`` and ``x.view(2, 3)``."""
    positional = [a for a in arguments if not a.keyword_only]
    if len(positional) != 1 + is_method:
        return False
    type_ = positional[-1].type
    return type_.base in ("int", "SymInt") and type_.is_list and not type_.list_size
