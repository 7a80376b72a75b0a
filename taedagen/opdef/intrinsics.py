"""The functions that a formula may use besides operators, and the op that each is in a derivative.

``CALLS``, which ``vocabulary.py`` fills, is the whole vocabulary of a formula: an intrinsic has a vector form in
``csrc/backend/cpu/engine/vec.h`` (or a scalar one in ``csrc/backend/common/math.h``) under the same name. A call of
anything else is a declared pointwise op and is inlined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from taedagen.opdef.expr import Expr, call


@dataclass(frozen=True)
class Intrinsic:
    """``op`` names the twin among the ops; empty where a derivative must not use it."""

    name: str
    arity: int
    op: str


Operand = Expr | float
CALLS: dict[str, Intrinsic] = {}
FUNCTIONS: dict[str, Any] = {}

if TYPE_CHECKING:
    from taedagen.opdef.declaration import Declaration

    # A file that declares the op of such a name goes on with ``@name.backward``.
    class Unary(Declaration):
        def __call__(self, x: Operand) -> Expr: ...  # type: ignore[override]

    class Binary(Declaration):
        def __call__(self, x: Operand, y: Operand) -> Expr: ...  # type: ignore[override]

    class Ternary(Declaration):
        def __call__(self, x: Operand, y: Operand, z: Operand) -> Expr: ...  # type: ignore[override]


def unary(name: str, op: str | None = None) -> Unary:
    """Adds a function of one operand to the vocabulary; ``op`` where its twin has another name."""
    CALLS[name] = Intrinsic(name, 1, name if op is None else op)

    def intrinsic(x: Operand) -> Expr:
        return call(name, (x,))

    return _named(intrinsic, name)


def binary(name: str, op: str | None = None) -> Binary:
    """The same with two operands."""
    CALLS[name] = Intrinsic(name, 2, name if op is None else op)

    def intrinsic(x: Operand, y: Operand) -> Expr:
        return call(name, (x, y))

    return _named(intrinsic, name)


def ternary(name: str, op: str | None = None) -> Ternary:
    """The same with three operands."""
    CALLS[name] = Intrinsic(name, 3, name if op is None else op)

    def intrinsic(x: Operand, y: Operand, z: Operand) -> Expr:
        return call(name, (x, y, z))

    return _named(intrinsic, name)


def _named(function: Any, name: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}``, element by element."
    FUNCTIONS[name] = function
    return function
