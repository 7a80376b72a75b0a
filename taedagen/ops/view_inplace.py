"""Ops that change the geometry of the tensor itself, and copies that differ in what a view shows."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@kernel(
    "transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="view_inplace",
    samples="transpose.int",
)
def transpose_(self, dim0, dim1):
    """Swaps two dimensions in place."""


@transpose_.backward
def _(grad, dim0, dim1):
    return {"self": grad.transpose(dim0, dim1)}


@kernel(
    "t_(Tensor(a!) self) -> Tensor(a!)",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="view_inplace",
)
def t_(self):
    """Transposes a matrix in place."""


@t_.backward
def _(grad):
    return {"self": grad.t()}


@kernel(
    "squeeze_(Tensor(a!) self) -> Tensor(a!)",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="view_inplace",
)
def squeeze_(self):
    """Drops the dimensions of size 1 in place."""


@squeeze_.backward
def _(grad, self):
    return {"self": grad.reshape(self.sizes())}


@kernel(
    "squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="view_inplace",
)
def squeeze_dim_(self, dim):
    """Drops dimension ``dim`` in place where it has size 1."""


@squeeze_dim_.backward
def _(grad, self):
    return {"self": grad.reshape(self.sizes())}


@kernel(
    "squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="view_inplace",
)
def squeeze_dims_(self, dim):
    """Drops those of the dimensions ``dim`` that have size 1 in place."""


@squeeze_dims_.backward
def _(grad, self):
    return {"self": grad.reshape(self.sizes())}


@kernel(
    "unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="view_inplace",
)
def unsqueeze_(self, dim):
    """Inserts a dimension of size 1 in place."""


@unsqueeze_.backward
def _(grad, dim):
    return {"self": grad.squeeze(dim)}


@kernel(
    "as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a!)",
    variants="function method",
    any_device=True,
    geometry_only=True,
    files="view_inplace",
)
def as_strided_(self, size, stride, storage_offset):
    """Takes the given sizes, strides and offset in place."""


@as_strided_.backward
def _(grad, self, size, stride, storage_offset):
    return {
        "self": op.as_strided_backward(
            grad,
            self.sizes(),
            self.strides(),
            self.storage_offset(),
            size,
            stride,
            storage_offset,
        )
    }


@composite(
    "swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)",
    variants="method",
    files="view_inplace",
)
def swapaxes_(self, axis0, axis1):
    """``transpose_`` under NumPy's name."""


@composite(
    "swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
    variants="method",
    files="view_inplace",
)
def swapdims_(self, dim0, dim1):
    """``transpose_`` under another name."""


@kernel(
    "resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="view_inplace",
    not_differentiable=True,
    samples=[S(f(2, 3), [3, 2]), S(f(2, 3), [2])],
)
def resize_(self, size, memory_format):
    """Takes another shape in place; the storage grows if need be, and new elements are not initialised."""


@composite(
    "resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
    variants="function method",
    files="view_inplace",
    samples=[S(f(2, 3), f(3, 2))],
)
def resize_as_(self, the_template, memory_format):
    """``resize_`` to the shape of ``the_template``."""


@kernel(
    "set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="view_inplace",
    not_differentiable=True,
    samples=[S(f(2), f(3))],
)
def set_(self, source):
    """Becomes a second handle of the storage and geometry of ``source``."""


@kernel(
    "set_(Tensor(a!) self) -> Tensor(a!)",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="view_inplace",
    not_differentiable=True,
)
def set_empty_(self):
    """Becomes empty, with a storage of its own."""


@kernel(
    "set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, SymInt[] size, "
    "SymInt[] stride=[]) -> Tensor(a!)",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="view_inplace",
    not_differentiable=True,
    samples=[S(f(2), f(6), 1, [2, 2], [2, 1])],
)
def set_part_(self, source, storage_offset, size, stride):
    """Becomes a window on the storage of ``source``; without strides a contiguous one."""


# --- copies that differ in what a view shows


@composite(
    "select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
    variants="function method out",
    files="view_inplace",
    batch="scattered",
    samples=[S(f(2, 3), f(3), 0, 1), S(f(2, 3), f(2), 0, 1)],
)
def select_scatter(self, src, dim, index):
    """A copy of ``self`` with ``src`` at ``index`` of dimension ``dim``."""


@select_scatter.backward
def _(grad, src, dim, index):
    return {
        "self": op.select_scatter(grad, op.new_zeros(grad, src.sizes()), dim, index),
        "src": grad.select(dim, index),
    }


@composite(
    "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
    variants="function method out",
    files="view_inplace",
    batch="scattered",
    samples=[S(f(5, 3), f(2, 3), 0, 1, 3), S(f(5), f(3), 0, 0, 5, 2)],
)
def slice_scatter(self, src, dim, start, end, step):
    """A copy of ``self`` with ``src`` in a slice of dimension ``dim``."""


@slice_scatter.backward
def _(grad, src, dim, start, end, step):
    return {
        "self": op.slice_scatter(grad, op.new_zeros(grad, src.sizes()), dim, start, end, step),
        "src": op.slice(grad, dim, start, end, step),
    }


@composite(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    variants="function method out",
    files="view_inplace",
    batch="scattered",
    samples=[S(f(3, 4), f(3)), S(f(3, 4), f(2), 2)],
)
def diagonal_scatter(self, src, offset, dim1, dim2):
    """A copy of ``self`` with ``src`` on a diagonal."""


@diagonal_scatter.backward
def _(grad, src, offset, dim1, dim2):
    return {
        "self": op.diagonal_scatter(grad, op.new_zeros(grad, src.sizes()), offset, dim1, dim2),
        "src": grad.diagonal(offset, dim1, dim2),
    }


@composite(
    "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) "
    "-> Tensor",
    variants="function method out",
    files="view_inplace",
    batch="refused",
    samples=[S(f(12), f(2, 3), [2, 3], [3, 1])],
)
def as_strided_scatter(self, src, size, stride, storage_offset):
    """A copy of ``self``, with its strides, and with ``src`` where ``as_strided`` looks."""


@as_strided_scatter.backward
def _(grad, src, size, stride, storage_offset):
    whole = grad.contiguous()
    return {
        "self": op.as_strided_scatter(whole, op.new_zeros(grad, src.sizes()), size, stride, storage_offset),
        "src": whole.as_strided(size, stride, storage_offset),
    }


@composite(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    variants="function method out",
    files="view_inplace",
    batch="diag_embed",
    samples=[S(f(3)), S(f(2, 3), 1), S(f(2, 3), 0, 0, 2)],
)
def diag_embed(self, offset, dim1, dim2):
    """Matrices in new dimensions ``dim1`` and ``dim2`` that have the last dimension on a diagonal and zeros
    elsewhere."""


@diag_embed.backward
def _(grad, offset, dim1, dim2):
    return {"self": grad.diagonal(offset, dim1, dim2)}
