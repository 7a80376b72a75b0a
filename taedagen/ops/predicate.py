"""Questions about whole tensors, and activations that need more than one formula."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@composite("equal(Tensor self, Tensor other) -> bool", variants="function method", files="predicate", batch="refused")
def equal(self, other):
    """Whether both have the same shape and equal elements; NaN equals nothing."""


@composite(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
    variants="function method",
    files="predicate",
)
def allclose(self, other, rtol, atol, equal_nan):
    """Whether ``|self - other| <= atol + rtol * |other|`` everywhere."""


@composite("is_nonzero(Tensor self) -> bool", variants="function method", files="predicate", batch="refused")
def is_nonzero(self):
    """Whether the one element is not zero; RuntimeError for a tensor of several."""


@composite(
    "any_anywhere(Tensor self) -> Tensor", unbound=True, explicit=True, not_differentiable=True, batch="any_anywhere"
)
def any_anywhere(self):
    """Whether any element is not zero: one answer, also for all examples of a ``vmap`` together."""
    return op.any(self)


@composite("is_same_size(Tensor self, Tensor other) -> bool", variants="function method", files="predicate")
def is_same_size(self, other):
    """Whether both have the same shape."""


@composite(
    "sparse_dim(Tensor self) -> int", variants="method", files="predicate", explicit=True, not_differentiable=True
)
def sparse_dim(self):
    """The number of sparse dimensions: none."""


@composite(
    "dense_dim(Tensor self) -> int", variants="method", files="predicate", explicit=True, not_differentiable=True
)
def dense_dim(self):
    """The number of dense dimensions: all."""


@composite(
    "is_pinned(Tensor self, Device? device=None) -> bool",
    variants="method",
    files="predicate",
    explicit=True,
    not_differentiable=True,
)
def is_pinned(self, device):
    """Whether the memory is page-locked."""


@composite("pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)", variants="method", files="predicate")
def pin_memory(self, device):
    """The tensor in page-locked memory, which copies to a device sooner; without a device any memory will do."""


@composite("_pin_memory(Tensor self, Device? device=None) -> Tensor", unbound=True, explicit=True)
def _pin_memory(self, device):
    """A copy in page-locked memory."""
    return op.clone(self)


@_pin_memory.backward
def _(grad):
    return {"self": grad}


@composite(
    "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    variants="function method out",
    files="predicate",
    samples=[S(f(2, 3), f(2, 3)), S(f(2, 3), f(3), 1)],
)
def dist(self, other, p):
    """The p-norm of ``self - other``."""


@composite(
    "prelu(Tensor self, Tensor weight) -> Tensor",
    variants="function method",
    files="predicate",
    autocast="lower",
    samples=[S(f(2, 3), f(3)), S(f(2, 3, 4), f(1)), S(f(2, 3), f(2))],
)
def prelu(self, weight):
    """``self`` where it is positive, ``weight * self`` elsewhere; one weight, or one per channel (dimension 1)."""


@composite(
    "glu(Tensor self, int dim=-1) -> Tensor",
    variants="function out",
    module="nn",
    files="predicate",
    samples=[S(f(2, 4)), S(f(4, 2), 0), S(f(2, 3))],
)
def glu(self, dim):
    """The first half of ``self`` along ``dim`` times the sigmoid of the second."""
