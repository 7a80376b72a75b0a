"""Rounding to the levels of quantised numbers, in floating point: what training with quantisation in mind computes.

The level of a number is ``round(self / scale) + zero_point``, from ``quant_min`` to ``quant_max``. Gradients pass where
the level is in range (the straight-through estimator of Bengio et al., 2013, arXiv 1308.3432).
"""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v

_SCALES = v([0.1, 0.3], "float32")
_ZEROS = v([1, 3], "int32")


@pointwise(
    "_fake_quantize(Tensor self, Tensor scale, Tensor inverse, Tensor zero_point, int quant_min, int quant_max) -> "
    "Tensor",
    dtypes=FLOATING,
    unbound=True,
    samples=[S(f(2, 3), f(2, 1, low=0.1), f(2, 1, low=1.0, high=4.0), f(1), -8, 7)],
)
def _fake_quantize(self, scale, inverse, zero_point, quant_min, quant_max):
    """The value of the level of ``self``; ``inverse`` is ``1 / scale``."""
    level = fmin(fmax(round(self * inverse) + zero_point, quant_min), quant_max)
    return (level - zero_point) * scale


@_fake_quantize.backward
def _(grad, self, inverse, zero_point, quant_min, quant_max):
    level = round(self * inverse) + zero_point
    return {"self": where((level >= quant_min) & (level <= quant_max), grad, 0)}


@pointwise(
    "_fake_quantize_shifted(Tensor self, Tensor scale, Tensor inverse, Tensor zero_point, int quant_min, int "
    "quant_max) -> Tensor",
    dtypes=FLOATING,
    unbound=True,
    samples="_fake_quantize",
)
def _fake_quantize_shifted(self, scale, inverse, zero_point, quant_min, quant_max):
    """``_fake_quantize`` with a zero point that is no whole number: rounding comes after its addition."""
    level = fmin(fmax(round(self * inverse + zero_point), quant_min), quant_max)
    return (level - zero_point) * scale


@_fake_quantize_shifted.backward
def _(grad, self, inverse, zero_point, quant_min, quant_max):
    level = round(self * inverse + zero_point)
    return {"self": where((level >= quant_min) & (level <= quant_max), grad, 0)}


@pointwise(
    "_fake_quantize_mask(Tensor self, Tensor inverse, Tensor zero_point, int quant_min, int quant_max, bool shifted) "
    "-> Tensor",
    dtypes=FLOATING,
    dtype_out="bool",
    unbound=True,
    not_differentiable=True,
    samples=[S(f(2, 3), f(2, 1, low=1.0, high=4.0), f(1), -8, 7, False)],
)
def _fake_quantize_mask(self, inverse, zero_point, quant_min, quant_max, shifted):
    """Whether the level of ``self`` is in range."""
    scaled = self * inverse
    level = where(shifted > 0, round(scaled + zero_point), round(scaled) + zero_point)
    return (level >= quant_min) & (level <= quant_max)


def _check_range(self, quant_min, quant_max):
    check(self.is_floating_point(), f"self must be floating-point; got {self.dtype}", NotImplementedError)
    check(quant_min <= quant_max, f"quant_min must be at most quant_max; got {quant_min} and {quant_max}")


def _along(parameter, self, axis):
    """A parameter per channel, in the shape that goes with ``self``."""
    check(self.dim() > 0 and wrap_dim(axis, self.dim()) == axis, f"axis must be from 0 to {self.dim() - 1}; got {axis}")
    sizes = [1] * self.dim()
    sizes[axis] = parameter.size(0)
    return parameter.reshape(sizes)


def _values(self, scale, zero_point, quant_min, quant_max):
    """``self`` at the levels of detached parameters; half types compute in float, as their scales are."""
    wide = self.to(compute_dtype(self.dtype))
    inverse = scale.reciprocal()
    kept = zero_point.clone()  # which backward reads, whatever an observer writes into its buffer meanwhile
    if zero_point.is_floating_point():
        return op._fake_quantize_shifted(wide, scale, inverse, kept, quant_min, quant_max).to(self.dtype)
    return op._fake_quantize(wide, scale, inverse, kept, quant_min, quant_max).to(self.dtype)


