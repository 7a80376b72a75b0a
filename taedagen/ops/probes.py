"""Ops that look at tensors or at the machinery, which PyTorch's tests and those of its extensions call."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v


@composite("_debug_has_internal_overlap(Tensor self) -> int", variants="function", files="probes",
           not_differentiable=True)  # fmt: skip
def _debug_has_internal_overlap(self):
    """Whether elements share memory: 0 for no, 1 for yes, 2 where the strides alone do not tell."""


@composite(
    "_new_zeros_with_same_feature_meta(Tensor self, Tensor other, *, int self_num_batch_dims=0) -> Tensor",
    variants="function",
    files="probes",
    unbound=True,
    not_differentiable=True,
    samples=[S(f(2, 3), f(4, 5)), S(f(2, 3), f(4), self_num_batch_dims=1)],
)
def _new_zeros_with_same_feature_meta(self, other, self_num_batch_dims):
    """Zeros with the sizes, strides, offset and size of storage of ``other``, behind some dimensions of ``self``."""


@composite(
    "_test_check_tensor(Tensor self) -> Tensor",
    not_differentiable=True,
    samples=[S(v([True, True], "bool"))],
)
def _test_check_tensor(self):
    """A copy of a bool tensor whose elements are all true; RuntimeError for another."""
    check(self.dtype == bool_, f"takes a bool tensor; got {self.dtype}")
    check(bool(op.all(self).item()), f"all elements must be true; some of shape {self.shape} are not")
    return self.clone()


@composite("_test_warn_in_autograd(Tensor self) -> Tensor", module="nn", variants="function out", explicit=True,
           samples=[S(f(2, 3))])  # fmt: skip
def _test_warn_in_autograd(self):
    """A clone, whose gradient warns when it is made."""
    return self.clone()


@composite("_test_warn_in_autograd_backward(Tensor grad) -> Tensor", unbound=True, samples=[S(f(2, 3))])
def _test_warn_in_autograd_backward(grad):
    """``grad``, with a warning."""
    warn("a warning from a backward pass, as _test_warn_in_autograd asks for")
    return grad.clone()


@_test_warn_in_autograd.backward
def _(grad):
    return {"self": op._test_warn_in_autograd_backward(grad)}


@composite("_test_autograd_multiple_dispatch.fullcoverage(Tensor self) -> Tensor", variants="function out",
           explicit=True, samples=[S(f(2, 3))])  # fmt: skip
def _test_autograd_multiple_dispatch(self):
    """A clone, whose gradient is by one too much; the square of that of the clone for nested tensors."""
    return self.clone()


@_test_autograd_multiple_dispatch.backward
def _(grad):
    return {"self": grad + 1}


@_test_autograd_multiple_dispatch.forward
def _(self, self_tangent):
    return self_tangent.clone()


@composite("_test_autograd_multiple_dispatch.ntonly(Tensor self, bool b) -> Tensor", samples=[S(f(2, 3), True)])
def _test_autograd_multiple_dispatch_ntonly(self, b):
    """A clone; for nested tensors the gradient is the square plus that of the clone."""
    return self.clone()


@composite("_test_autograd_multiple_dispatch_view(Tensor(a) self) -> Tensor(a)", samples=[S(f(2, 3))])
def _test_autograd_multiple_dispatch_view(self):
    """``view(-1)``."""
    return self.view([-1])


@composite("_test_autograd_multiple_dispatch_view_copy(Tensor self) -> Tensor", variants="function out",
           samples=[S(f(2, 3))])  # fmt: skip
def _test_autograd_multiple_dispatch_view_copy(self):
    """A copy of ``view(-1)``."""
    return op.contiguous_copy(self.view([-1]))
