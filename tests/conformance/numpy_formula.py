"""A declared formula run by NumPy: the oracle that comes free with each pointwise op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from taedagen.emit.formula import expand, formula_for
from taedagen.opdef import Declaration, Expr, trace
from taedagen.opdef.expr import arg, walk


def _sign_of_zero(x: Any) -> Any:
    return np.signbit(x) if np.asarray(x).dtype.kind == "f" else np.asarray(x) < 0


def _truncdiv(a: Any, b: Any) -> Any:
    quotient = np.trunc(np.true_divide(a, b))
    return quotient.astype(np.result_type(a, b)) if np.result_type(a, b).kind in "iu" else quotient


def _shift(direction: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: direction(a, np.asarray(b).astype(np.asarray(a).dtype))


def _bitwise(whole: Callable[..., Any], truth: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: (truth if np.asarray(a).dtype == bool else whole)(a, b)


_SAME_NAME = """
    exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan sinh cosh tanh floor ceil trunc isnan isinf isfinite conj
    real imag angle fmod hypot copysign nextafter maximum minimum fmax fmin gcd logical_not logical_and logical_or
    logical_xor
"""
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in _SAME_NAME.split()},
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "atan2": np.arctan2,
    "neg": np.negative,
    "abs": np.abs,
    "round": np.rint,
    "signbit": _sign_of_zero,
    "bitwise_not": np.invert,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "pow": np.power,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "shift_left": _shift(np.left_shift),
    "shift_right": _shift(np.right_shift),
    "pymod": np.mod,
    "floordiv": np.floor_divide,
    "truncdiv": _truncdiv,
    "where": np.where,
    "fma": lambda a, b, c: a * b + c,
    "complex": lambda a, b: a + 1j * b,
    "erf": special.erf,
    "erfc": special.erfc,
    "erfinv": special.erfinv,
    "erfcx": special.erfcx,
    "lgamma": special.gammaln,
    "digamma": special.digamma,
    "i0": special.i0,
    "i0e": special.i0e,
    "i1": special.i1,
    "i1e": special.i1e,
    "ndtri": special.ndtri,
    "log_ndtr": special.log_ndtr,
    "bessel_j0": special.j0,
    "bessel_j1": special.j1,
    "bessel_y0": special.y0,
    "bessel_y1": special.y1,
    "igamma": special.gammainc,
    "igammac": special.gammaincc,
    "polygamma": special.polygamma,
    "zeta": special.zeta,
    "largest": lambda x: np.full_like(x, np.finfo(np.asarray(x).dtype).max),
}


def evaluate(declaration: Declaration, values: dict[str, Any], dtype: str) -> list[Any]:
    """The formula of ``declaration`` for ``dtype`` over arrays and numbers by parameter name."""
    masks = dtype == "bool" and formula_for(declaration, dtype) is not declaration.function
    if np.dtype(dtype).kind in "iu":  # numbers are read as the formula's dtype
        values = {k: int(v) if isinstance(v, float) else v for k, v in values.items()}
    symbols: dict[str, Any] = {}
    for argument in declaration.schema.arguments:
        name, value = argument.name, values[argument.name]
        # Words, switches and nothing reach a formula as themselves, so that it may branch on them.
        as_itself = value is None or isinstance(value, str) or argument.type.base == "bool"
        is_mask = masks or name in declaration.options.get("masks", ())
        symbols[name] = value if as_itself else arg(name, mask=is_mask and argument.type.is_tensor)
    result = trace(formula_for(declaration, dtype), symbols)
    return [
        _run(expand(root, dtype, declaration), values) for root in (result if isinstance(result, tuple) else (result,))
    ]


def _run(root: Expr, values: dict[str, Any]) -> Any:
    done: dict[int, Any] = {}
    for node in walk([root]):
        if node.kind == "arg":
            done[id(node)] = values[node.name]
        elif node.kind == "const":
            done[id(node)] = node.value
        else:
            done[id(node)] = FUNCTIONS[node.name](*(done[id(a)] for a in node.args))
    return done[id(root)]
