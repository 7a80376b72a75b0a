"""Symbols: a formula or derivative called with them leaves a graph of nodes behind.

A node is one of

========  =============================================  ==================================================
kind      fields                                         from
========  =============================================  ==================================================
arg       ``name``                                       ``arg("self")``: a parameter
const     ``value`` (number, bool, str or None)          a literal
list      ``args``                                       a list or tuple among a call's arguments
call      ``name``, ``args``, ``kwargs`` (sorted pairs)  an operator, an intrinsic, ``op.name(...)``, a method
item      ``args == (call,)``, ``value`` (the index)     ``results[i]`` of an op with several results
========  =============================================  ==================================================

All of ``args`` are nodes. ``a + b`` is the call ``add``; ``x.sum(0)`` and ``op.sum(x, 0)`` are the same call ``sum``.
Equal nodes are one object, so a node that is used twice is recognised by identity (``shared_nodes``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from taedagen.opdef.errors import DeclarationError, mistake_in, relative

# Calls whose result is a truth value per element, whatever their arguments.
MASK_CALLS = frozenset([
    "lt", "le", "gt", "ge", "eq", "ne", "logical_and", "logical_or", "logical_xor", "logical_not", "isnan", "isinf",
    "isfinite", "signbit", "isposinf", "isneginf",
])  # fmt: skip
_BITWISE_OF_MASKS = {
    "bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor",
    "bitwise_not": "logical_not",
}  # fmt: skip


class Expr:
    """A node. Operators, functions and method calls on it make further nodes."""

    __slots__ = ("kind", "name", "value", "args", "kwargs", "is_mask")
    kind: str
    name: str
    value: Any
    args: tuple[Expr, ...]
    kwargs: tuple[tuple[str, Expr], ...]
    is_mask: bool

    __hash__ = object.__hash__

    # --- arithmetic
    def __add__(self, other: Any) -> Expr:
        return call("add", (self, other))

    def __radd__(self, other: Any) -> Expr:
        return call("add", (other, self))

    def __sub__(self, other: Any) -> Expr:
        return call("sub", (self, other))

    def __rsub__(self, other: Any) -> Expr:
        return call("sub", (other, self))

    def __mul__(self, other: Any) -> Expr:
        return call("mul", (self, other))

    def __rmul__(self, other: Any) -> Expr:
        return call("mul", (other, self))

    def __truediv__(self, other: Any) -> Expr:
        return call("div", (self, other))

    def __rtruediv__(self, other: Any) -> Expr:
        return call("div", (other, self))

    def __floordiv__(self, other: Any) -> Expr:
        return call("floordiv", (self, other))

    def __rfloordiv__(self, other: Any) -> Expr:
        return call("floordiv", (other, self))

    def __mod__(self, other: Any) -> Expr:
        return call("pymod", (self, other))

    def __rmod__(self, other: Any) -> Expr:
        return call("pymod", (other, self))

    def __pow__(self, other: Any) -> Expr:
        return call("pow", (self, other))

    def __rpow__(self, other: Any) -> Expr:
        return call("pow", (other, self))

    def __matmul__(self, other: Any) -> Expr:
        return call("matmul", (self, other))

    def __lshift__(self, other: Any) -> Expr:
        return call("shift_left", (self, other))

    def __rshift__(self, other: Any) -> Expr:
        return call("shift_right", (self, other))

    def __neg__(self) -> Expr:
        return call("neg", (self,))

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Expr:
        return call("abs", (self,))

    def __round__(self) -> Expr:
        return call("round", (self,))

    # --- comparisons and masks
    def __lt__(self, other: Any) -> Expr:
        return call("lt", (self, other))

    def __le__(self, other: Any) -> Expr:
        return call("le", (self, other))

    def __gt__(self, other: Any) -> Expr:
        return call("gt", (self, other))

    def __ge__(self, other: Any) -> Expr:
        return call("ge", (self, other))

    def __eq__(self, other: Any) -> Expr:  # type: ignore[override]
        return call("eq", (self, other))

    def __ne__(self, other: Any) -> Expr:  # type: ignore[override]
        return call("ne", (self, other))

    def __and__(self, other: Any) -> Expr:
        return call("bitwise_and", (self, other))

    def __rand__(self, other: Any) -> Expr:
        return call("bitwise_and", (other, self))

    def __or__(self, other: Any) -> Expr:
        return call("bitwise_or", (self, other))

    def __ror__(self, other: Any) -> Expr:
        return call("bitwise_or", (other, self))

    def __xor__(self, other: Any) -> Expr:
        return call("bitwise_xor", (self, other))

    def __rxor__(self, other: Any) -> Expr:
        return call("bitwise_xor", (other, self))

    def __invert__(self) -> Expr:
        return call("bitwise_not", (self,))

    # --- calls of ops as methods, results of several
    def __getattr__(self, name: str) -> Callable[..., Expr]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: call(name, (self, *args), kwargs)

    def __getitem__(self, index: int) -> Expr:
        return _intern("item", "", index, (self,), ())

    def __iter__(self) -> Iterator[Expr]:
        count = _result_count(self)
        if count < 2:
            raise _mistake(f"the result of '{self.name}' cannot be unpacked: it is one value")
        return iter([self[i] for i in range(count)])

    def __bool__(self) -> bool:
        raise _mistake(
            "a Python 'if', 'and', 'or' or 'not' needs the value of a symbol; use where(cond, a, b), &, |, ~"
        )

    def __repr__(self) -> str:
        if self.kind == "arg":
            return self.name
        if self.kind == "const":
            return repr(self.value)
        if self.kind == "item":
            return f"{self.args[0]!r}[{self.value}]"
        parts = [*map(repr, self.args), *(f"{k}={v!r}" for k, v in self.kwargs)]
        return f"[{', '.join(parts)}]" if self.kind == "list" else f"{self.name}({', '.join(parts)})"


_nodes: dict[tuple[Any, ...], Expr] = {}


def _intern(
    kind: str, name: str, value: Any, args: tuple[Expr, ...], kwargs: tuple[tuple[str, Expr], ...], mask: bool = False
) -> Expr:
    key = (kind, name, type(value), repr(value), tuple(map(id, args)), tuple((k, id(v)) for k, v in kwargs), mask)
    node = _nodes.get(key)
    if node is None:
        node = object.__new__(Expr)
        node.kind, node.name, node.value, node.args, node.kwargs = kind, name, value, args, kwargs
        node.is_mask = mask
        _nodes[key] = node
    return node


def arg(name: str, *, mask: bool = False) -> Expr:
    """A parameter; ``mask`` says that its elements are truth values."""
    return _intern("arg", name, None, (), (), mask)


def const(value: Any) -> Expr:
    """A literal."""
    return _intern("const", "", value, (), ())


def wrap(value: Any) -> Expr:
    """``value`` as a node: literals become ``const``, lists and tuples ``list``."""
    if isinstance(value, Expr):
        return value
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return const(value)
    if isinstance(value, (list, tuple)):
        return _intern("list", "", None, tuple(map(wrap, value)), ())
    raise _mistake(f"a {type(value).__name__} cannot stand in a formula: {value!r}")


def call(name: str, args: Iterable[Any], kwargs: Mapping[str, Any] | None = None) -> Expr:
    """The call of the intrinsic or op ``name``."""
    nodes = tuple(map(wrap, args))
    if name in _BITWISE_OF_MASKS and nodes and all(node.is_mask for node in nodes):
        name = _BITWISE_OF_MASKS[name]
    mask = name in MASK_CALLS or (name == "where" and len(nodes) == 3 and nodes[1].is_mask and nodes[2].is_mask)
    named = tuple(sorted((k, wrap(v)) for k, v in (kwargs or {}).items()))
    return _intern("call", name, None, nodes, named, mask)


class _Namespace:
    """``op.demo.scale(x)``: an op of another namespace than aten, or an op itself."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Callable[..., Expr]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: call(f"{self._name}::{name}", args, kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Expr:
        return call(self._name, args, kwargs)


