"""Shape functions made of views: which view they take depends on the shapes, so that they are written in C++."""

import math

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v


@composite(
    "reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", variants="function method", files="reshape", samples="view"
)
def reshape(self, shape):
    """A view of the shape where the strides allow it, else a copy; one size may be -1."""


@kernel(
    "_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
    any_device=True,
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
    return op.reshape(self, other.shape)


@composite("view_as(Tensor(a) self, Tensor other) -> Tensor(a)", variants="method", samples="reshape_as")
def view_as(self, other):
    """``view`` with the shape of ``other``."""
    return op.view(self, other.shape)


@composite("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", variants="method", samples=[S(f(3, 1), f(2, 3, 4))])
def expand_as(self, other):
    """``expand`` to the shape of ``other``."""
    return op.expand(self, other.shape)


@composite("broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", variants="function method", samples="expand")
def broadcast_to(self, size):
    """``expand`` under NumPy's name."""
    return op.expand(self, size)


@composite("broadcast_tensors(Tensor[] tensors) -> Tensor[]", samples=[S([f(3, 1), f(4)]), S([f(3), f(2)])])
def broadcast_tensors(tensors):
    """All tensors expanded to the shape that they broadcast to."""
    sizes: list[int] = []
    for t in tensors:
        sizes = broadcast_shapes(sizes, t.shape)
    return [t.expand(sizes) for t in tensors]


@composite(
    "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    variants="function method",
    samples=[S(f(2, 3, 4)), S(f(2, 3, 4), 1), S(f()), S(f(2, 3, 4), 0, 1), S(f(2, 3), 1, 0)],
)
def flatten(self, start_dim, end_dim):
    """The dimensions from ``start_dim`` to ``end_dim`` as one."""
    start, end = wrap_dim(start_dim, self.dim()), wrap_dim(end_dim, self.dim())
    check(start <= end, f"start_dim ({start}) must not lie behind end_dim ({end})")
    if self.dim() == 0:
        return self.reshape([1])
    if start == end:
        return self
    return self.reshape(
        [
            *self.shape[:start],
            math.prod(self.shape[start : end + 1]),
            *self.shape[end + 1 :],
        ]
    )


@composite(
    "unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
    variants="function method",
    samples=[S(f(2, 6), 1, [2, 3]), S(f(2, 6), -1, [-1, 2]), S(f(6), 0, [4])],
)
def unflatten(self, dim, sizes):
    """Dimension ``dim`` as several of the given sizes, of which one may be -1."""
    along = wrap_dim(dim, self.dim())
    check(self.dim() > 0, "a tensor without dimensions has none to divide")
    check(len(sizes) > 0, "sizes must hold at least one size")
    pieces = infer_size(sizes, self.size(along))
    return self.view([*self.shape[:along], *pieces, *self.shape[along + 1 :]])


@composite("ravel(Tensor(a) self) -> Tensor(a)", variants="function method")
def ravel(self):
    """All elements in one dimension; a copy only where they do not lie in order."""
    return self.contiguous().reshape([-1])


@composite("atleast_1d(Tensor self) -> Tensor")
def atleast_1d(self):
    """With at least one dimension."""
    return self.reshape([1]) if self.dim() == 0 else self


@composite("atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", samples="hstack")
def atleast_1d_all(tensors):
    """With at least one dimension each."""
    return [op.atleast_1d(t) for t in tensors]


@composite("atleast_2d(Tensor self) -> Tensor")
def atleast_2d(self):
    """With at least two dimensions: a vector becomes a row."""
    if self.dim() >= 2:
        return self
    return self.reshape([1, 1]) if self.dim() == 0 else self.unsqueeze(0)


@composite("atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", samples="hstack")
def atleast_2d_all(tensors):
    """With at least two dimensions each."""
    return [op.atleast_2d(t) for t in tensors]


@composite("atleast_3d(Tensor self) -> Tensor")
def atleast_3d(self):
    """With at least three dimensions: a vector of n becomes (1, n, 1), a matrix (m, n, 1)."""
    if self.dim() >= 3:
        return self
    if self.dim() == 0:
        return self.reshape([1, 1, 1])
    return (self.unsqueeze(0) if self.dim() == 1 else self).unsqueeze(-1)


@composite("atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", samples="hstack")
def atleast_3d_all(tensors):
    """With at least three dimensions each."""
    return [op.atleast_3d(t) for t in tensors]


# --- the order of dimensions


@composite("numpy_T(Tensor(a) self) -> Tensor(a)", unbound=True, samples="t")
def numpy_T(self):
    """``x.T``: all dimensions in reverse order."""
    if self.dim() != 2 and self.dim() != 0:
        warn(
            f"x.T is for matrices, and deprecated for a tensor of {self.dim()} dimensions; x.mT transposes its "
            "matrices, x.permute(*range(x.dim() - 1, -1, -1)) reverses all dimensions"
        )
    return self.permute([d for d in range(self.dim() - 1, -1, -1)])


@composite("mT(Tensor(a) self) -> Tensor(a)", unbound=True, samples=[S(f(2, 3)), S(f(2, 3, 4)), S(f(3))])
def mT(self):
    """``x.mT``: the last two dimensions swapped."""
    if self.dim() == 0:
        return op.alias(self)
    check(self.dim() >= 2, f"x.mT needs at least two dimensions; got shape {self.shape}")
    return self.transpose(-2, -1)


@composite("matrix_H(Tensor(a) self) -> Tensor(a)", unbound=True, samples="mT")
def matrix_H(self):
    """``x.H``: the conjugate transpose of a matrix."""
    check(
        self.dim() == 2 or self.dim() == 0,
        f"x.H is for matrices; got shape {self.shape}, for which there is x.mH",
    )
    return self.conj() if self.dim() == 0 else self.transpose(0, 1).conj()


@composite("mH(Tensor(a) self) -> Tensor(a)", unbound=True, samples="mT")
def mH(self):
    """``x.mH``: the conjugate with the last two dimensions swapped."""
    if self.dim() == 0:
        return self.conj()
    check(self.dim() >= 2, f"x.mH needs at least two dimensions; got shape {self.shape}")
    return self.transpose(-2, -1).conj()


@composite("adjoint(Tensor(a) self) -> Tensor(a)", variants="function method", samples="mT")
def adjoint(self):
    """The conjugate with the last two dimensions swapped."""
    check(
        self.dim() >= 2 or self.dim() == 0,
        f"a vector has no adjoint; got shape {self.shape}",
    )
    return self.conj() if self.dim() == 0 else self.transpose(-2, -1).conj()


@composite(
    "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    variants="function method",
    samples=[S(f(2, 3, 4), [0, 1], [1, 2]), S(f(2, 3), [0], [0, 1])],
)
def movedim(self, source, destination):
    """The dimensions ``source`` moved to the positions ``destination``; the others keep their order."""
    check(
        len(source) == len(destination),
        f"source {source} and destination {destination} must name as many dimensions",
    )
    order = [-1] * self.dim()
    moved = [0] * self.dim()
    for start, end in zip(source, destination):
        place, target = wrap_dim(start, self.dim()), wrap_dim(end, self.dim())
        if self.dim() > 0:
            check(moved[place] == 0, f"source {source} names dimension {place} twice")
            check(
                order[target] < 0,
                f"destination {destination} names dimension {target} twice",
            )
            moved[place] = 1
            order[target] = place
    rest = 0
    for i in range(self.dim()):
        if order[i] < 0:
            while moved[rest] == 1:
                rest += 1
            order[i] = rest
            rest += 1
    return self.permute(order)


@composite(
    "movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
    variants="function method",
    samples=[S(f(2, 3, 4), 0, 2), S(f(2, 3), 3, 0)],
)
def movedim_one(self, source, destination):
    """Dimension ``source`` moved to position ``destination``."""
    return op.movedim(self, [source], [destination])


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
    samples=[S(f(5, 3), 0, 1, 3), S(f(5, 3), 1, -2, 1), S(f(5), 0, 3, 4)],
)
def narrow(self, dim, start, length):
    """``length`` slices of dimension ``dim`` from ``start`` on."""
    check(self.dim() > 0, "a tensor without dimensions cannot be narrowed")
    check(length >= 0, f"length must not be negative; got {length}")
    size = self.size(dim)
    check(
        -size <= start <= size,
        f"start ({start}) is out of range for dimension {dim} of size {size}",
        IndexError,
    )
    first = start + size if start < 0 else start
    check(
        first <= size - length,
        f"start ({first}) plus length ({length}) exceeds size {size} of dimension {dim}",
    )
    return op.slice(self, dim, first, first + length, 1)


