"""Views: another geometry over the same storage."""

from taedagen.opdef import *
from taedagen.opdef.samples import Name, S, f


@view("alias(Tensor(a) self) -> Tensor(a)", variants="function", shape="same", unbound=True, batch="same_place")
def alias(self):
    """The same tensor under a new handle."""


@alias.backward
def _(grad):
    return {"self": grad}


@view(
    "detach(Tensor(a) self) -> Tensor(a)",
    variants="function method",
    shape="same",
    not_differentiable=True,
    batch="detach",
)
def detach(self):
    """The same values, cut off from the history of ``self``."""


@view(
    "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
    variants="function method",
    shape="as_strided",
    batch="as_strided",
    samples=[S(f(12), [2, 3], [3, 1]), S(f(12), [2, 2], [1, 1])],
)
def as_strided(self, size, stride, storage_offset):
    """A view with the given sizes, strides and offset (in elements) over the storage of ``self``."""


@as_strided.backward
def _(grad, self, size, stride, storage_offset):
    return {
        "self": op.as_strided_backward(
            grad, self.sizes(), self.strides(), self.storage_offset(), size, stride, storage_offset
        )
    }


@composite(
    "slice_inverse(Tensor(a) self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) "
    "-> Tensor(a)",
    variants="function method",
)
def slice_inverse(self, src, dim, start, end, step):
    """A view over the storage of ``self`` as ``src`` lies in its own: of a slice what it was cut from."""
    return op.as_strided(self, src.shape, src.stride(), src.storage_offset())


@view(
    "_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
    shape="reshape_alias",
    batch="reshape_alias",
    samples=[S(f(6), [2, 3], [3, 1])],
)
def _reshape_alias(self, size, stride):
    """A view of another shape whose strides the caller worked out."""


@_reshape_alias.backward
def _(grad, self):
    return {"self": grad.reshape(self.sizes())}


# --- the order of dimensions


@view(
    "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    variants="function method",
    shape="transpose",
    samples=[S(f(2, 3, 4), 0, 2), S(f(2, 3), -1, 0), S(f(), 0, -1), S(f(2), 0, 1)],
)
def transpose(self, dim0, dim1):
    """A view with two dimensions swapped."""


@transpose.backward
def _(grad, dim0, dim1):
    return {"self": grad.transpose(dim0, dim1)}


@view(
    "t(Tensor(a) self) -> Tensor(a)",
    variants="function method",
    shape="t",
    batch="t",
    samples=[S(f(2, 3)), S(f(3)), S(f()), S(f(2, 3, 4))],
)
def t(self):
    """The transpose of a matrix; vectors and numbers stay as they are."""


@t.backward
def _(grad):
    return {"self": grad.t()}


@view(
    "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
    variants="function method",
    shape="permute",
    batch="permute",
    samples=[S(f(2, 3, 4), [2, 0, 1]), S(f(2, 3), [-1, 0]), S(f(2, 3), [0, 0]), S(f(2, 3), [0])],
)
def permute(self, dims):
    """A view with the dimensions in the order of ``dims``."""


@permute.backward
def _(grad, dims):
    return {"self": op.permute_backward(grad, dims)}


# --- sizes


@view(
    "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
    variants="method",
    shape="expand",
    batch="expand",
    samples=[S(f(3, 1), [2, 3, 4]), S(f(3, 1), [-1, 4]), S(f(3), [2]), S(f(), [2])],
)
def expand(self, size, implicit):
    """A view in which dimensions of size 1 repeat, without copies, up to ``size``; -1 keeps a size."""


@expand.backward
def _(grad, self):
    return {"self": op.sum_to_size(grad, self.sizes())}


@view(
    "view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
    variants="method",
    shape="view",
    batch="view",
    samples=[S(f(2, 6), [3, 4]), S(f(2, 6), [-1]), S(f(2, 6), [4, -1]), S(f(2, 6), [5]), S(f(0), [0, 3])],
)
def view_(self, size):
    """A view of another shape with as many elements; RuntimeError if the strides cannot express it."""


@view_.backward
def _(grad, self):
    return {"self": grad.reshape(self.sizes())}


@view(
    "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
    variants="method",
    shape="view",
    not_differentiable=True,
    batch="same_place resolved",
    samples=[S(f(2, 3), Name("int64")), S(f(2, 4), Name("float32")), S(f(3), Name("complex128"))],
)
def view_dtype(self, dtype):
    """The same bytes read as another dtype; the last dimension grows or shrinks by the ratio of the element sizes."""


@view(
    "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
    variants="function method",
    shape="unsqueeze",
    batch="unsqueeze",
    samples=[S(f(2, 3), 0), S(f(2, 3), -1), S(f(), 0), S(f(2), 3)],
)
def unsqueeze(self, dim):
    """A view with a dimension of size 1 inserted at ``dim``."""


@unsqueeze.backward
def _(grad, dim):
    return {"self": grad.squeeze(dim)}


@view(
    "squeeze(Tensor(a) self) -> Tensor(a)",
    variants="function method",
    shape="squeeze",
    batch="squeeze",
    samples=[S(f(1, 2, 1)), S(f(2)), S(f())],
)
def squeeze(self):
    """A view without the dimensions of size 1."""