def _in_range(self, scale, zero_point, quant_min, quant_max):
    wide = self.to(compute_dtype(self.dtype))
    shifted = zero_point.is_floating_point()
    return op._fake_quantize_mask(wide, scale.reciprocal(), zero_point, quant_min, quant_max, shifted)


def _check_zero(zero_point, quant_min, quant_max):
    check(
        quant_min <= zero_point <= quant_max,
        f"zero_point must be from quant_min to quant_max, {quant_min} to {quant_max}; got {zero_point}",
    )


def _number(self, value, dtype):
    return op.scalar_tensor(value, dtype=dtype, device=self.device)


# --- one scale for all


@composite(
    "fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> Tensor",
    samples=[S(f(3, 4), 0.1, 2, -8, 7), S(f(0, 3), 0.1, 0, 0, 255), S(f(3), 0.1, 9, -8, 7), S(f(3), 0.1, 0, 8, 7)],
)
def fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max):
    """``self`` rounded to multiples of ``scale``, of which those from ``quant_min - zero_point`` to ``quant_max -
    zero_point`` are to be had.

    Raises RuntimeError for a ``zero_point`` outside of the range, and for tensors that are not floating-point.
    """
    _check_range(self, quant_min, quant_max)
    _check_zero(zero_point, quant_min, quant_max)
    factor = _number(self, scale, float32)
    return _values(self, factor, _number(self, zero_point, int32), quant_min, quant_max)


@composite(
    "fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int "
    "quant_max) -> Tensor",
    samples=[S(f(3, 4), v([0.1], "float32"), v([2], "int32"), -8, 7), S(f(3), v(0.1, "float32"), v(2), 0, 15)],
)
def fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max):
    """``fake_quantize_per_tensor_affine`` with scale and zero point in tensors of one element."""
    _check_range(self, quant_min, quant_max)
    return _values(self, scale.detach().reshape([]), zero_point.detach().reshape([]), quant_min, quant_max)


@composite(
    "fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int quant_max) "
    "-> (Tensor output, Tensor mask)",
    variants="function out",
    unbound=True,
    explicit=True,
    nondiff="mask",
    samples="fake_quantize_per_tensor_affine",
    outs="out0 out1",
)
def fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max):
    """``fake_quantize_per_tensor_affine``, and whether each element is in range."""
    _check_range(self, quant_min, quant_max)
    _check_zero(zero_point, quant_min, quant_max)
    factor = _number(self, scale, float32)
    zero = _number(self, zero_point, int32)
    return _values(self, factor, zero, quant_min, quant_max), _in_range(self, factor, zero, quant_min, quant_max)


@fake_quantize_per_tensor_affine_cachemask.backward
def _(grad, mask):
    return {"self": op.fake_quantize_per_tensor_affine_cachemask_backward(grad, mask)}


@composite("fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor", unbound=True,
           samples=[S(f(2, 3), v([True, False, True], "bool"))])  # fmt: skip
def fake_quantize_per_tensor_affine_cachemask_backward(grad, mask):
    """``grad`` where ``mask`` is true, else zero."""
    return grad * mask


@composite(
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, Tensor "
    "fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
    variants="function out",
    unbound=True,
    explicit=True,
    nondiff="mask",
    samples=[S(f(3, 4), v([0.1], "float32"), v([2], "int32"), v([on]), -8, 7) for on in (0, 1)],
    outs="out0 out1",
)
def _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
    self, scale, zero_point, fake_quant_enabled, quant_min, quant_max
):
    """``fake_quantize_per_tensor_affine_cachemask``, or ``self`` as it is where ``fake_quant_enabled`` holds 0."""
    _check_range(self, quant_min, quant_max)
    factor = scale.detach().reshape([])
    zero = zero_point.detach().reshape([])
    on = fake_quant_enabled.reshape([]) != 0
    value = op.where(on, _values(self, factor, zero, quant_min, quant_max), self)
    return value, _in_range(self, factor, zero, quant_min, quant_max).logical_or(on.logical_not())


@_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.backward
def _(grad, mask):
    return {"self": op.fake_quantize_per_tensor_affine_cachemask_backward(grad, mask)}


# --- one scale per channel


