"""Special functions without derivatives (``unary.py`` and ``binary.py`` hold those that have one), and what is made of
the gamma function."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f

PRECISE = ("float32", "float64")


def _declare(schema, doc, formula, **options):
    names = schema[schema.index("(") + 1 : schema.index(")")].replace("Tensor ", "")
    function = eval(compile(f"lambda {names}: formula({names})", __file__, "eval"), {"formula": formula})
    function.__doc__ = doc
    pointwise(schema, variants="function out", module="special", promote="int_to_float", dtypes=PRECISE,
              not_differentiable=True, **options)(function)  # fmt: skip


for _signature, _formula, _doc, *_domain in (
    ("bessel_j0(Tensor self)", bessel_j0, "The Bessel function of the first kind, of order 0."),
    ("bessel_j1(Tensor self)", bessel_j1, "The Bessel function of the first kind, of order 1."),
    ("bessel_y0(Tensor self)", bessel_y0, "The Bessel function of the second kind, of order 0.", (0.5, 4.0)),
    ("bessel_y1(Tensor self)", bessel_y1, "The Bessel function of the second kind, of order 1.", (0.5, 4.0)),
    ("modified_bessel_i0(Tensor self)", i0, "The modified Bessel function of the first kind, of order 0."),
    ("modified_bessel_i1(Tensor self)", i1, "The modified Bessel function of the first kind, of order 1."),
    ("modified_bessel_k0(Tensor self)", bessel_k0, "The modified Bessel function of the second kind, of order 0.",
     (0.5, 4.0)),
    ("modified_bessel_k1(Tensor self)", bessel_k1, "The modified Bessel function of the second kind, of order 1.",
     (0.5, 4.0)),
    ("scaled_modified_bessel_k0(Tensor x)", bessel_k0e, "``exp(x) * modified_bessel_k0(x)``."),
    ("scaled_modified_bessel_k1(Tensor x)", bessel_k1e, "``exp(x) * modified_bessel_k1(x)``."),
    ("airy_ai(Tensor x)", airy_ai, "Airy's function Ai."),
):  # fmt: skip
    _declare(f"special_{_signature} -> Tensor", _doc, _formula, domain=_domain[0] if _domain else (-2.0, 2.0))


@pointwise("special_spherical_bessel_j0(Tensor x) -> Tensor", variants="function out", promote="int_to_float",
           dtypes=PRECISE, module="special", not_differentiable=True)  # fmt: skip
def special_spherical_bessel_j0(x):
    """The spherical Bessel function of the first kind, of order 0: ``sin(x) / x``."""
    return where(x == 0, 1, where(isinf(x), 0, sin(x) / x))


def _shifted(polynomial):
    return lambda x, n: polynomial(2 * x - 1, n)


_NUMBERS = {"x_scalar": "x", "n_scalar": "n"}
for _name, _polynomial, _doc in (
    ("chebyshev_polynomial_t", chebyshev_t, "Chebyshev's polynomial of the first kind"),
    ("chebyshev_polynomial_u", chebyshev_u, "Chebyshev's polynomial of the second kind"),
    ("chebyshev_polynomial_v", chebyshev_v, "Chebyshev's polynomial of the third kind"),
    ("chebyshev_polynomial_w", chebyshev_w, "Chebyshev's polynomial of the fourth kind"),
    ("hermite_polynomial_h", hermite_h, "Hermite's polynomial as physicists scale it"),
    ("hermite_polynomial_he", hermite_he, "Hermite's polynomial as statisticians scale it"),
    ("laguerre_polynomial_l", laguerre_l, "Laguerre's polynomial"),
    ("legendre_polynomial_p", legendre_p, "Legendre's polynomial"),
):  # fmt: skip
    _degree = "of degree ``n``, cut to a whole number; 0 for a negative one."
    _declare(f"special_{_name}(Tensor x, Tensor n) -> Tensor", f"{_doc} at ``x``, {_degree}", _polynomial,
             scalar=_NUMBERS)  # fmt: skip
    if _name.startswith("chebyshev"):
        _declare(f"special_shifted_{_name}(Tensor x, Tensor n) -> Tensor", f"{_doc} at ``2 x - 1``, {_degree}",
                 _shifted(_polynomial), scalar=_NUMBERS)  # fmt: skip


# --- made of the gamma function


@composite(
    "mvlgamma(Tensor self, int p) -> Tensor",
    variants="function method inplace out",
    samples=[S(f(2, 3, low=1.5, high=4), 2), S(f(2, low=1.5, high=4), 0)],
)
def mvlgamma(self, p):
    """The logarithm of the multivariate gamma function of dimension ``p``; for ``self`` above ``(p - 1) / 2``."""
    # pi^(p (p - 1) / 4) times the product of gamma(x - j / 2) over j < p.
    check(p >= 1, f"the dimension p must be at least 1; got {p}")
    dtype = self.dtype if self.is_floating_point() else default_dtype()
    op.empty([*self.shape, p], dtype=dtype, device=self.device)  # too large a p fails here, before the work
    halves = op.arange(p, dtype=dtype, device=self.device) * 0.5
    factors = lgamma(self.unsqueeze(-1) - halves)
    count = float(p)
    return factors.sum([-1]) + count * (count - 1) / 4 * 1.1447298858494002


@composite("special_multigammaln(Tensor self, int p) -> Tensor", variants="function out", module="special",
           domain=(0.5, 4.0))  # fmt: skip
def special_multigammaln(self, p):
    """Another name of ``mvlgamma``."""
    return op.mvlgamma(self, p)


# --- floating-point numbers taken apart


@pointwise("_frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)", dtypes=FLOATING, unbound=True,
           nondiff="exponent")  # fmt: skip
def _frexp(self):
    """``frexp`` with the exponents as floating-point numbers."""
    return mantissa(self), exponent(self)


@_frexp.backward
def _(grads, exponent):
    return {"self": grads[0] / exp2(exponent)}


@composite("frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", variants="function method out",
           out="same")  # fmt: skip
def frexp(self):
    """``mantissa`` in [0.5, 1) and int32 ``exponent`` of which ``self`` is ``mantissa * 2**exponent``; zeros,
    infinities and NaN are their own mantissa."""
    check(self.is_floating_point(), f"takes floating-point numbers; got {self.dtype}")
    mantissa, exponent = op._frexp(self)
    return mantissa, exponent.to(int32)
