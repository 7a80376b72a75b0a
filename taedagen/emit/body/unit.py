"""The functions of one family's bodies: those of its composites, and the plain Python functions that they call."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Mapping, Sequence
from typing import Any

from taedagen.emit import cpp
from taedagen.emit.body.expressions import Expressions
from taedagen.emit.body.statements import Body
from taedagen.emit.body.values import Value, annotated, fits, local_type, of_schema, parameter_type, result_text
from taedagen.opdef.declaration import Op, relative
from taedagen.opdef.errors import DeclarationError


class Unit:
    """Translates bodies and collects the functions that they need."""

    def __init__(self, family: str) -> None:
        self.space = f"in_{family}"
        self.helpers: list[str] = []
        self._results: dict[tuple[Any, ...], str | None] = {}
        self._bodies: list[Body] = []

    def functions(self) -> list[str]:
        """The plain functions, in an order in which each follows those that it calls."""
        return ["", f"namespace composite::{self.space} {{", "", *self.helpers, "}"] if self.helpers else []

    def composite(self, op: Op) -> list[str]:
        """The statements of a composite."""
        declaration = op.declaration
        function: Any = declaration.function
        names = list(inspect.signature(function).parameters)
        parameters = {
            name: Value(cpp.identifier(a.name), of_schema(a.type))
            for name, a in zip(names, op.schema.arguments, strict=True)
        }
        types_ = [of_schema(r.type) for r in op.schema.returns]
        result = types_[0] if len(types_) == 1 else f"({', '.join(types_)})"
        if op.variant == "inplace" or not types_:
            result = "void"
        return Body(self, function, *_tree(function), parameters, result).lines()

    def is_helper(self, body: Body) -> bool:
        return any(body is other for other in self._bodies)

    def helper(self, caller: Expressions, node: ast.AST, function: types.FunctionType, values: Sequence[Value],
               named: Mapping[str, Value]) -> Value:  # fmt: skip
        """A call of a plain function, which is translated for the types that it is called with."""
        signature = inspect.signature(function)
        try:
            bound = signature.bind(*values, **named).arguments
        except TypeError as mistake:
            raise caller.fail(node, f"{function.__name__}: {mistake}") from None
        given: dict[str, Value] = {}
        for name, parameter in signature.parameters.items():
            value = bound[name] if name in bound else caller.literal(node, parameter.default)
            given[name] = Value(value.text, _parameter(parameter, value), value.items, value.owned, value.constant)
        key = (id(function), *(value.type for value in given.values()))
        if key not in self._results:
            self._results[key] = None
            self._results[key] = self._translate(function, {n: v.type for n, v in given.items()})
        result = self._results[key]
        if result is None:
            raise caller.fail(node, f"{function.__name__} calls itself")
        texts = []
        for (name, value), original in zip(given.items(), [bound.get(n) for n in given], strict=True):
            source = original if original is not None else caller.literal(node, signature.parameters[name].default)
            if source.type != value.type and not fits(source, value.type, True) and source.type != "None":
                raise caller.fail(node, f"{function.__name__}: '{name}' is {value.type}; got {source.type}")
            texts.append(_as_parameter(source, value.type))
        call = f"{self.space}::{function.__name__.lstrip('_')}({', '.join(texts)})"
        return Value(call, result, owned=True)

    def _translate(self, function: types.FunctionType, kinds: dict[str, str]) -> str:
        tree, file = _tree(function)
        body = Body(self, function, tree, file, {n: Value(cpp.identifier(n), k) for n, k in kinds.items()}, None)
        self._bodies.append(body)
        lines = body.lines()
        result = body.result or "void"
        parameters = ", ".join(f"{parameter_type(k)} {cpp.identifier(n)}" for n, k in kinds.items())
        shown = "void" if result == "void" else local_type(result)
        unused = [f"(void){cpp.identifier(n)};" for n in kinds if not _mentions(lines, cpp.identifier(n))]
        self.helpers += [
            f"// {file}:{tree.lineno}",
            f"static {shown} {function.__name__.lstrip('_')}({parameters}) {{",
            *(f"  {line}" for line in [*unused, *lines]), "}", "",
        ]  # fmt: skip
        return result


def _mentions(lines: list[str], name: str) -> bool:
    import re

    return bool(re.search(rf"\b{name}\b", "\n".join(lines)))


def _as_parameter(value: Value, kind: str) -> str:
    from taedagen.emit.body.values import convert

    if value.type == kind and kind.startswith("("):
        return value.text if value.items is None else f"{local_type(kind)}{result_text(value, kind)}"
    return convert(value, kind)


def _parameter(parameter: inspect.Parameter, value: Value) -> str:
    """The type of a plain function's parameter: as annotated, else that of what it is called with."""
    if parameter.annotation is not inspect.Parameter.empty:
        return annotated(str(parameter.annotation))
    return {"None": "Tensor", "[]": "int[]", "complex": "Scalar"}.get(value.type, value.type)


def _tree(function: Any) -> tuple[ast.FunctionDef, str]:
    """A function's syntax, with its own line numbers, and its file."""
    file = relative(function.__code__.co_filename)
    text = getattr(function, "__source__", None)
    first = function.__code__.co_firstlineno
    if text is None:
        lines, first = inspect.getsourcelines(function)
        text = textwrap.dedent("".join(lines))
    found = next((n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)), None)
    if found is None:
        raise DeclarationError((file, first), "a body is a function written with def")
    ast.increment_lineno(found, first - 1)
    return found, file