def _check_channels(self, scale, zero_point, axis, quant_min, quant_max):
    check(
        scale.dtype == float32 or scale.dtype == bfloat16,
        f"scale must be float32 or bfloat16; got {scale.dtype}",
    )
    check(
        zero_point.dtype == int32 or zero_point.dtype == float32 or zero_point.dtype == float16,
        f"zero_point must be int32, float32 or float16; got {zero_point.dtype}",
    )
    check(
        scale.dim() == 1 and zero_point.dim() == 1,
        f"scale and zero_point must have one dimension; got shapes {scale.shape} and {zero_point.shape}",
    )
    check(wrap_dim(axis, self.dim()) == axis, f"axis must be from 0 to {self.dim() - 1}; got {axis}")
    check(
        scale.size(0) == self.size(axis) and zero_point.size(0) == self.size(axis),
        f"there must be as many scales and zero points as channels, {self.size(axis)}; got {scale.size(0)} and "
        f"{zero_point.size(0)}",
    )
    if not zero_point.is_floating_point() and zero_point.numel() > 0 and not zero_point.is_meta:
        outside = op.logical_or(zero_point < quant_min, zero_point > quant_max)
        check(
            not bool(outside.any().item()),
            f"zero_point must be from quant_min to quant_max, {quant_min} to {quant_max}, in each channel",
        )


@composite(
    "fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int "
    "quant_max) -> Tensor",
    samples=[
        S(f(2, 3), _SCALES, _ZEROS, 0, -8, 7), S(f(3, 2), _SCALES, _ZEROS, 1, -8, 7),
        S(f(3, 2), _SCALES, v([0.5, 1.25], "float32"), 1, 0, 15), S(f(3, 2), _SCALES, _ZEROS, 0, -8, 7),
        S(f(3, 2), _SCALES, _ZEROS, 2, -8, 7),
    ],
)  # fmt: skip
def fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max):
    """``fake_quantize_per_tensor_affine`` with ``scale`` (channels), float32, and ``zero_point`` (channels), int32 or
    float, of their own for each channel along ``axis``.

    Raises RuntimeError for other dtypes and sizes.
    """
    _check_range(self, quant_min, quant_max)
    _check_channels(self, scale, zero_point, axis, quant_min, quant_max)
    factor = _along(scale.detach(), self, axis)
    return _values(self, factor, _along(zero_point.detach(), self, axis), quant_min, quant_max)


@composite(
    "fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, "
    "int quant_max) -> (Tensor output, Tensor mask)",
    variants="function out",
    unbound=True,
    explicit=True,
    nondiff="mask",
    samples="fake_quantize_per_channel_affine",
    outs="out0 out1",
)
def fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, quant_max):
    """``fake_quantize_per_channel_affine``, and whether each element is in range."""
    _check_range(self, quant_min, quant_max)
    _check_channels(self, scale, zero_point, axis, quant_min, quant_max)
    factor = _along(scale.detach(), self, axis)
    zero = _along(zero_point.detach(), self, axis)
    return _values(self, factor, zero, quant_min, quant_max), _in_range(self, factor, zero, quant_min, quant_max)


@fake_quantize_per_channel_affine_cachemask.backward
def _(grad, mask):
    return {"self": op.fake_quantize_per_channel_affine_cachemask_backward(grad, mask)}


@composite("fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor", unbound=True,
           samples="fake_quantize_per_tensor_affine_cachemask_backward")  # fmt: skip
def fake_quantize_per_channel_affine_cachemask_backward(grad, mask):
    """``grad`` where ``mask`` is true, else zero."""
    return grad * mask


# --- scales that are learned


def _whole_zero(zero_point, quant_min, quant_max):
    return zero_point.detach().round().clamp(quant_min, quant_max)


@composite(
    "_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int "
    "quant_max, float grad_factor=1.) -> Tensor",
    unbound=True,
    explicit=True,
    samples=[S(f(3, 4), v([0.1], "float32"), v([2.3], "float32"), -8, 7, 2.0)],
)
def _fake_quantize_learnable_per_tensor_affine(self, scale, zero_point, quant_min, quant_max, grad_factor):
    """``fake_quantize_per_tensor_affine`` with gradients for ``scale`` and ``zero_point``, tensors of one element.

    The gradient of the scale is that of Esser et al., "Learned step size quantization", 2020; both are multiplied by
    ``grad_factor``. The zero point is rounded, and brought into range.
    """
    _check_range(self, quant_min, quant_max)
    zero = _whole_zero(zero_point, quant_min, quant_max).reshape([])
    factor = scale.detach().reshape([])
    return op._fake_quantize(self, factor, factor.reciprocal(), zero, quant_min, quant_max)


