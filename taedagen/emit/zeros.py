"""What formulas do to zeros, and so how they run on sparse operands: the lines of ``zeros.txt``.

``add.Tensor keeps`` means f(0, 0) = 0, for any numbers: the union of the patterns is enough. ``mul.Tensor keeps self
other`` names the operands one zero of which makes the result zero, whatever the others are: the intersection of their
patterns. ``numbers`` stands in place of ``keeps`` where the numbers of a call decide. A reduction ``keeps`` if a zero
leaves what it is combined with. Ops that are not listed turn zeros into something else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from taedagen.emit.formula import expand, formula_for
from taedagen.emit.plan import Plan
from taedagen.opdef.declaration import COMPLEX, Declaration, Op
from taedagen.opdef.errors import DeclarationError
from taedagen.opdef.expr import Expr, arg, trace, walk
from taedagen.opdef.schema import Argument

_ELEMENT, _NUMBER = "element", "number"  # what is not known: of a tensor, or of the call's numbers alone
_Value = float | bool | str | None


def emit_zeros(plan: Plan) -> dict[str, str]:
    lines = []
    for op in (op for family in plan.families for op in family.ops):
        if op.variant != "functional" or not plan.has_body(op):
            continue
        found = {"pointwise": _pointwise, "reduction": _reduction}.get(op.declaration.kind, lambda op: "")(op)
        if found:
            lines.append(f"{op.schema.full_name} {found}\n")
    return {"zeros.txt": "".join(lines)}


def _pointwise(op: Op) -> str:
    tensors = [a.name for a in op.schema.arguments if a.type.is_tensor]
    if not tensors or any(a.type.is_list for a in op.schema.arguments):
        return ""
    whole = _meet(_results(op, set(tensors)))
    if any(_is_word(a) for a in op.schema.arguments):  # a formula may branch on it: the call is tried
        return "numbers" if whole in (0, _NUMBER) else ""
    single = [name for name in tensors if len(tensors) > 1 and _meet(_results(op, {name})) == 0]
    if whole == 0 and not isinstance(whole, str):
        return " ".join(["keeps", *single])
    return " ".join(["numbers", *single]) if whole == _NUMBER else ""


def _reduction(op: Op) -> str:
    """A zero is loaded as the state that combining leaves alone."""
    rule: Any = op.declaration.function
    if getattr(rule, "identity", None) != "zero":
        return ""
    load = getattr(rule, "load", None)
    if load is None:
        return "keeps"
    try:
        loaded = trace(load, {name: arg(name) for name in load.__code__.co_varnames[: load.__code__.co_argcount]})
    except DeclarationError:
        return ""
    if not isinstance(loaded, Expr):
        return ""
    return "keeps" if _value(loaded, lambda name: 0.0) == 0 else ""


def _meet(values: Iterable[_Value]) -> _Value:
    """What all formulas of an op agree on."""
    found = list(values)
    if any(v != v for v in found):
        return _ELEMENT
    if all(v == found[0] for v in found):
        return found[0]
    return _ELEMENT if _ELEMENT in found or None in found else _NUMBER


def _results(op: Op, zeros: set[str]) -> list[_Value]:
    """The results where the named operands are zero, by formula."""
    declaration = op.declaration
    kinds = {a.name: _ELEMENT if a.type.is_tensor else _NUMBER for a in op.schema.arguments}
    values: list[_Value] = []
    for dtype in _dtypes(declaration):
        for root in _roots(declaration, op, dtype):
            values.append(_value(root, lambda name: 0.0 if name in zeros else kinds[name]))
    return values or [_ELEMENT]


def _is_word(a: Argument) -> bool:
    return a.type.base in ("str", "bool") or a.type.optional


def _default(a: Argument) -> Any:
    words = {"True": True, "False": False, "None": None}
    return words.get(str(a.default), str(a.default).strip("'\""))


def _dtypes(declaration: Declaration) -> list[str]:
    """One of the dtypes of each formula."""
    found: dict[Any, str] = {}
    for dtype in declaration.supported:
        found.setdefault((formula_for(declaration, dtype), dtype in COMPLEX), dtype)
    return list(found.values())


def _roots(declaration: Declaration, op: Op, dtype: str) -> list[Expr]:
    symbols: dict[str, Any] = {}
    masks = dtype == "bool" and formula_for(declaration, dtype) is not declaration.function
    for a in op.schema.arguments:
        mask = a.type.is_tensor and (masks or a.name in declaration.options.get("masks", ()))
        symbols[a.name] = _default(a) if _is_word(a) else arg(a.name, mask=mask)
        if _is_word(a) and (a.default is None or a.type.is_tensor):
            return []
    result = trace(formula_for(declaration, dtype), symbols)
    roots = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(root, Expr) for root in roots):
        return []
    return [expand(root, dtype, declaration) for root in roots]


# --- numbers where they are known


def _value(root: Expr, of_argument: Callable[[str], _Value]) -> _Value:
    done: dict[int, _Value] = {}
    for node in walk([root]):
        if node.kind == "arg":
            done[id(node)] = of_argument(node.name)
        elif node.kind == "const":
            done[id(node)] = node.value if isinstance(node.value, (bool, int, float)) else _NUMBER
        else:
            done[id(node)] = _call(node.name, [done[id(a)] for a in node.args])
    return done[id(root)]


def _known(value: _Value) -> bool:
    return value is not None and not isinstance(value, str)


def _call(name: str, values: list[_Value]) -> _Value:
    if all(map(_known, values)):
        return _computed(name, values)
    zeros = [_known(v) and v == 0 for v in values]
    if name in ("mul", "logical_and", "bitwise_and") and any(zeros):
        return 0.0
    if name in ("div", "truncdiv", "floordiv") and zeros[0] and values[1] == _NUMBER:
        return 0.0
    if name == "where":
        condition, yes, no = values
        if _known(condition):
            return yes if condition else no
        if _known(yes) and yes == no:
            return yes
    return _ELEMENT if _ELEMENT in values or None in values else _NUMBER


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "neg": lambda a: -a, "maximum": max, "minimum": min, "abs": abs, "where": lambda c, a, b: a if c else b,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "logical_not": lambda a: not a,
    "logical_and": lambda a, b: bool(a and b), "logical_or": lambda a, b: bool(a or b),
    "logical_xor": lambda a, b: bool(a) != bool(b), "isnan": math.isnan, "isinf": math.isinf,
    "isfinite": math.isfinite, "signbit": lambda a: a < 0, "pow": lambda a, b: a**b, "sqrt": math.sqrt,
    "rsqrt": lambda a: 1 / math.sqrt(a), "square": lambda a: a * a, "exp2": lambda a: 2.0**a,
    "sign": lambda a: (a > 0) - (a < 0), "round": round, "frac": lambda a: a - math.trunc(a), "conj": lambda a: a,
    "real": lambda a: a, "imag": lambda a: 0, "fma": lambda a, b, c: a * b + c, 
    "erfinv": lambda a: a if a == 0 else None,
    "bitwise_and": lambda a, b: int(a) & int(b), "bitwise_or": lambda a, b: int(a) | int(b),
    "bitwise_xor": lambda a, b: int(a) ^ int(b),
    **{name: getattr(math, name) for name in (
        "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos",
        "atan", "asinh", "acosh", "atanh", "atan2", "hypot", "erf", "erfc", "ceil", "floor", "trunc", "lgamma",
        "copysign")},
}  # fmt: skip


def _computed(name: str, values: list[Any]) -> _Value:
    function = _FUNCTIONS.get(name)
    if function is None:
        return _ELEMENT
    try:
        result: _Value = function(*values)
    except (ArithmeticError, ValueError):
        return math.nan
    return _ELEMENT if result is None else result
