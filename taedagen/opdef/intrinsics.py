"""The functions that a formula may use besides operators, and the op that each is in a derivative.

``CALLS`` is the whole vocabulary of a formula: an intrinsic has a vector form in ``csrc/backend/cpu/vec.h`` (or a scalar
one in ``csrc/backend/math.h``) under the same name. A call of anything else is a declared pointwise op and is inlined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from taedagen.opdef.expr import Expr, call


@dataclass(frozen=True)
class Intrinsic:
    """``op`` names the twin among the ops; empty where a derivative must not use it."""

    name: str
    arity: int
    op: str


_UNARY = """
    neg abs exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh acosh
    atanh erf erfc erfinv lgamma digamma floor ceil trunc round sign sgn isnan isinf isfinite isposinf isneginf signbit
    logical_not bitwise_not conj real imag angle square frac
    special_i0 special_i0e special_i1 special_i1e special_ndtri special_log_ndtr special_erfcx special_bessel_j0
    special_bessel_j1 special_bessel_y0 special_bessel_y1 special_modified_bessel_k0 special_modified_bessel_k1
    special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_airy_ai special_spherical_bessel_j0
"""
_BINARY = """
    add sub mul div pow fmod atan2 hypot copysign nextafter maximum minimum fmax fmin lt le gt ge eq ne
    logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor igamma igammac complex polygamma special_zeta gcd lcm
    special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
    special_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he
    special_laguerre_polynomial_l special_legendre_polynomial_p
"""
_OTHER_OPS = {
    "shift_left": "bitwise_left_shift", "shift_right": "bitwise_right_shift", "pymod": "remainder",
    "floordiv": "floor_divide", "truncdiv": "", "xlogy": "xlogy", "ldexp": "ldexp",
}  # fmt: skip

CALLS: dict[str, Intrinsic] = {
    **{n: Intrinsic(n, 1, n) for n in _UNARY.split()},
    **{n: Intrinsic(n, 2, n) for n in _BINARY.split()},
    **{n: Intrinsic(n, 2, twin) for n, twin in _OTHER_OPS.items() if n in {"shift_left", "shift_right", "pymod", "floordiv", "truncdiv"}},
    "where": Intrinsic("where", 3, "where"),
    "fma": Intrinsic("fma", 3, ""),
}  # fmt: skip


def _function(name: str, arity: int) -> Callable[..., Expr]:
    def intrinsic(*args: Expr | float) -> Expr:
        return call(name, args)

    intrinsic.__name__ = intrinsic.__qualname__ = name
    intrinsic.__doc__ = f"``{name}`` of {arity} symbol{'s' * (arity > 1)}, element by element."
    return intrinsic


# Python's own operators and builtins (abs, round, pow) reach the rest.
FUNCTIONS: dict[str, Callable[..., Expr]] = {n: _function(n, c.arity) for n, c in CALLS.items()}