@_fake_quantize_learnable_per_tensor_affine.backward
def _(grad, self, scale, zero_point, quant_min, quant_max, grad_factor):
    g = op._fake_quantize_learnable_per_tensor_affine_backward(
        grad, self, scale, zero_point, quant_min, quant_max, grad_factor
    )
    return {"self": g[0], "scale": g[1], "zero_point": g[2]}


def _learned(grad, self, scale, zero, quant_min, quant_max, grad_factor):
    """Gradients of self, scale and zero point, before they are summed over what shares a scale."""
    inverse = scale.reciprocal()
    level = op.round(self * inverse) + zero
    inside = op.logical_and(level >= quant_min, level <= quant_max)
    value = (level.clamp(quant_min, quant_max) - zero) * scale
    end = op.where(level < quant_min, quant_min - zero, quant_max - zero)
    slope = op.where(inside, (value - self) * inverse, end)
    return grad * inside, grad * slope * grad_factor, grad * op.where(inside, 0.0, -scale) * grad_factor


@composite(
    "_fake_quantize_learnable_per_tensor_affine_backward(Tensor grad, Tensor self, Tensor scale, Tensor zero_point, "
    "int quant_min, int quant_max, float grad_factor=1.) -> (Tensor, Tensor, Tensor)",
    unbound=True,
    samples=[S(f(3, 4, dtype="float32"), f(3, 4, dtype="float32"), v([0.1], "float32"), v([2.3], "float32"), -8, 7)],
)
def _fake_quantize_learnable_per_tensor_affine_backward(
    grad, self, scale, zero_point, quant_min, quant_max, grad_factor
):
    """The gradients of ``_fake_quantize_learnable_per_tensor_affine``."""
    zero = _whole_zero(zero_point, quant_min, quant_max).reshape([])
    parts = _learned(grad, self, scale.reshape([]), zero, quant_min, quant_max, grad_factor)
    return parts[0], parts[1].sum().reshape(scale.shape), parts[2].sum().reshape(zero_point.shape)


@composite(
    "_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int "
    "quant_min, int quant_max, float grad_factor=1.) -> Tensor",
    unbound=True,
    explicit=True,
    samples=[S(f(3, 2), v([0.1, 0.3], "float32"), v([0.6, 2.2], "float32"), 1, -8, 7, 1.5)],
)
def _fake_quantize_learnable_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max, grad_factor):
    """``_fake_quantize_learnable_per_tensor_affine`` with a scale and a zero point, (channels), for each channel along
    ``axis``."""
    _check_range(self, quant_min, quant_max)
    zero = _along(_whole_zero(zero_point, quant_min, quant_max), self, axis)
    factor = _along(scale.detach(), self, axis)
    return op._fake_quantize(self, factor, factor.reciprocal(), zero, quant_min, quant_max)


@_fake_quantize_learnable_per_channel_affine.backward
def _(grad, self, scale, zero_point, axis, quant_min, quant_max, grad_factor):
    g = op._fake_quantize_learnable_per_channel_affine_backward(
        grad, self, scale, zero_point, axis, quant_min, quant_max, grad_factor
    )
    return {"self": g[0], "scale": g[1], "zero_point": g[2]}


@composite(
    "_fake_quantize_learnable_per_channel_affine_backward(Tensor grad, Tensor self, Tensor scale, Tensor zero_point, "
    "int axis, int quant_min, int quant_max, float grad_factor=1.) -> (Tensor, Tensor, Tensor)",
    unbound=True,
    samples=[S(f(3, 2, dtype="float32"), f(3, 2, dtype="float32"), _SCALES, v([0.6, 2.2], "float32"), 1, -8, 7)],
)
def _fake_quantize_learnable_per_channel_affine_backward(
    grad, self, scale, zero_point, axis, quant_min, quant_max, grad_factor
):
    """The gradients of ``_fake_quantize_learnable_per_channel_affine``."""
    zero = _along(_whole_zero(zero_point, quant_min, quant_max), self, axis)
    parts = _learned(grad, self, _along(scale, self, axis), zero, quant_min, quant_max, grad_factor)
    others = [d for d in range(self.dim()) if d != axis]
    if len(others) == 0:
        return parts[0], parts[1], parts[2]
    return parts[0], parts[1].sum(others), parts[2].sum(others)