class _Ops:
    """``op.convolution(x, ...)``: a call of a declared op by name, resolved once all families are loaded."""

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Namespace(name)


op = _Ops()


def trace(function: Callable[..., Any], symbols: Mapping[str, Any]) -> Any:
    """Calls ``function`` with ``symbols`` by name and returns what it returns, with every leaf a node.

    The result keeps its structure (a node, a tuple, a dict). None stays None: "no gradient", "not supported".
    """
    try:
        result = function(**symbols)
    except (NameError, TypeError, AttributeError, ValueError) as wrong:
        code = getattr(function, "__code__", None)
        if code is None:
            raise
        raise mistake_in(code.co_filename, wrong, function.__globals__) from None
    if isinstance(result, dict):
        return {k: None if v is None else wrap(v) for k, v in result.items()}
    if isinstance(result, tuple):
        return tuple(wrap(v) for v in result)
    return None if result is None else wrap(result)


def children(node: Expr) -> list[Expr]:
    return [*node.args, *(v for _, v in node.kwargs)]


def walk(roots: Iterable[Expr]) -> list[Expr]:
    """All nodes below ``roots``, each once, children before parents."""
    order: list[Expr] = []
    seen: set[int] = set()

    def visit(node: Expr) -> None:
        if id(node) in seen:
            return
        seen.add(id(node))
        for child in children(node):
            visit(child)
        order.append(node)

    for root in roots:
        visit(root)
    return order


def shared_nodes(roots: Iterable[Expr]) -> list[Expr]:
    """The calls that are used more than once, in an order in which they can be computed as locals."""
    roots = list(roots)
    order = walk(roots)
    uses: dict[int, int] = {}
    for node in [*(child for parent in order for child in children(parent)), *roots]:
        uses[id(node)] = uses.get(id(node), 0) + 1
    return [node for node in order if node.kind == "call" and uses[id(node)] > 1]


def substitute(root: Expr, replacements: Mapping[str, Expr]) -> Expr:
    """``root`` with arguments replaced by name."""
    done: dict[int, Expr] = {}
    for node in walk([root]):
        if node.kind == "arg":
            done[id(node)] = replacements.get(node.name, node)
        elif node.kind == "const":
            done[id(node)] = node
        elif node.kind == "call":
            kwargs = {k: done[id(v)] for k, v in node.kwargs}
            done[id(node)] = call(node.name, [done[id(a)] for a in node.args], kwargs)
        else:
            done[id(node)] = _intern(node.kind, node.name, node.value, tuple(done[id(a)] for a in node.args), ())
    return done[id(root)]


_results_of: Callable[[str], int] = lambda name: 1


def count_results_with(results_of: Callable[[str], int]) -> None:
    """Hands in what tells how many results the op of a name has: only then can a call of several be unpacked."""
    global _results_of
    _results_of = results_of


def _result_count(node: Expr) -> int:
    return _results_of(node.name) if node.kind == "call" else 1


def _mistake(message: str) -> DeclarationError:
    """An error at the line of the family file that is being traced."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return DeclarationError((relative(frame.f_code.co_filename), frame.f_lineno), message)
