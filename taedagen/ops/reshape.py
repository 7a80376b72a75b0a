"""Shape functions made of views: which view they take depends on the shapes, so that they are written in C++."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v


@composite(
    "reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", variants="function method", files="reshape", samples="view"
)
def reshape(self, shape):
    """A view of the shape where the strides allow it, else a copy; one size may be -1."""


@kernel(
    "_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
    everywhere=True,
    geometry_only=True,
    files="reshape",
    unbound=True,
    batch="view",
)
def _unsafe_view(self, size):
    """A tensor that nobody else holds, under another shape: not tracked as a view."""


@_unsafe_view.backward
def _(grad, self):
    return {"self": grad.reshape(self.sizes())}


@composite("reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", variants="method", samples=[S(f(2, 6), f(3, 4))])
def reshape_as(self, other):
    """``reshape`` to the shape of ``other``."""
    return op.reshape(self, other.sizes())


@composite("view_as(Tensor(a) self, Tensor other) -> Tensor(a)", variants="method", samples="reshape_as")
def view_as(self, other):
    """``view`` with the shape of ``other``."""
    return op.view(self, other.sizes())


@composite("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", variants="method", samples=[S(f(3, 1), f(2, 3, 4))])
def expand_as(self, other):
    """``expand`` to the shape of ``other``."""
    return op.expand(self, other.sizes())


@composite("broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", variants="function method", samples="expand")
def broadcast_to(self, size):
    """``expand`` under NumPy's name."""
    return op.expand(self, size)


@composite(
    "broadcast_tensors(Tensor[] tensors) -> Tensor[]", files="reshape", samples=[S([f(3, 1), f(4)]), S([f(3), f(2)])]
)
def broadcast_tensors(tensors):
    """All tensors expanded to the shape that they broadcast to."""


@composite(
    "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    variants="function method",
    files="reshape",
    samples=[S(f(2, 3, 4)), S(f(2, 3, 4), 1), S(f()), S(f(2, 3, 4), 0, 1), S(f(2, 3), 1, 0)],
)
def flatten(self, start_dim, end_dim):
    """The dimensions from ``start_dim`` to ``end_dim`` as one."""


@composite(
    "unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
    variants="function method",
    files="reshape",
    samples=[S(f(2, 6), 1, [2, 3]), S(f(2, 6), -1, [-1, 2]), S(f(6), 0, [4])],
)
def unflatten(self, dim, sizes):
    """Dimension ``dim`` as several of the given sizes, of which one may be -1."""


@composite("ravel(Tensor(a) self) -> Tensor(a)", variants="function method", files="reshape")
def ravel(self):
    """All elements in one dimension; a copy only where they do not lie in order."""


@composite("atleast_1d(Tensor self) -> Tensor", files="reshape")
def atleast_1d(self):
    """With at least one dimension."""


@composite("atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", files="reshape", samples="hstack")
def atleast_1d_all(tensors):
    """With at least one dimension each."""


@composite("atleast_2d(Tensor self) -> Tensor", files="reshape")
def atleast_2d(self):
    """With at least two dimensions: a vector becomes a row."""


@composite("atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", files="reshape", samples="hstack")
def atleast_2d_all(tensors):
    """With at least two dimensions each."""


@composite("atleast_3d(Tensor self) -> Tensor", files="reshape")
def atleast_3d(self):
    """With at least three dimensions: a vector of n becomes (1, n, 1), a matrix (m, n, 1)."""


@composite("atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", files="reshape", samples="hstack")
def atleast_3d_all(tensors):
    """With at least three dimensions each."""


# --- the order of dimensions


@composite("numpy_T(Tensor(a) self) -> Tensor(a)", files="reshape", unbound=True, samples="t")
def numpy_T(self):
    """``x.T``: all dimensions in reverse order."""


@composite(
    "mT(Tensor(a) self) -> Tensor(a)", files="reshape", unbound=True, samples=[S(f(2, 3)), S(f(2, 3, 4)), S(f(3))]
)
def mT(self):
    """``x.mT``: the last two dimensions swapped."""


@composite("matrix_H(Tensor(a) self) -> Tensor(a)", files="reshape", unbound=True, samples="mT")
def matrix_H(self):
    """``x.H``: the conjugate transpose of a matrix."""


@composite("mH(Tensor(a) self) -> Tensor(a)", files="reshape", unbound=True, samples="mT")
def mH(self):
    """``x.mH``: the conjugate with the last two dimensions swapped."""


@composite("adjoint(Tensor(a) self) -> Tensor(a)", variants="function method", files="reshape", samples="mT")
def adjoint(self):
    """The conjugate with the last two dimensions swapped."""


@composite(
    "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    variants="function method",
    files="reshape",
    samples=[S(f(2, 3, 4), [0, 1], [1, 2]), S(f(2, 3), [0], [0, 1])],
)
def movedim(self, source, destination):
    """The dimensions ``source`` moved to the positions ``destination``; the others keep their order."""


@composite(
    "movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
    variants="function method",
    files="reshape",
    samples=[S(f(2, 3, 4), 0, 2), S(f(2, 3), 3, 0)],
)
def movedim_one(self, source, destination):
    """Dimension ``source`` moved to position ``destination``."""