# --- watching and rounding at once

_OBSERVED = (
    "Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) running_min, Tensor(b!) running_max, Tensor(c!) "
    "scale, Tensor(d!) zero_point, float averaging_const, int quant_min, int quant_max, int ch_axis, bool "
    "per_row_fake_quant=False, bool symmetric_quant=False"
)
_observed = [
    S(f(2, 3, dtype="float32"), v([on]), v([fake]), v([-1.0], "float32"), v([1.5], "float32"), v([0.1], "float32"),
      v([2], "int32"), 0.01, 0, 255, -1)
    for on in (0, 1) for fake in (0, 1)
]  # fmt: skip


@composite(f"fused_moving_avg_obs_fake_quant({_OBSERVED}) -> Tensor", samples=_observed)
def fused_moving_avg_obs_fake_quant(
    self, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const, quant_min,
    quant_max, ch_axis, per_row_fake_quant, symmetric_quant,
):  # fmt: skip
    """``self`` rounded to quantised numbers, whose scale and zero point follow from the range of what was seen.

    Where ``observer_on`` holds 1, ``running_min`` and ``running_max`` move by ``averaging_const`` towards the extrema
    of ``self`` (of each slice along ``ch_axis`` where ``per_row_fake_quant``). Where ``fake_quant_on`` holds 1,
    ``scale`` and ``zero_point`` are set so that ``quant_min`` to ``quant_max`` span that range and zero (around zero
    where ``symmetric_quant``); else ``self`` comes back as it is, and always one without elements, which has no range.
    """
    if self.numel() == 0:
        return self.clone()
    return op._fused_moving_avg_obs_fq_helper(
        self, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const, quant_min,
        quant_max, ch_axis, per_row_fake_quant, symmetric_quant,
    )[0]  # fmt: skip


@composite(
    f"_fused_moving_avg_obs_fq_helper({_OBSERVED}) -> (Tensor output, Tensor mask)",
    unbound=True,
    explicit=True,
    nondiff="mask",
    files="fake_quantize",
    batch="one_by_one",
    samples=_observed,
)
def _fused_moving_avg_obs_fq_helper(*_):
    """``fused_moving_avg_obs_fake_quant``, and whether each element is in range."""


@_fused_moving_avg_obs_fq_helper.backward
def _(grad, mask):
    return {"self": op.fake_quantize_per_tensor_affine_cachemask_backward(grad, mask)}


# --- scale and zero point of data


@composite(
    "choose_qparams_optimized(Tensor input, int numel, int n_bins, float ratio, int bit_width) -> (Tensor, Tensor)",
    files="fake_quantize",
    explicit=True,
    not_differentiable=True,
    batch="one_by_one",
    samples=[S(f(60, dtype="float32"), 60, 50, 0.16, 4), S(f(3, dtype="float32"), 60, 50, 0.16, 4)],
)
def choose_qparams_optimized(*_):
    """The largest and the smallest number, (1) each, between which ``2 ** bit_width`` levels are nearest to ``input``.

    The greedy search of Guan et al., "Post-training 4-bit quantization on embedding tables", 2019: of ``n_bins`` steps
    from both ends it takes the cheaper one, until ``1 - ratio`` of the range is left.
    """


@composite("_choose_qparams_per_tensor(Tensor self, bool reduce_range=False) -> (float, int)", files="fake_quantize",
           explicit=True, not_differentiable=True, batch="refused",
           samples=[S(f(6, dtype="float32")), S(f(6, dtype="float32"), True)])  # fmt: skip
def _choose_qparams_per_tensor(*_):
    """Scale and zero point for quint8 by the range of ``self``, with one bit less if ``reduce_range``."""
