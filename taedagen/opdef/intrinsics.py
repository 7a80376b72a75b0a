"""The functions that a formula may use besides operators, and the op that each is in a derivative.

``CALLS`` is the whole vocabulary of a formula: an intrinsic has a vector form in ``csrc/backend/cpu/engine/vec.h`` (or
a scalar one in ``csrc/backend/common/math.h``) under the same name. A call of anything else is a declared pointwise op
and is inlined.
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
    neg abs exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    erf erfc erfinv lgamma digamma i0 floor ceil trunc round isnan isinf isfinite signbit logical_not bitwise_not
    conj real imag angle
"""
_BINARY = """
    add sub mul div pow fmod atan2 hypot copysign nextafter maximum minimum fmax fmin lt le gt ge eq ne gcd
    logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor igamma igammac complex polygamma
"""
_RENAMED = {
    1: {"i0e": "special_i0e", "i1": "special_i1", "i1e": "special_i1e", "ndtri": "special_ndtri",
        "log_ndtr": "special_log_ndtr", "erfcx": "special_erfcx", "bessel_j0": "special_bessel_j0",
        "bessel_j1": "special_bessel_j1", "bessel_y0": "special_bessel_y0", "bessel_y1": "special_bessel_y1",
        "bessel_k0": "special_modified_bessel_k0", "bessel_k1": "special_modified_bessel_k1",
        "bessel_k0e": "special_scaled_modified_bessel_k0", "bessel_k1e": "special_scaled_modified_bessel_k1",
        "airy_ai": "special_airy_ai", "mantissa": "", "exponent": ""},
    2: {"shift_left": "bitwise_left_shift", "shift_right": "bitwise_right_shift", "pymod": "remainder",
        "floordiv": "floor_divide", "truncdiv": "_div_trunc", "zeta": "special_zeta",
        "chebyshev_t": "special_chebyshev_polynomial_t", "chebyshev_u": "special_chebyshev_polynomial_u",
        "chebyshev_v": "special_chebyshev_polynomial_v", "chebyshev_w": "special_chebyshev_polynomial_w",
        "hermite_h": "special_hermite_polynomial_h", "hermite_he": "special_hermite_polynomial_he",
        "laguerre_l": "special_laguerre_polynomial_l", "legendre_p": "special_legendre_polynomial_p"},
    3: {"where": "where", "fma": "", "next_half": ""},
}  # fmt: skip

CALLS: dict[str, Intrinsic] = {
    **{name: Intrinsic(name, 1, name) for name in _UNARY.split()},
    **{name: Intrinsic(name, 2, name) for name in _BINARY.split()},
    **{name: Intrinsic(name, arity, twin) for arity, names in _RENAMED.items() for name, twin in names.items()},
}


def _function(name: str, arity: int) -> Callable[..., Expr]:
    def intrinsic(*args: Expr | float) -> Expr:
        return call(name, args)

    intrinsic.__name__ = intrinsic.__qualname__ = name
    intrinsic.__doc__ = f"``{name}`` of {arity} symbol{'s' * (arity > 1)}, element by element."
    return intrinsic


FUNCTIONS: dict[str, Callable[..., Expr]] = {n: _function(n, c.arity) for n, c in CALLS.items()}
