"""Choosing elements by truth values."""

import math

from taedagen.opdef import *
from taedagen.opdef.samples import S, b, f, v


@kernel(
    "masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)",
    variants="method",
    files="mask",
    batch="write_elements",
)
def masked_fill_(self, mask, value):
    """Sets the elements where ``mask`` (bool, broadcast) holds to ``value``."""


@masked_fill_.backward
def _(grad, mask):
    return {"self": op.masked_fill(grad, mask, 0)}


@kernel(
    "masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)",
    variants="method",
    files="mask",
    batch="write_elements",
)
def masked_fill_tensor_(self, mask, value):
    """The same with ``value`` in a tensor without dimensions."""


@masked_fill_tensor_.backward
def _(grad, mask):
    return {"self": op.masked_fill(grad, mask, 0), "value": op.masked_sum(grad, mask)}


@composite("masked_sum(Tensor grad, Tensor mask) -> Tensor", unbound=True)
def masked_sum(grad, mask):
    """The sum of ``grad`` where ``mask`` holds."""
    return op.masked_fill(grad, op.logical_not(mask), 0).sum()


def _copy_for_both(self, mask, values):
    """A copy to write into, in the shape that tensor and mask broadcast to."""
    wide = self.expand(broadcast_shapes(self.shape, mask.shape))
    return copy_for(wide, (mask, values))


@composite(
    "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
    variants="function method out",
    samples=[S(f(2, 3), b(2, 3), 1.5), S(f(2, 3), b(3), 1.5), S(f(4), b(4), 1.5)],
)
def masked_fill(self, mask, value):
    """``self`` with ``value`` where ``mask`` (bool) holds; the two broadcast."""
    result = _copy_for_both(self, mask, None)
    result.masked_fill_(mask, value)
    return unwritten(result)


@composite(
    "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    variants="function method out",
    samples=[S(f(2, 3), b(2, 3), f()), S(f(2, 3), b(3), f()), S(f(4), b(4), f())],
)
def masked_fill_tensor(self, mask, value):
    """The same with ``value`` in a tensor without dimensions."""
    result = _copy_for_both(self, mask, value)
    result.masked_fill_(mask, value)
    return unwritten(result)


@kernel(
    "masked_select(Tensor self, Tensor mask) -> Tensor",
    variants="function method out",
    shape="dynamic",
    out="same",
    own_out=True,
    files="mask",
    batch="refused",
    samples=[S(f(2, 3), b(2, 3)), S(f(2, 3), b(3)), S(f(4), b(4))],
)
def masked_select(self, mask):
    """The elements where ``mask`` (bool) holds, as a vector; the two broadcast."""


@masked_select.backward
def _(grad, self, mask):
    return {"self": op.masked_select_gradient(grad, self.sizes(), mask)}


@composite("masked_select_backward(Tensor grad, Tensor input, Tensor mask) -> Tensor", unbound=True)
def masked_select_backward(grad, input, mask):
    """The gradient of ``masked_select`` for ``input``."""
    return op.masked_select_gradient(grad, input.shape, mask)


@composite("masked_select_gradient(Tensor grad, SymInt[] sizes, Tensor mask) -> Tensor", unbound=True)
def masked_select_gradient(grad, sizes, mask):
    """``grad`` put back where ``mask`` holds, for an input of shape ``sizes``."""
    zeros = grad.new_zeros(broadcast_shapes(sizes, mask.shape))
    return op.masked_scatter(zeros, mask, grad).sum_to_size(sizes)


@kernel(
    "masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)",
    variants="method",
    files="mask",
    batch="refused",
)
def masked_scatter_(self, mask, source):
    """Fills the elements where ``mask`` (bool, broadcast) holds with those of ``source``, one after another."""


@masked_scatter_.backward
def _(grad, mask, source):
    return {"self": op.masked_fill(grad, mask, 0), "source": op.masked_scatter_backward(grad, mask, source.sizes())}


@composite(
    "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
    variants="function method out",
    samples=[S(f(2, 3), b(2, 3), f(9)), S(f(2, 3), b(3), f(9)), S(f(4), b(4), f(9))],
)
def masked_scatter(self, mask, source):
    """``masked_scatter_`` into a copy; ``self`` and ``mask`` broadcast."""
    result = _copy_for_both(self, mask, source)
    result.masked_scatter_(mask, source)
    return unwritten(result)


@composite("masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor", unbound=True)
def masked_scatter_backward(grad_output, mask, sizes):
    """The gradients of the elements that were used, zeros for the rest of the source."""
    used = op.masked_select(grad_output, mask)
    rest = math.prod(sizes) - used.numel()
    if rest > 0:
        used = op.cat([used, op.zeros([rest], dtype=used.dtype, device=used.device)], 0)
    return used.reshape(sizes)


@kernel(
    "nonzero(Tensor self) -> Tensor",
    variants="out",
    shape="dynamic",
    files="mask",
    unbound=True,
    not_differentiable=True,
    batch="refused",
    out="same",
)
def nonzero(self):
    """The positions of the elements that are not zero: an int64 matrix, a row for each of them, in row-major order.

    In Python ``taeda.functional.nonzero`` stands before it, for ``as_tuple``.
    """


@composite("nonzero_numpy(Tensor self) -> Tensor[]")
def nonzero_numpy(self):
    """The columns of ``nonzero``: one tensor of positions for each dimension."""
    return op.unbind(op.nonzero(self.unsqueeze(0) if self.dim() == 0 else self), 1)


@kernel(
    "nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
    variants="function method out",
    shape="nonzero_static",
    files="mask",
    out="same",
    not_differentiable=True,
    samples=[S(v([0, 1, 2]), size=2), S(v([0, 1, 0]), size=2)],
)
def nonzero_static(self, size, fill_value):
    """The first ``size`` rows of ``nonzero``, filled up with ``fill_value``."""


@composite("argwhere(Tensor self) -> Tensor", variants="function method")
def argwhere(self):
    """The same as ``nonzero``."""
    return op.nonzero(self)


@composite("where(Tensor condition) -> Tensor[]", samples=[S(b(2, 3))])
def where_positions(condition):
    """The same as ``nonzero(condition, as_tuple=True)``."""
    return op.nonzero_numpy(condition)