@squeeze.backward
def _(grad, self):
    return {"self": grad.reshape(self.sizes())}


@view(
    "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
    variants="function method",
    shape="squeeze",
    samples=[S(f(2, 1, 3), 1), S(f(2, 1), 0), S(f(), 0), S(f(2), 2)],
)
def squeeze(self, dim):
    """A view without dimension ``dim`` where that has size 1."""


@squeeze.backward
def _(grad, self):
    return {"self": grad.reshape(self.sizes())}


@view(
    "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
    variants="function method",
    shape="squeeze",
    samples=[S(f(1, 2, 1), [0, 2]), S(f(1, 2), [0, 1])],
)
def squeeze(self, dim):
    """A view without those of the dimensions ``dim`` that have size 1."""


@squeeze.backward
def _(grad, self):
    return {"self": grad.reshape(self.sizes())}


# --- parts


@view(
    "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
    variants="function method",
    shape="select",
    batch="part",
    samples=[S(f(2, 3), 0, 1), S(f(2, 3), 1, -1), S(f(2, 3), 0, 2), S(f(), 0, 0)],
)
def select(self, dim, index):
    """The slice at ``index`` of dimension ``dim``, without that dimension."""


@select.backward
def _(grad, self, dim, index):
    return {"self": op.select_backward(grad, self.sizes(), dim, index)}


@view(
    "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
    variants="method",
    shape="slice",
    unbound=True,
    batch="part",
    samples=[S(f(5, 3), 0, 1, 4), S(f(5, 3), 0, None, None, 2), S(f(5), 0, -3, 100), S(f(5), 0, 0, 5, 0)],
)
def slice_(self, dim, start, end, step):
    """Every ``step``-th slice of dimension ``dim`` from ``start`` to before ``end``."""


@slice_.backward
def _(grad, self, dim, start, end, step):
    return {"self": op.slice_backward(grad, self.sizes(), dim, start, end, step)}


@view(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    variants="function method",
    shape="diagonal",
    samples=[S(f(3, 4)), S(f(3, 4), 1), S(f(2, 3, 4), -1, 1, 2), S(f(3))],
)
def diagonal(self, offset, dim1, dim2):
    """The diagonal of each matrix in ``dim1`` and ``dim2``, as a last dimension; ``offset`` counts above the main
    one."""


@diagonal.backward
def _(grad, self, offset, dim1, dim2):
    return {"self": op.diagonal_backward(grad, self.sizes(), offset, dim1, dim2)}


@view(
    "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    variants="method",
    shape="unfold",
    batch="unfold",
    samples=[S(f(6, 3), 0, 3, 2), S(f(6), 0, 6, 1), S(f(3), 0, 4, 1)],
)
def unfold(self, dimension, size, step):
    """Windows of ``size`` along ``dimension``, ``step`` apart: their elements are a new last dimension."""


@unfold.backward
def _(grad, self, dimension, size, step):
    return {"self": op.unfold_backward(grad, self.sizes(), dimension, size, step)}


@view(
    "unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]",
    variants="function method",
    shape="unbind",
    samples=[S(f(2, 3)), S(f(2, 3), 1), S(f())],
)
def unbind(self, dim):
    """All slices of dimension ``dim``, without that dimension."""


@unbind.backward
def _(grads, dim):
    return {"self": op.stack(grads, dim)}


@view(
    "split.Tensor(Tensor(a) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    variants="function method",
    shape="split",
    samples=[S(f(6, 4), 2), S(f(5, 4), 2), S(f(5, 4), 3, 1), S(f(5), 0)],
)
def split(self, split_size, dim):
    """Pieces of ``split_size`` along ``dim``; the last one may be smaller."""


@split.backward
def _(grads, dim):
    return {"self": op.cat(grads, dim)}


@view(
    "split_with_sizes(Tensor(a) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
    variants="function method",
    shape="split_with_sizes",
    samples=[S(f(6, 4), [2, 4]), S(f(6, 4), [1, 3], 1), S(f(6), [1, 2])],
)
def split_with_sizes(self, split_sizes, dim):
    """Pieces of the given sizes along ``dim``, which must add up to its size."""


@split_with_sizes.backward
def _(grads, dim):
    return {"self": op.cat(grads, dim)}


# --- complex numbers


@view(
    "view_as_real(Tensor(a) self) -> Tensor(a)",
    variants="function",
    shape="view_as_real",
    batch="same_place resolved",
    samples=[S(f(2, 3, dtype="complex128"))],
)
def view_as_real(self):
    """Complex numbers of shape (...) as real ones of shape (..., 2)."""


@view_as_real.backward
def _(grad):
    return {"self": op.view_as_complex(grad.contiguous())}


@view(
    "view_as_complex(Tensor(a) self) -> Tensor(a)",
    variants="function",
    shape="view_as_complex",
    autocast="fp32",
    batch="same_place",
    samples=[S(f(3, 2)), S(f(3, 3))],
)
def view_as_complex(self):
    """Real numbers of shape (..., 2) as complex ones of shape (...)."""


@view_as_complex.backward
def _(grad):
    return {"self": op.view_as_real(grad)}
