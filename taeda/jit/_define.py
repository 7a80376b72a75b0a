"""Functions and methods from a text."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from typing import Any

import taeda
from taeda.jit.check.emitter import Emitter
from taeda.jit.check.environment import TableResolver
from taeda.jit.check.function import Function
from taeda.jit.check.values import Known
from taeda.jit.ir import Graph
from taeda.jit.parse.definition import Definition, parse_text
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange


class _TextResolver(TableResolver):
    """In a text, ``torch`` is the library, and Tensor and the words of typing are known."""

    def __init__(self, functions: dict[str, Function], extra: dict[str, Any] | None = None,
                 seen: Callable[[str], Any] | None = None) -> None:  # fmt: skip
        import math

        super().__init__({"torch": taeda, "taeda": taeda, "Tensor": taeda.Tensor, "math": math,
                          "Future": taeda.futures.Future, **(extra or {})}, seen)  # fmt: skip
        self.functions = functions

    def resolve(self, name: str, range: SourceRange | None) -> Any:
        if name in self.functions:
            return Known(self.functions[name])
        return super().resolve(name, range)


def functions_of_text(text: str, known: dict[str, Function], self_type: Any = None, prefix: str = "__torch__",
                      extra: dict[str, Any] | None = None,
                      seen: Callable[[str], Any] | None = None) -> dict[str, Function]:  # fmt: skip
    """The functions that a text defines, which may call each other and those that are ``known``.

    Args:
        seen: what a name means where the text is given; None for those that are unknown there.

    Raises:
        CompileError: the text is no Python, or holds something beside functions.
    """
    tree, source = parse_text(textwrap.dedent(text))
    found: dict[str, Function] = {}
    resolver = _TextResolver({**known}, extra, seen)
    for node in tree.body:
        definition = Definition(node, source)  # type: ignore[arg-type]
        if not isinstance(node, ast.FunctionDef):
            fail(definition.range(node), "a text for define holds functions only")
        defaults = _defaults(node, definition, resolver)
        found[node.name] = Function(definition, resolver, f"{prefix}.{node.name}", defaults, self_type)
        if self_type is None:
            resolver.functions[node.name] = found[node.name]
    return found


def _defaults(node: ast.FunctionDef, definition: Definition, resolver: _TextResolver) -> dict[str, Any]:
    reader = Emitter(Graph(), definition, resolver, None)
    named = [*node.args.posonlyargs, *node.args.args]
    out = {}
    pairs = [*zip(named[len(named) - len(node.args.defaults) :], node.args.defaults),
             *((a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is not None)]  # fmt: skip
    for arg, default in pairs:
        what = reader.expression(default)
        if isinstance(what, Known):
            out[arg.arg] = what.obj
        elif what.node().kind() == "prim::ListConstruct":
            out[arg.arg] = [v.toIValue() for v in what.node().inputs()]
        else:
            fail(definition.range(default), "a default must be known while the program is compiled")
    return out
