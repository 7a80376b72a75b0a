"""Dropout in all its forms. The masks are PyTorch's for the same seed."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@composite(
    "dropout(Tensor input, float p, bool train) -> Tensor",
    files="dropout",
    draws=True,
    samples=[S(f(2, 3, 4), 0.5, True), S(f(2, 3, 4), 0.5, False), S(f(2, 3, 4), 0.0, True), S(f(2, 3, 4), 1.5, True)],
)
def dropout(input, p, train):
    """When training, zeros with probability ``p`` and ``input / (1 - p)`` else; without training ``input`` itself."""


@composite("dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", files="dropout")
def dropout_(self, p, train):
    """``dropout`` in place."""


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


@composite("dropout_backward(Tensor grad, Tensor mask, float p, bool? train) -> Tensor", files="dropout", unbound=True)
def dropout_backward(grad, mask, p, train):
    """``native_dropout_backward`` with the scale that goes with ``p``."""


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


@composite(
    "feature_dropout(Tensor input, float p, bool train) -> Tensor", files="dropout", draws=True, samples="dropout"
)
def feature_dropout(input, p, train):
    """``dropout`` of whole channels: one draw for each of the first two dimensions of ``input``."""


@composite("feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", files="dropout")
def feature_dropout_(self, p, train):
    """``feature_dropout`` in place."""


@composite("alpha_dropout(Tensor input, float p, bool train) -> Tensor", files="dropout", draws=True, samples="dropout")
def alpha_dropout(input, p, train):
    """Dropout that keeps the mean and variance of what SELU gives: dropped elements get its negative limit.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017.
    """


@composite("alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", files="dropout")
def alpha_dropout_(self, p, train):
    """``alpha_dropout`` in place."""


@composite(
    "feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", files="dropout", draws=True, samples="dropout"
)
def feature_alpha_dropout(input, p, train):
    """``alpha_dropout`` of whole channels."""


@composite("feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", files="dropout")
def feature_alpha_dropout_(self, p, train):
    """``feature_alpha_dropout`` in place."""