@composite(
    "narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)",
    variants="function method",
    samples=[S(f(5, 3), 0, v(1), 3)],
)
def narrow_from(self, dim, start, length):
    """``length`` slices of dimension ``dim`` from the index in the 0-d tensor ``start`` on."""
    check(
        start.dim() == 0 and is_integral(start.dtype),
        f"start must be a 0-d integer tensor; got {start.dtype} of shape {start.shape}",
    )
    return op.narrow(self, dim, int(start.item()), length)


@composite(
    "narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
    variants="function method out",
    samples="narrow",
)
def narrow_copy(self, dim, start, length):
    """A contiguous copy of what ``narrow`` shows."""
    # PyTorch's type of error, as nowhere else
    check(
        dim < self.dim(),
        f"dimension {dim} is out of range for a tensor of {self.dim()} dimensions",
    )
    return self.narrow(dim, start, length).clone(memory_format=contiguous_format)


@composite(
    "split.sizes(Tensor(a) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
    variants="function method",
    samples="split_with_sizes",
)
def split(self, split_size, dim):
    """Pieces of the given sizes along ``dim``, which must add up to its size."""
    return op.split_with_sizes(self, split_size, dim)


@composite(
    "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples=[S(f(6, 4), 4), S(f(5, 4), 2, 1), S(f(3), 0)],
)
def chunk(self, chunks, dim):
    """At most ``chunks`` pieces along ``dim``, all of one size but for the last."""


