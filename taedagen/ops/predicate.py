"""Questions about whole tensors, and activations that need more than one formula."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v


def _check_has_elements(tensor):
    """Wants elements to answer by."""
    if tensor.is_meta:
        raise NotImplementedError("the answer depends on elements, which a meta tensor lacks")


def _is_true(tensor):
    """Whether the one element is not zero."""
    _check_has_elements(tensor)
    return bool(tensor.item())


@composite("equal(Tensor self, Tensor other) -> bool", variants="function method", batch="refused")
def equal(self, other):
    """Whether both have the same shape and equal elements; NaN equals nothing."""
    check(
        self.device == other.device,
        f"self is on {self.device} and other on {other.device}",
    )
    _check_has_elements(self)
    if self.shape != other.shape:
        return False
    return self.numel() == 0 or _is_true(op.all(self == other))


@composite(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
    variants="function method",
)
def allclose(self, other, rtol, atol, equal_nan):
    """Whether ``|self - other| <= atol + rtol * |other|`` everywhere."""
    return _is_true(op.all(op.isclose(self, other, rtol, atol, equal_nan)))


@composite("is_nonzero(Tensor self) -> bool", variants="function method", batch="refused")
def is_nonzero(self):
    """Whether the one element is not zero; RuntimeError for a tensor of several."""
    check(
        self.numel() == 1,
        f"only a tensor of one element is true or false; got shape {self.shape}",
    )
    return _is_true(self)


@composite(
    "any_anywhere(Tensor self) -> Tensor", unbound=True, explicit=True, not_differentiable=True, batch="anywhere"
)
def any_anywhere(self):
    """Whether any element is not zero: one answer, also for all examples of a ``vmap`` together."""
    return op.any(self)


@composite("_is_any_true(Tensor self) -> Tensor", variants="function method", not_differentiable=True, explicit=True,
           batch="anywhere", samples=[S(v([False, True], "bool"))])  # fmt: skip
def _is_any_true(self):
    """Whether any of truth values is true: one answer, also for all examples of a ``vmap`` together."""
    check(self.dtype == bool_, f"takes truth values; got {self.dtype}")
    return op.any(self)


@composite("_is_all_true(Tensor self) -> Tensor", variants="function method", not_differentiable=True, explicit=True,
           batch="anywhere", samples=[S(v([False, True], "bool"))])  # fmt: skip
def _is_all_true(self):
    """Whether all of truth values are true: one answer, also for all examples of a ``vmap`` together."""
    check(self.dtype == bool_, f"takes truth values; got {self.dtype}")
    return op.all(self)


@composite("is_same_size(Tensor self, Tensor other) -> bool", variants="function method")
def is_same_size(self, other):
    """Whether both have the same shape."""
    return self.shape == other.shape


@composite("sparse_dim(Tensor self) -> int", variants="method", explicit=True, not_differentiable=True)
def sparse_dim(self):
    """The number of sparse dimensions: none."""
    return 0


@composite("dense_dim(Tensor self) -> int", variants="method", explicit=True, not_differentiable=True)
def dense_dim(self):
    """The number of dense dimensions: all."""
    return self.dim()


@composite(
    "is_pinned(Tensor self, Device? device=None) -> bool",
    variants="method",
    explicit=True,
    not_differentiable=True,
    files="pinned",
)
def is_pinned(self, device):
    """Whether the memory is page-locked: where a device of one's own pinned it."""


@composite("pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)", variants="method")
def pin_memory(self, device):
    """The tensor in page-locked memory, which copies to a device sooner; without a device any memory will do."""
    check(
        self.is_cpu,
        f"only a tensor on the CPU can be pinned; this one is on {self.device}",
    )
    return self if op.is_pinned(self, device) else op._pin_memory(self, device)


@composite("_pin_memory(Tensor self, Device? device=None) -> Tensor", unbound=True, explicit=True, files="pinned")
def _pin_memory(self, device):
    """A copy in page-locked memory: that of a device of one's own, or any."""


@_pin_memory.backward
def _(grad):
    return {"self": grad}


@composite(
    "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    variants="function method out",
    samples=[S(f(2, 3), f(2, 3)), S(f(2, 3), f(3), 1)],
)
def dist(self, other, p):
    """The p-norm of ``self - other``."""
    return op.linalg_vector_norm(self - other, p)


@composite(
    "prelu(Tensor self, Tensor weight) -> Tensor",
    variants="function method",
    autocast="lower",
    samples=[S(f(2, 3), f(3)), S(f(2, 3, 4), f(1)), S(f(2, 3), f(2))],
)
def prelu(self, weight):
    """``self`` where it is positive, ``weight * self`` elsewhere; one weight, or one per channel (dimension 1)."""
    check(
        self.dtype == weight.dtype,
        f"self has dtype {self.dtype} and weight {weight.dtype}",
    )
    check(
        weight.dim() <= 1 or weight.numel() == 1,
        f"weight must be a number or a vector; got shape {weight.shape}",
    )
    if weight.numel() == 1:
        return op._prelu_kernel(self, weight.reshape([]))
    check(
        self.dim() > 0,
        f"a tensor without dimensions takes one weight; got {weight.numel()}",
    )
    channels = self.size(1) if self.dim() > 1 else 1
    check(
        weight.numel() == channels,
        f"weight must have one element or one per channel ({channels}); got {weight.numel()}",
    )
    sizes = [1] * self.dim()
    sizes[1 if self.dim() > 1 else 0] = channels
    return op._prelu_kernel(self, weight.reshape(sizes))


@composite(
    "glu(Tensor self, int dim=-1) -> Tensor",
    variants="function out",
    module="nn",
    samples=[S(f(2, 4)), S(f(4, 2), 0), S(f(2, 3))],
)
def glu(self, dim):
    """The first half of ``self`` along ``dim`` times the sigmoid of the second."""
    check(self.dim() > 0, "a tensor without dimensions cannot be halved")
    along = wrap_dim(dim, self.dim())
    size = self.size(along)
    check(
        size % 2 == 0,
        f"the size of dimension {along} must be even to be halved; got {size}",
    )
    value, gate = op.slice(self, along, 0, size // 2), op.slice(self, along, size // 2, size)
    return value * gate.sigmoid()
