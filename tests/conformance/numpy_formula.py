"""What NumPy and SciPy call the functions of a formula: with it they are the oracle of each pointwise op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from taedagen.emit import oracle
from taedagen.opdef import Declaration


def _sign_of_zero(x: Any) -> Any:
    return np.signbit(x) if np.asarray(x).dtype.kind == "f" else np.asarray(x) < 0


def _truncdiv(a: Any, b: Any) -> Any:
    quotient = np.trunc(np.true_divide(a, b))
    return quotient.astype(np.result_type(a, b)) if np.result_type(a, b).kind in "iu" else quotient


def _shift(direction: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: direction(a, np.asarray(b).astype(np.asarray(a).dtype))


def _bitwise(whole: Callable[..., Any], truth: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: (truth if np.asarray(a).dtype == bool else whole)(a, b)


def _of_degree(polynomial: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's polynomial of a whole degree and a point, as a formula calls it: the point first, any degree."""

    def evaluate_at(x: Any, n: Any) -> Any:
        whole = np.trunc(n).astype(int)
        return np.where(whole < 0, 0.0, polynomial(np.maximum(whole, 0), x))

    return evaluate_at


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
    "bessel_k0": special.k0,
    "bessel_k1": special.k1,
    "bessel_k0e": special.k0e,
    "bessel_k1e": special.k1e,
    "airy_ai": lambda x: special.airy(x)[0],
    "chebyshev_t": _of_degree(special.eval_chebyt),
    "chebyshev_u": _of_degree(special.eval_chebyu),
    "chebyshev_v": _of_degree(lambda n, x: special.eval_chebyu(n, x) - special.eval_chebyu(n - 1, x)),
    "chebyshev_w": _of_degree(lambda n, x: special.eval_chebyu(n, x) + special.eval_chebyu(n - 1, x)),
    "hermite_h": _of_degree(special.eval_hermite),
    "hermite_he": _of_degree(special.eval_hermitenorm),
    "laguerre_l": _of_degree(special.eval_laguerre),
    "legendre_p": _of_degree(special.eval_legendre),
}


def evaluate(declaration: Declaration, values: dict[str, Any], dtype: str) -> list[Any]:
    """The formula of ``declaration`` for ``dtype`` over arrays and numbers by parameter name."""
    return oracle.evaluate(declaration, values, dtype, FUNCTIONS)
