"""Complex numbers: their parts, conjugates, and how they are made of two real numbers."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@pointwise("_conj_physical(Tensor self) -> Tensor", variants="function out", dtypes=COMPLEX, unbound=True)
def _conj_physical(self):
    """The complex conjugates."""
    return conj(self)


@_conj_physical.backward
def _(grad):
    return {"self": op._conj_physical(grad)}


@composite("conj_physical(Tensor self) -> Tensor", variants="function method inplace out inplace_function")
def conj_physical(self):
    """The complex conjugates; real tensors come back as they are."""
    return op._conj_physical(self) if self.is_complex() else self


# --- what is computed only when somebody reads it: a view over the same memory says that it holds the conjugates, or
# the negatives, of its elements


@view(
    "_conj(Tensor(a) self) -> Tensor(a)",
    variants="function",
    shape="conjugated",
    batch="same_place",
    samples=[S(f(2, 3, dtype="complex128")), S(f(2, dtype="complex64"))],
)
def _conj(self):
    """The complex conjugates, as a view; RuntimeError for a real tensor."""


@_conj.backward
def _(grad):
    return {"self": op._conj(grad)}


@view("_neg_view(Tensor(a) self) -> Tensor(a)", variants="function method", shape="negated", batch="same_place")
def _neg_view(self):
    """The negatives, as a view."""


@_neg_view.backward
def _(grad):
    return {"self": -grad}


@composite("conj(Tensor(a) self) -> Tensor(a)", variants="function method")
def conj_(self):
    """The complex conjugates as a view, which computes them when they are read; a real tensor itself."""
    return op._conj(self) if self.is_complex() else self


@composite("resolve_conj(Tensor(a) self) -> Tensor(a)", variants="function method")
def resolve_conj(self):
    """A copy whose memory holds the values if ``self`` is lazily conjugated, else ``self``."""
    return self.clone() if self.is_conj() else self


@composite("resolve_neg(Tensor(a) self) -> Tensor(a)", variants="function method")
def resolve_neg(self):
    """A copy whose memory holds the values if ``self`` is lazily negated, else ``self``."""
    return self.clone() if self.is_neg() else self


@composite("positive(Tensor(a) self) -> Tensor(a)", variants="function method")
def positive(self):
    """``self``; RuntimeError for bool."""
    check(self.dtype != bool_, "truth values have no sign; got a bool tensor")
    return self


@composite("real(Tensor(a) self) -> Tensor(a)")
def real_(self):
    """A view of the real parts; a real tensor itself."""
    if not self.is_complex():
        return self
    return op.view_as_real(op._conj(self) if self.is_conj() else self).select(-1, 0)


@composite("imag(Tensor(a) self) -> Tensor(a)", samples=[S(f(2, 3, dtype="complex128")), S(f(2))])
def imag_(self):
    """A view of the imaginary parts; RuntimeError for a real tensor."""
    check(
        self.is_complex(),
        f"only complex tensors have imaginary parts; got {self.dtype}",
    )
    if self.is_conj():
        return op._neg_view(op.view_as_real(op._conj(self))).select(-1, 1)
    return op.view_as_real(self).select(-1, 1)


@kernel(
    "complex(Tensor real, Tensor imag) -> Tensor",
    variants="function out",
    shape="complex_of",
    files="complex_numbers",
    out="same",
    batch="complex_",
    samples=[S(f(2, 3), f(2, 3)), S(f(2, 1), f(3))],
)
def complex_(real, imag):
    """The complex numbers with these real and imaginary parts, broadcast; both float16, float32 or float64."""


@complex_.backward
def _(grad):
    return {"real": op.real(grad), "imag": op.imag(grad)}


@composite(
    "polar(Tensor abs, Tensor angle) -> Tensor",
    variants="function out",
    autocast="fp32",
    samples=[S(f(2, 3, low=0.2), f(2, 3))],
)
def polar(abs, angle):
    """The complex numbers with these lengths and angles in radians; both float32 or both float64."""
    check(
        abs.is_floating_point() and angle.is_floating_point() and abs.dtype == angle.dtype,
        f"takes lengths and angles of one floating-point dtype; got {abs.dtype} and {angle.dtype}",
    )
    return op.complex(op.mul(abs, op.cos(angle)), op.mul(abs, op.sin(angle)))
