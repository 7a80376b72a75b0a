"""Formulas as C++ over vectors: the body of a loop's step."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from taedagen.emit import cpp
from taedagen.opdef.declaration import REGISTRY, Declaration
from taedagen.opdef.errors import DeclarationError
from taedagen.opdef.expr import Expr, call, shared_nodes, trace, walk, wrap
from taedagen.opdef.intrinsics import CALLS
from taedagen.opdef.schema import Argument

_INFIX = cpp.INFIX | {"bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}
_MASK_INFIX = {"logical_and": "&", "logical_or": "|", "logical_xor": "^"}


class Formula:
    """Lowers nodes for one declaration; ``integer`` says that the element type is one."""

    def __init__(self, declaration: Declaration, names: Mapping[str, str], *, integer: bool) -> None:
        self.declaration = declaration
        self.names = names
        self.integer = integer
        self.statements: list[str] = []
        self._locals: dict[int, str] = {}

    def lower(self, roots: Sequence[Expr], masks: Sequence[bool]) -> list[str]:
        """C++ expressions, each a value or (where ``masks`` says so) a mask; shared parts go to ``statements``."""
        for node in shared_nodes(roots):
            text = self._node(node)
            name = f"t{len(self._locals)}"
            self.statements.append(f"auto {name} = {text};")
            self._locals[id(node)] = name
        return [self.mask(root) if is_mask else self.value(root) for root, is_mask in zip(roots, masks, strict=True)]

    def value(self, node: Expr) -> str:
        text = self._node(node)
        return f"from_mask<T>({text})" if node.is_mask else text

    def mask(self, node: Expr) -> str:
        text = self._node(node)
        return text if node.is_mask else f"to_mask<T>({text})"

    def _node(self, node: Expr) -> str:
        if id(node) in self._locals:
            return self._locals[id(node)]
        if node.kind == "arg":
            return self.names[node.name]
        if node.kind == "const":
            return self._constant(node.value)
        if node.kind != "call":
            raise self._fail(f"a formula cannot use {node!r}")
        return self._call(node)

    def _constant(self, value: Any) -> str:
        if isinstance(value, bool):
            return f"splat(T({int(value)}))"
        if isinstance(value, complex):
            return f"splat(T({_literal(value.real)}, {_literal(value.imag)}))"
        if not isinstance(value, (int, float)):
            raise self._fail(f"{value!r} is no number")
        if self.integer and isinstance(value, float):
            raise self._fail(f"the constant {value!r} stands in a formula for integers")
        return f"splat(T({_literal(value)}))"

    def _call(self, node: Expr) -> str:
        name, args = node.name, node.args
        if name in _MASK_INFIX:
            return f"({self.mask(args[0])} {_MASK_INFIX[name]} {self.mask(args[1])})"
        if name == "logical_not":
            return f"not_mask<T>({self.mask(args[0])})"
        if name == "where":
            if node.is_mask:
                return f"select_mask<T>({self.mask(args[0])}, {self.mask(args[1])}, {self.mask(args[2])})"
            return f"where<T>({self.mask(args[0])}, {self.value(args[1])}, {self.value(args[2])})"
        if self.integer and name == "div":
            raise self._fail("'/' is not for integers; say floordiv or truncdiv")
        values = [self.value(a) for a in args]
        if name in _INFIX:
            return f"({values[0]} {_INFIX[name]} {values[1]})"
        if name in ("neg", "bitwise_not"):
            return f"({'-' if name == 'neg' else '~'}{values[0]})"
        return f"{name}<T>({', '.join(values)})"

    def _fail(self, message: str) -> DeclarationError:
        return self.declaration.fail(message)


def _literal(value: float) -> str:
    text = repr(value)
    return {"inf": "__builtin_inf()", "-inf": "-__builtin_inf()", "nan": '__builtin_nan("")'}.get(text, text)


# --- calls of other declared ops


def expand(root: Expr, dtype: str, declaration: Declaration) -> Expr:
    """``root`` with calls of declared pointwise ops replaced by their formulas for ``dtype``, down to intrinsics."""
    done: dict[int, Expr] = {}
    for node in walk([root]):
        if node.kind != "call":
            done[id(node)] = node
            continue
        args = [done[id(a)] for a in node.args]
        kwargs = {k: done[id(v)] for k, v in node.kwargs}
        if _is_intrinsic(node):
            done[id(node)] = call(node.name, args)
        else:
            done[id(node)] = _inlined(node, args, kwargs, dtype, declaration)
    return done[id(root)]


def can_expand(node: Expr, dtype: str) -> bool:
    """Whether a call is an intrinsic or one of a declared pointwise op that has a formula for ``dtype``."""
    return _is_intrinsic(node) or any(
        dtype in d.supported and _bind(d.schema.arguments, list(node.args), dict(node.kwargs)) is not None
        for d in REGISTRY.named(node.name)
        if d.kind == "pointwise"
    )


def _is_intrinsic(node: Expr) -> bool:
    return node.name in CALLS and len(node.args) == CALLS[node.name].arity and not node.kwargs


def _inlined(node: Expr, args: list[Expr], kwargs: dict[str, Expr], dtype: str, user: Declaration) -> Expr:
    candidates = [d for d in REGISTRY.named(node.name) if d.kind == "pointwise"]
    if not candidates:
        raise user.fail(f"the formula calls '{node.name}', which is neither an intrinsic nor a declared pointwise op")
    for declaration in candidates:
        bound = _bind(declaration.schema.arguments, args, kwargs)
        if bound is not None:
            result = trace(formula_for(declaration, dtype), {k: _plain(v) for k, v in bound.items()})
            if isinstance(result, Expr):
                return expand(result, dtype, declaration)
    raise user.fail(f"the formula calls '{node!r}', but no overload of '{node.name}' takes these arguments")


def _plain(value: Expr) -> Any:
    """None and strings reach a formula as themselves, so that it can branch on them."""
    return value.value if value.kind == "const" and (value.value is None or isinstance(value.value, str)) else value


def _bind(parameters: Sequence[Argument], args: list[Expr], kwargs: dict[str, Expr]) -> dict[str, Expr] | None:
    if len(args) > len(parameters):
        return None
    bound = {p.name: a for p, a in zip(parameters, args, strict=False)} | kwargs
    for parameter in parameters:
        if parameter.name not in bound:
            if parameter.default is None:
                return None
            bound[parameter.name] = wrap(python_default(parameter))
    return bound if len(bound) == len(parameters) else None


def python_default(parameter: Argument) -> Any:
    """The schema's default as a Python value."""
    text = str(parameter.default)
    try:
        return ast.literal_eval(text)
    except ValueError:
        return {"Mean": 1, "Sum": 2, "inf": float("inf")}.get(text, text)


def formula_for(declaration: Declaration, dtype: str) -> Any:
    for dtypes, function in declaration.formulas.items():
        if dtype in dtypes:
            return function
    return declaration.function