_MOST_EMPTY = 1 << 20


def _check_sections(sections, size):
    """Sections beyond the size of a dimension are empty tensors: a number that only a mistake asks for would fill the
    memory."""
    check(
        sections - size <= _MOST_EMPTY,
        f"of {sections} sections of a dimension of size {size}, all but {size} would be empty; at most {_MOST_EMPTY} "
        "may be",
    )


@composite(
    "tensor_split.sections(Tensor(a) self, SymInt sections, int dim=0) -> Tensor(a)[]",
    variants="function method",
    samples=[S(f(6, 4, 2), 2), S(f(5, 4, 3), 3), S(f(6, 4, 2), 0), S(f(4, 5), 2, 1)],
)
def tensor_split(self, sections, dim):
    """``sections`` pieces along ``dim``, whose sizes differ by at most one."""
    check(self.dim() > 0, "a tensor without dimensions cannot be split")
    along = wrap_dim(dim, self.dim())
    check(sections > 0, f"the number of sections must be positive; got {sections}")
    size = self.size(along)
    _check_sections(sections, size)
    piece, larger = size // sections, size % sections
    return [
        op.slice(self, along, i * piece + min(i, larger), (i + 1) * piece + min(i + 1, larger)) for i in range(sections)
    ]


@composite(
    "tensor_split.indices(Tensor(a) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
    variants="function method",
    samples=[S(f(6, 4, 2), [1, 3]), S(f(6, 4, 2), [2, -1])],
)
def tensor_split_at(self, indices, dim):
    """The pieces between the given indices of ``dim``."""
    check(self.dim() > 0, "a tensor without dimensions cannot be split")
    along = wrap_dim(dim, self.dim())
    start = 0
    parts: list[Tensor] = []
    for end in indices:
        parts.append(op.slice(self, along, start, end))
        start = end
    parts.append(op.slice(self, along, start, self.size(along)))
    return parts


@composite(
    "tensor_split.tensor_indices_or_sections(Tensor(a) self, Tensor tensor_indices_or_sections, int dim=0) "
    "-> Tensor(a)[]",
    variants="function method",
    files="reshape",
    samples=[S(f(6, 4), v([1, 3])), S(f(6, 4), v(3))],
)
def tensor_split_by(self, tensor_indices_or_sections, dim):
    """``tensor_split`` with the number of sections (0-d) or the indices (1-d) in an int64 tensor on the CPU."""


def _split_evenly(self, sections, dim):
    """Pieces of one size."""
    check(
        sections > 0 and self.size(dim) % sections == 0,
        f"dimension {dim} of size {self.size(dim)} cannot be split into {sections} equal pieces; tensor_split allows "
        "unequal ones",
    )
    return op.tensor_split(self, sections, dim)


def _check_rank(self, rank):
    """Wants a dimension to split."""
    check(
        self.dim() >= rank,
        f"at least {rank} dimensions are needed; got shape {self.shape}",
    )


@composite(
    "hsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
    variants="function method",
    samples=[S(f(6, 4, 2), 2), S(f(5, 4, 3), 3), S(f(6, 4, 2), 0)],
)
def hsplit(self, sections):
    """Equal pieces along dimension 1, or 0 for a vector."""
    _check_rank(self, 1)
    return _split_evenly(self, sections, 0 if self.dim() == 1 else 1)


@composite(
    "hsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
    variants="function method",
    samples="tensor_split.indices",
)
def hsplit_at(self, indices):
    """The pieces between indices of dimension 1, or 0 for a vector."""
    _check_rank(self, 1)
    return op.tensor_split(self, indices, 0 if self.dim() == 1 else 1)


@composite(
    "vsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
    variants="function method",
    samples="hsplit.int",
)
def vsplit(self, sections):
    """Equal pieces along dimension 0 of a tensor with at least two."""
    _check_rank(self, 2)
    return _split_evenly(self, sections, 0)


@composite(
    "vsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
    variants="function method",
    samples="tensor_split.indices",
)
def vsplit_at(self, indices):
    """The pieces between indices of dimension 0."""
    _check_rank(self, 2)
    return op.tensor_split(self, indices, 0)


@composite(
    "dsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
    variants="function method",
    samples="hsplit.int",
)
def dsplit(self, sections):
    """Equal pieces along dimension 2 of a tensor with at least three."""
    _check_rank(self, 3)
    return _split_evenly(self, sections, 2)


@composite(
    "dsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
    variants="function method",
    samples="tensor_split.indices",
)
def dsplit_at(self, indices):
    """The pieces between indices of dimension 2."""
    _check_rank(self, 3)
    return op.tensor_split(self, indices, 2)


@kernel(
    "unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
    variants="function method",
    any_device=True,
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
    any_device=True,
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
