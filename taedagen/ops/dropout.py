"""Dropout in all its forms. The masks are PyTorch's for the same seed."""

import math

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


def _is_active(input, p, train):
    """Whether anything is dropped."""
    check(0 <= p <= 1, f"the probability must be from 0 to 1; got p={p}")
    return train and p > 0 and input.numel() > 0


def _keep_mask(input, p):
    """One draw per element: what is kept is 1."""
    mask = op.empty_like(input)
    mask.bernoulli_(1 - p)
    return mask


def _keep_channels(input, p):
    """One draw per channel of (N, C, ...)."""
    check(
        input.dim() >= 2,
        f"channels need an input of at least 2 dimensions; got {input.dim()}",
    )
    sizes = [input.size(0), input.size(1), *[1] * (input.dim() - 2)]
    mask = op.empty(sizes, dtype=input.dtype, device=input.device)
    mask.bernoulli_(1 - p)
    return mask


_ALPHA = 1.7580993408473766  # minus the limit of SELU at minus infinity


def _alpha_shift(scale, p):
    """What alpha dropout adds; ``scale``, a mask of what is kept, becomes what it multiplies by."""
    a = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    shift = scale + -1
    shift.mul_(_ALPHA * a)
    shift.add_(_ALPHA * a * p)
    scale.mul_(a)
    return shift


@composite(
    "dropout(Tensor input, float p, bool train) -> Tensor",
    draws=True,
    samples=[S(f(2, 3, 4), 0.5, True), S(f(2, 3, 4), 0.5, False), S(f(2, 3, 4), 0.0, True), S(f(2, 3, 4), 1.5, True)],
)
def dropout(input, p, train):
    """When training, zeros with probability ``p`` and ``input / (1 - p)`` else; without training ``input`` itself."""
    if not _is_active(input, p, train):
        return input
    return input * 0 if p == 1 else op.native_dropout(input, p, True)[0]


@composite("dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
def dropout_(self, p, train):
    """``dropout`` in place."""
    if _is_active(self, p, train):
        if p == 1:
            self.mul_(0)
        else:
            scale = _keep_mask(self, p)
            scale.div_(1 - p)
            self.mul_(scale)
    return self


@kernel(
    "native_dropout(Tensor input, float p, bool? train) -> (Tensor result, Tensor mask)",
    variants="function out",
    shape="native_dropout",
    files="dropout",
    nondiff="mask",
    draws=True,
    batch="natural",
    samples=[S(f(2, 3), 0.5, True), S(f(2, 3), 0.5, False)],
)
def native_dropout(input, p, train):
    """``dropout`` and its mask: True where an element was kept."""


@native_dropout.backward
def _(grad, mask, p, train):
    return {"input": op.dropout_backward(grad, mask, p, train)}


@composite("dropout_backward(Tensor grad, Tensor mask, float p, bool? train) -> Tensor", unbound=True)
def dropout_backward(grad, mask, p, train):
    """``native_dropout_backward`` with the scale that goes with ``p``."""
    scale = 0.0 if p == 1 else 1 / (1 - p)
    return op.native_dropout_backward(grad, mask, scale if train is None or train else 1.0)


@pointwise(
    "native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
    variants="function out",
    dtypes=(*FLOATING, *COMPLEX),
    masks=("mask",),
    promote="int_to_float",
)
def native_dropout_backward(grad_output, mask, scale):
    """``grad_output * mask * scale``."""
    return grad_output * where(mask, scale, 0)


@native_dropout_backward.backward
def _(grad, mask, scale):
    return {"grad_output": op.native_dropout_backward(grad, mask, scale)}


@composite("feature_dropout(Tensor input, float p, bool train) -> Tensor", draws=True, samples="dropout")
def feature_dropout(input, p, train):
    """``dropout`` of whole channels: one draw for each of the first two dimensions of ``input``."""
    if not _is_active(input, p, train):
        return input
    if p == 1:
        return input * 0
    scale = _keep_channels(input, p)
    scale.div_(1 - p)
    return input * scale


@composite("feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
def feature_dropout_(self, p, train):
    """``feature_dropout`` in place."""
    if _is_active(self, p, train):
        if p == 1:
            self.mul_(0)
        else:
            scale = _keep_channels(self, p)
            scale.div_(1 - p)
            self.mul_(scale)
    return self


@composite("alpha_dropout(Tensor input, float p, bool train) -> Tensor", draws=True, samples="dropout")
def alpha_dropout(input, p, train):
    """Dropout that keeps the mean and variance of what SELU gives: dropped elements get its negative limit.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017.
    """
    if not _is_active(input, p, train):
        return input
    if p == 1:
        return input * 0
    scale = _keep_mask(input, p)
    shift = _alpha_shift(scale, p)
    return input * scale + shift


@composite("alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
def alpha_dropout_(self, p, train):
    """``alpha_dropout`` in place."""
    if _is_active(self, p, train):
        if p == 1:
            self.mul_(0)
        else:
            scale = _keep_mask(self, p)
            shift = _alpha_shift(scale, p)
            self.mul_(scale)
            self.add_(shift)
    return self


@composite("feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", draws=True, samples="dropout")
def feature_alpha_dropout(input, p, train):
    """``alpha_dropout`` of whole channels."""
    if not _is_active(input, p, train):
        return input
    if p == 1:
        return input * 0
    scale = _keep_channels(input, p)
    shift = _alpha_shift(scale, p)
    return input * scale + shift


@composite("feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
def feature_alpha_dropout_(self, p, train):
    """``feature_alpha_dropout`` in place."""
    if _is_active(self, p, train):
        if p == 1:
            self.mul_(0)
        else:
            scale = _keep_channels(self, p)
            shift = _alpha_shift(scale, p)
            self.mul_(scale)
            self.add_(shift)
    return self