@composite(
    "moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    variants="function method",
    samples="movedim.intlist",
)
def moveaxis(self, source, destination):
    """``movedim`` under NumPy's name."""
    return op.movedim(self, source, destination)


@composite(
    "moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
    variants="function method",
    samples="movedim.int",
)
def moveaxis_one(self, source, destination):
    """``movedim`` under NumPy's name."""
    return op.movedim(self, source, destination)


@composite(
    "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", variants="function method", samples="transpose.int"
)
def swapaxes(self, axis0, axis1):
    """``transpose`` under NumPy's name."""
    return op.transpose(self, axis0, axis1)


@composite(
    "swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", variants="function method", samples="transpose.int"
)
def swapdims(self, dim0, dim1):
    """``transpose`` under another name."""
    return op.transpose(self, dim0, dim1)


# --- parts


@composite(
    "narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
    variants="function method",
    files="reshape",
    samples=[S(f(5, 3), 0, 1, 3), S(f(5, 3), 1, -2, 1), S(f(5), 0, 3, 4)],
)
def narrow(self, dim, start, length):
    """``length`` slices of dimension ``dim`` from ``start`` on."""


@composite(
    "narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)",
    variants="function method",
    files="reshape",
    samples=[S(f(5, 3), 0, v(1), 3)],
)
def narrow_from(self, dim, start, length):
    """``length`` slices of dimension ``dim`` from the index in the 0-d tensor ``start`` on."""


@composite(
    "narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
    variants="function method out",
    files="reshape",
    samples="narrow",
)
def narrow_copy(self, dim, start, length):
    """A contiguous copy of what ``narrow`` shows."""


@composite(
    "split.sizes(Tensor(a) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples="split_with_sizes",
)
def split(self, split_size, dim):
    """Pieces of the given sizes along ``dim``, which must add up to its size."""


@composite(
    "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples=[S(f(6, 4), 4), S(f(5, 4), 2, 1), S(f(3), 0)],
)
def chunk(self, chunks, dim):
    """At most ``chunks`` pieces along ``dim``, all of one size but for the last."""


@composite(
    "tensor_split.sections(Tensor(a) self, SymInt sections, int dim=0) -> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples=[S(f(6, 4, 2), 2), S(f(5, 4, 3), 3), S(f(6, 4, 2), 0), S(f(4, 5), 2, 1)],
)
def tensor_split(self, sections, dim):
    """``sections`` pieces along ``dim``, whose sizes differ by at most one."""


@composite(
    "tensor_split.indices(Tensor(a) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples=[S(f(6, 4, 2), [1, 3]), S(f(6, 4, 2), [2, -1])],
)
def tensor_split_at(self, indices, dim):
    """The pieces between the given indices of ``dim``."""


@composite(
    "tensor_split.tensor_indices_or_sections(Tensor(a) self, Tensor tensor_indices_or_sections, int dim=0) "
    "-> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples=[S(f(6, 4), v([1, 3])), S(f(6, 4), v(3))],
)
def tensor_split_by(self, tensor_indices_or_sections, dim):
    """``tensor_split`` with the number of sections (0-d) or the indices (1-d) in an int64 tensor on the CPU."""


@composite(
    "hsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples=[S(f(6, 4, 2), 2), S(f(5, 4, 3), 3), S(f(6, 4, 2), 0)],
)
def hsplit(self, sections):
    """Equal pieces along dimension 1, or 0 for a vector."""


@composite(
    "hsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples="tensor_split.indices",
)
def hsplit_at(self, indices):
    """The pieces between indices of dimension 1, or 0 for a vector."""


@composite(
    "vsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples="hsplit.int",
)
def vsplit(self, sections):
    """Equal pieces along dimension 0 of a tensor with at least two."""


@composite(
    "vsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples="tensor_split.indices",
)
def vsplit_at(self, indices):
    """The pieces between indices of dimension 0."""


@composite(
    "dsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples="hsplit.int",
)
def dsplit(self, sections):
    """Equal pieces along dimension 2 of a tensor with at least three."""


@composite(
    "dsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples="tensor_split.indices",
)
def dsplit_at(self, indices):
    """The pieces between indices of dimension 2."""


@kernel(
    "unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
    variants="function method",
    everywhere=True,
    files="reshape",
    batch="by_dims",
    samples=[S(f(5, 4), 2)],
)
def unsafe_split(self, split_size, dim):
    """``split`` whose pieces may be written to one by one: they are not tracked as views."""


@unsafe_split.backward
def _(grads, dim):
    return {"self": op.cat(grads, dim)}


@kernel(
    "unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
    variants="function method",
    everywhere=True,
    files="reshape",
    batch="by_dims",
    samples=[S(f(6, 4), [2, 4])],
)
def unsafe_split_with_sizes(self, split_sizes, dim):
    """``split_with_sizes`` whose pieces may be written to one by one: they are not tracked as views."""


@unsafe_split_with_sizes.backward
def _(grads, dim):
    return {"self": op.cat(grads, dim)}


@composite(
    "unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
    variants="function method",
    files="reshape",
    samples="chunk",
)
def unsafe_chunk(self, chunks, dim):
    """``chunk`` whose pieces may be written to one by one: they are not tracked as views."""
