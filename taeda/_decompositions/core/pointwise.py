"""Functions of elements: those that PyTorch ends elsewhere than their formulas here, and all others by these."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._decompositions.core.table import as_dtype, aten, body_of, number, pointwise_formula

_BY_FORMULA = """
    special_entr special_xlog1py xlogy.Tensor logit sinc hardshrink softshrink threshold logaddexp
    logaddexp2 sgn heaviside isreal exp2
"""
for _name in _BY_FORMULA.split():
    body_of(_name)(pointwise_formula(_name))


@body_of("silu")
def _silu(self: Tensor) -> Any:
    return aten.mul.Tensor(self, aten.sigmoid.default(self))


@body_of("softplus")
def _softplus(self: Tensor, beta: Any = 1, threshold: Any = 20) -> Any:
    scaled = self if beta == 1 else aten.mul.Tensor(self, beta)
    soft = aten.log1p.default(aten.exp.default(scaled))
    return aten.where.self(aten.gt.Scalar(scaled, threshold), self, soft if beta == 1 else aten.div.Tensor(soft, beta))


@body_of("mish")
def _mish(self: Tensor) -> Any:
    return aten.mul.Tensor(self, aten.tanh.default(_softplus(self)))


def _gate(x: Tensor) -> Tensor:
    return aten.clamp.default(aten.clamp.default(aten.add.Tensor(x, 3), 0), None, 6)


@body_of("hardsigmoid")
def _hardsigmoid(self: Tensor) -> Any:
    return aten.div.Tensor(_gate(self), 6)


@body_of("hardswish")
def _hardswish(self: Tensor) -> Any:
    return aten.div.Tensor(aten.mul.Tensor(self, _gate(self)), 6)


@body_of("relu6")
def _relu6(self: Tensor) -> Any:
    return aten.hardtanh.default(self, 0, 6)


@body_of("selu")
def _selu(self: Tensor) -> Any:
    return aten.elu.default(self, 1.6732632423543772, 1.0507009873554805)


@body_of("celu")
def _celu(self: Tensor, alpha: Any = 1.0) -> Any:
    bent = aten.expm1.default(self if alpha == 1 else aten.div.Tensor(self, alpha))
    return aten.where.self(aten.gt.Scalar(self, 0), self, bent if alpha == 1 else aten.mul.Tensor(bent, alpha))


@body_of("log_sigmoid")
def _log_sigmoid(self: Tensor) -> Any:
    zero = aten.full.default([], 0, dtype=self.dtype, device=self.device)
    tail = aten.log1p.default(aten.exp.default(aten.neg.default(aten.abs.default(self))))
    return aten.sub.Tensor(aten.minimum.default(zero, self), tail)


@body_of("prelu")
def _prelu(self: Tensor, weight: Tensor) -> Any:
    if weight.dim() == 1 and self.dim() > 1:
        weight = aten.view.default(weight, [1, weight.shape[0], *[1] * (self.dim() - 2)])
    return aten.where.self(aten.gt.Scalar(self, 0), self, aten.mul.Tensor(weight, self))


@body_of("glu")
def _glu(self: Tensor, dim: int = -1) -> Any:
    half = self.shape[dim] // 2
    first, second = aten.slice.Tensor(self, dim, 0, half), aten.slice.Tensor(self, dim, half)
    return aten.mul.Tensor(first, aten.sigmoid.default(second))


def _scaled(x: Tensor, value: Any) -> Tensor:
    return x if value == 1 else aten.mul.Tensor(x, value)


@body_of("addcmul")
def _addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Any:
    return aten.add.Tensor(self, aten.mul.Tensor(_scaled(tensor1, value), tensor2))


@body_of("addcdiv")
def _addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Any:
    return aten.add.Tensor(self, aten.div.Tensor(_scaled(tensor1, value), tensor2))


@body_of("lerp.Scalar", "lerp.Tensor")
def _lerp(self: Tensor, end: Tensor, weight: Any) -> Any:
    """Counted from the nearer end, so that both ends are met."""
    step = aten.sub.Tensor(end, self)
    if not isinstance(weight, Tensor):
        return (
            aten.add.Tensor(self, aten.mul.Tensor(step, weight)) if abs(weight) < 0.5
            else aten.sub.Tensor(end, aten.mul.Tensor(step, 1 - weight))
        )  # fmt: skip
    is_far = aten.ge.Scalar(aten.abs.default(weight), 0.5)
    rest = aten.where.self(is_far, aten.sub.Tensor(weight, 1), weight)
    return aten.add.Tensor(aten.mul.Tensor(rest, step), aten.where.self(is_far, end, self))


@body_of("clamp_min")
def _clamp_min(self: Tensor, min: Any) -> Any:
    return aten.clamp.default(self, min)


@body_of("clamp_max")
def _clamp_max(self: Tensor, max: Any) -> Any:
    return aten.clamp.default(self, None, max)


@body_of("floor_divide", "floor_divide.Scalar")
def _floor_divide(self: Tensor, other: Any) -> Any:
    divide = aten.div.Tensor_mode if isinstance(other, Tensor) else aten.div.Scalar_mode
    return divide(self, other, rounding_mode="floor")


@body_of("rsub.Tensor")
def _rsub(self: Tensor, other: Tensor, *, alpha: Any = 1) -> Any:
    return aten.sub.Tensor(other, self, alpha=alpha)


@body_of("rsub.Scalar")
def _rsub_number(self: Tensor, other: Any, alpha: Any = 1) -> Any:
    return aten.add.Scalar(aten.mul.Scalar(self, -alpha), other)


@body_of("frac")
def _frac(self: Tensor) -> Any:
    return aten.sub.Tensor(self, aten.trunc.default(self))


@body_of("deg2rad")
def _deg2rad(self: Tensor) -> Any:
    return aten.mul.Tensor(self, 0.017453292519943295)


@body_of("rad2deg")
def _rad2deg(self: Tensor) -> Any:
    return aten.mul.Tensor(self, 57.29577951308232)


@body_of("square")
def _square(self: Tensor) -> Any:
    return aten.pow.Tensor_Scalar(self, 2)


@body_of("isfinite")
def _isfinite(self: Tensor) -> Any:
    if not self.is_floating_point():
        return NotImplemented
    return aten.logical_and.default(aten.eq.Tensor(self, self), aten.ne.Scalar(aten.abs.default(self), float("inf")))


@body_of("isposinf")
def _isposinf(self: Tensor) -> Any:
    return aten.eq.Scalar(self, float("inf"))


@body_of("isneginf")
def _isneginf(self: Tensor) -> Any:
    return aten.eq.Scalar(self, float("-inf"))


@body_of("float_power.Tensor_Scalar")
def _float_power(self: Tensor, exponent: Any) -> Any:
    wide = taeda.complex128 if self.is_complex() or isinstance(exponent, complex) else taeda.float64
    return aten.pow.Tensor_Scalar(as_dtype(self, wide), exponent)


@body_of("nan_to_num")
def _nan_to_num(self: Tensor, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    if not self.is_floating_point():
        return NotImplemented
    limits = taeda.finfo(self.dtype)
    high, low = limits.max if posinf is None else posinf, limits.min if neginf is None else neginf
    found = aten.where.self(aten.isnan.default(self), number(nan or 0.0, self), self)
    found = aten.where.self(_isneginf(found), number(low, self), found)
    return aten.where.self(_isposinf(found), number(high, self), found)
