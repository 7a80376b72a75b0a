"""Comparisons, logic, bits, and choices between elements."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, b, f

EVERY = "function method inplace out"
ALL_FUNCTIONS = f"{EVERY} inplace_function"
ORDERED = (*REAL, *BOOL)
BITS = (*INTEGRAL, *UNSIGNED, *BOOL)
EVERY_DTYPE = (*ALL, *UNSIGNED)


@pointwise(
    "eq.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar="other",
    promote="bool",
    dtypes=EVERY_DTYPE,
    out_overload="Tensor_out",
)
def eq(self, other):
    """Whether the elements are equal; NaN equals nothing."""
    return self == other


@pointwise(
    "ne.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar="other",
    promote="bool",
    dtypes=EVERY_DTYPE,
    out_overload="Tensor_out",
)
def ne(self, other):
    """Whether the elements differ; NaN differs from all."""
    return self != other


@pointwise(
    "lt.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar="other",
    promote="bool",
    dtypes=ORDERED,
    out_overload="Tensor_out",
)
def lt(self, other):
    """Whether ``self < other``."""
    return self < other


@pointwise(
    "le.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar="other",
    promote="bool",
    dtypes=ORDERED,
    out_overload="Tensor_out",
)
def le(self, other):
    """Whether ``self <= other``."""
    return self <= other


@pointwise(
    "gt.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar="other",
    promote="bool",
    dtypes=ORDERED,
    out_overload="Tensor_out",
)
def gt(self, other):
    """Whether ``self > other``."""
    return self > other


@pointwise(
    "ge.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar="other",
    promote="bool",
    dtypes=ORDERED,
    out_overload="Tensor_out",
)
def ge(self, other):
    """Whether ``self >= other``."""
    return self >= other


@pointwise("logical_and(Tensor self, Tensor other) -> Tensor", variants=EVERY, promote="bool")
def logical_and(self, other):
    """Whether both elements are nonzero."""
    return logical_and(self, other)


@pointwise("logical_or(Tensor self, Tensor other) -> Tensor", variants=EVERY, promote="bool")
def logical_or(self, other):
    """Whether either element is nonzero."""
    return logical_or(self, other)


@pointwise("logical_xor(Tensor self, Tensor other) -> Tensor", variants=EVERY, promote="bool")
def logical_xor(self, other):
    """Whether exactly one of the elements is nonzero."""
    return logical_xor(self, other)


@pointwise("logical_not(Tensor self) -> Tensor", variants=EVERY, promote="bool")
def logical_not(self):
    """Whether the element is zero."""
    return logical_not(self)


@pointwise(
    "bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar={"Scalar": "other", "Scalar_Tensor": "self"},
    dtypes=BITS,
    out_overload="Tensor_out",
)
def bitwise_and(self, other):
    """The bits that are set in both; for bool the logical and."""
    return self & other


@pointwise(
    "bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar={"Scalar": "other", "Scalar_Tensor": "self"},
    dtypes=BITS,
    out_overload="Tensor_out",
)
def bitwise_or(self, other):
    """The bits that are set in either; for bool the logical or."""
    return self | other


@pointwise(
    "bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar={"Scalar": "other", "Scalar_Tensor": "self"},
    dtypes=BITS,
    out_overload="Tensor_out",
)
def bitwise_xor(self, other):
    """The bits that are set in one of them; for bool the logical xor."""
    return self ^ other


@pointwise("bitwise_not(Tensor self) -> Tensor", variants=EVERY, dtypes=INTEGRAL)
def bitwise_not(self):
    """All bits flipped; for bool the logical not."""
    return ~self


@bitwise_not.formula(BOOL)
def _(self):
    return ~self


@pointwise("bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", variants=EVERY,
           scalar={"Tensor_Scalar": "other", "Scalar_Tensor": "self"}, dtypes=INTEGRAL,
           out_overload="Tensor_out")  # fmt: skip
def bitwise_left_shift(self, other):
    """``self`` shifted left by ``other`` bits."""
    return self << other


@pointwise("bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", variants=EVERY,
           scalar={"Tensor_Scalar": "other", "Scalar_Tensor": "self"}, dtypes=INTEGRAL,
           out_overload="Tensor_out")  # fmt: skip
def bitwise_right_shift(self, other):
    """``self`` shifted right by ``other`` bits, the sign kept."""
    return self >> other


# --- kinds of numbers


@pointwise("isnan(Tensor self) -> Tensor", variants="function method out", promote="bool", dtypes=EVERY_DTYPE)
def isnan(self):
    """Whether the element is NaN."""
    return isnan(self)


@pointwise("isinf(Tensor self) -> Tensor", variants="function method out", promote="bool", dtypes=EVERY_DTYPE)
def isinf(self):
    """Whether the element is infinite."""
    return isinf(self)


@pointwise("isfinite(Tensor self) -> Tensor", variants="function method", promote="bool", dtypes=EVERY_DTYPE)
def isfinite(self):
    """Whether the element is neither infinite nor NaN."""
    return isfinite(self)


@pointwise(
    "isposinf(Tensor self) -> Tensor",
    variants="function method out",
    promote="bool",
    dtypes=ORDERED,
    out="same",
)
def isposinf(self):
    """Whether the element is positive infinity."""
    return isinf(self) & (self > 0)


@pointwise(
    "isneginf(Tensor self) -> Tensor",
    variants="function method out",
    promote="bool",
    dtypes=ORDERED,
    out="same",
)
def isneginf(self):
    """Whether the element is negative infinity."""
    return isinf(self) & (self < 0)


@pointwise("isreal(Tensor self) -> Tensor", variants="function method", promote="bool")
def isreal(self):
    """Whether the element has no imaginary part."""
    return imag(self) == 0


@pointwise(
    "signbit(Tensor self) -> Tensor",
    variants="function method out",
    promote="bool",
    dtypes=ORDERED,
)
def signbit(self):
    """Whether the sign is set, that of a negative zero included."""
    return signbit(self)


@composite("isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
           variants="function method")  # fmt: skip
def isclose(self, other, rtol, atol, equal_nan):
    """Whether ``|self - other| <= atol + rtol * |other|``, or both are equal (infinities, and NaN with
    ``equal_nan``)."""
    check(
        self.dtype == other.dtype,
        f"self has dtype {self.dtype} and other {other.dtype}",
    )
    check(
        rtol >= 0 and atol >= 0,
        f"rtol and atol must not be negative; got {rtol} and {atol}",
    )
    if is_differentiable(self.dtype):
        return op._isclose(self, other, rtol, atol, equal_nan)
    if rtol == 0 and atol == 0:
        return self == other
    return op._isclose(self.to(float64), other.to(float64), rtol, atol, equal_nan)


@pointwise("_isclose(Tensor self, Tensor other, float rtol, float atol, bool equal_nan) -> Tensor", promote="bool",
           dtypes=(*FLOATING, *COMPLEX), unbound=True)  # fmt: skip
def _isclose(self, other, rtol, atol, equal_nan):
    """``isclose`` of numbers that are not whole."""
    near = isfinite(self) & isfinite(other) & (real(abs(self - other)) <= atol + rtol * real(abs(other)))
    same = (self == other) | near
    return same | (isnan(self) & isnan(other)) if equal_nan else same


# --- choices


@pointwise(
    "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
    variants="function out",
    dtypes=EVERY_DTYPE,
    masks=("condition",),
    scalar={"ScalarOther": "other", "ScalarSelf": "self", "Scalar": ("self", "other")},
    batch="elementwise mask_first",
    samples=[S(b(2, 3), f(2, 3), f(2, 3)), S(b(3), f(2, 1), f()), S(b(0), f(1), f(0))],
    out_overload="self_out",
)
def where(condition, self, other):
    """``self`` where ``condition`` holds, else ``other``."""
    return where(condition, self, other)


@where.backward
def _(grad, condition):
    return {"self": where(condition, grad, 0), "other": where(condition, 0, grad)}


@pointwise(
    "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    variants=ALL_FUNCTIONS,
    operands=("min", "max"),
    dtypes=REAL,
    samples=[S(f(2, 3), -0.5, 0.5), S(f(2, 3), None, 0.5), S(f(2, 3), -0.5), S(f(2, 3)), S(f(2, 3), 1, -1)],
    node=1,
)
def clamp(self, min, max):
    """``self`` limited to the range from ``min`` to ``max``; NaN stays. At least one of them must be given."""
    if min is None and max is None:
        return None
    low = self if min is None else maximum(self, min)
    return low if max is None else minimum(low, max)


@clamp.backward
def _(grad, self, min, max):
    return {"self": op.clamp_backward(grad, self, min, max)}


@pointwise(
    "clamp_backward(Tensor grad, Tensor self, Scalar? min, Scalar? max) -> Tensor",
    dtypes=FLOATING,
    unbound=True,
)
def clamp_backward(grad, self, min, max):
    """``grad`` where ``self`` lies within the limits."""
    if min is None and max is None:
        return None
    if max is None:
        return where(self >= min, grad, 0)
    return where(self <= max, grad, 0) if min is None else where((self >= min) & (self <= max), grad, 0)


@clamp_backward.backward
def _(grad, self, min, max):
    return {"grad": op.clamp_backward(grad, self, min, max)}


@pointwise(
    "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    variants=ALL_FUNCTIONS,
    out_overload="Tensor_out",
    dtypes=REAL,
    samples=[S(f(2, 3), f(3), f(2, 1)), S(f(2, 3), f(3)), S(f(2, 3))],
    node=0,
)
def clamp(self, min, max):
    """``self`` limited to the range from ``min`` to ``max``; NaN stays. At least one of them must be given."""
    if min is None and max is None:
        return None
    low = self if min is None else maximum(self, min)
    return low if max is None else minimum(low, max)


@clamp.backward
def _(grad, self, min, max):
    return {
        "self": op.clamp_gradient(grad, self, min, max, 0),
        "min": op.clamp_gradient(grad, self, min, max, 1),
        "max": op.clamp_gradient(grad, self, min, max, 2),
    }


@composite(
    "clamp_gradient(Tensor grad, Tensor self, Tensor? min, Tensor? max, int which) -> Tensor",
    unbound=True,
)
def clamp_gradient(grad, self, min, max, which):
    """The part of ``grad`` that goes to ``self`` (0), ``min`` (1) or ``max`` (2) of a clamp between tensors."""
    # Of self (0), min (1) or max (2), as each took an element; the upper limit is applied last.
    check(min is not None or max is not None, "min or max must be given")
    if (which == 1 and min is None) or (which == 2 and max is None):
        return None
    taken: Tensor | None = None
    if max is not None:
        taken = (maximum(self, min) if min is not None else self) > max
    if which != 2 and min is not None:
        below = self < min
        if which == 1:
            taken = op.logical_and(below, op.logical_not(taken)) if taken is not None else below
        else:
            taken = op.logical_or(taken, below) if taken is not None else below
    return where(op.logical_not(taken) if which == 0 else taken, grad, 0)


@pointwise(
    "clamp_min(Tensor self, Scalar min) -> Tensor",
    variants=ALL_FUNCTIONS,
    operands=("min",),
    dtypes=REAL,
)
def clamp_min(self, min):
    """``self``, but no less than ``min``."""
    return maximum(self, min)


@clamp_min.backward
def _(grad, self, min):
    return {"self": where(self >= min, grad, 0)}


@pointwise(
    "clamp_max(Tensor self, Scalar max) -> Tensor",
    variants=ALL_FUNCTIONS,
    operands=("max",),
    dtypes=REAL,
)
def clamp_max(self, max):
    """``self``, but no more than ``max``."""
    return minimum(self, max)


@clamp_max.backward
def _(grad, self, max):
    return {"self": where(self <= max, grad, 0)}


@pointwise("clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", variants=ALL_FUNCTIONS, dtypes=ORDERED,
           out_overload="Tensor_out")  # fmt: skip
def clamp_min(self, min):
    """``self``, but no less than ``min``."""
    return maximum(self, min)


@clamp_min.backward
def _(grad, self, min):
    return {"self": where(self >= min, grad, 0), "min": where(self < min, grad, 0)}


@pointwise("clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", variants=ALL_FUNCTIONS, dtypes=ORDERED,
           out_overload="Tensor_out")  # fmt: skip
def clamp_max(self, max):
    """``self``, but no more than ``max``."""
    return minimum(self, max)


@clamp_max.backward
def _(grad, self, max):
    return {"self": where(self <= max, grad, 0), "max": where(self > max, grad, 0)}
