"""Several tensors as one, and grids made of them."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@kernel(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    variants="function out",
    shape="cat",
    files="join",
    own_out=True,
    out="type error",
    autocast="promote",
    batch="cat",
    samples=[S([f(2, 3), f(2, 3)]), S([f(2, 3), f(2, 1)], 1), S([f(2, 3), f(0)]), S([f(2, 3), f(2, 1)]), S([])],
)
def cat(tensors, dim):
    """The tensors one after another along ``dim``; their other sizes must agree. Dtypes promote."""


@cat.backward
def _(grad, tensors, dim):
    return {"tensors": op.cat_backward(grad, tensors.sizes(), dim)}


@composite("cat_backward(Tensor grad_output, SymInt[] sizes, int dim) -> Tensor[]", files="join", unbound=True)
def cat_backward(grad_output, sizes, dim):
    """The gradient's parts; ``sizes`` holds the number of dimensions and the sizes of each input in turn."""


@composite("concat(Tensor[] tensors, int dim=0) -> Tensor", variants="function out", out="type error", samples="cat")
def concat(tensors, dim):
    """``cat`` under another name."""
    return op.cat(tensors, dim)


@composite(
    "concatenate(Tensor[] tensors, int dim=0) -> Tensor", variants="function out", out="type error", samples="cat"
)
def concatenate(tensors, dim):
    """``cat`` under another name."""
    return op.cat(tensors, dim)


@kernel(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    variants="function out",
    shape="stack",
    files="join",
    own_out=True,
    out="type error",
    autocast="promote",
    batch="stack",
    samples=[S([f(2, 3), f(2, 3)]), S([f(2), f(2), f(2)], -1), S([f(2), f(3)]), S([])],
)
def stack(tensors, dim):
    """Tensors of one shape along a new dimension ``dim``. Dtypes promote."""


@stack.backward
def _(grad, dim):
    return {"tensors": op.unbind(grad, dim)}


def _check_some(tensors):
    """Wants a tensor."""
    check(len(tensors) > 0, "at least one tensor is needed; got an empty list")


@composite(
    "hstack(Tensor[] tensors) -> Tensor",
    variants="function out",
    out="type error",
    samples=[S([f(2, 3), f(2, 3)]), S([f(3), f(3)]), S([f(2, 3)]), S([f(), f()])],
)
def hstack(tensors):
    """Joined along dimension 1, or 0 for vectors and numbers."""
    _check_some(tensors)
    parts = [op.atleast_1d(t) for t in tensors]
    return op.cat(parts, 0 if parts[0].dim() == 1 else 1)


@composite("vstack(Tensor[] tensors) -> Tensor", variants="function out", out="type error", samples="hstack")
def vstack(tensors):
    """Joined along dimension 0, vectors as rows."""
    _check_some(tensors)
    return op.cat([op.atleast_2d(t) for t in tensors], 0)


@composite("row_stack(Tensor[] tensors) -> Tensor", variants="function out", out="type error", samples="hstack")
def row_stack(tensors):
    """``vstack`` under another name."""
    return op.vstack(tensors)


@composite("dstack(Tensor[] tensors) -> Tensor", variants="function out", out="type error", samples="hstack")
def dstack(tensors):
    """Joined along dimension 2 after each got at least three."""
    _check_some(tensors)
    return op.cat([op.atleast_3d(t) for t in tensors], 2)


@composite(
    "column_stack(Tensor[] tensors) -> Tensor",
    variants="function out",
    out="type error",
    samples="hstack",
)
def column_stack(tensors):
    """Joined along dimension 1, vectors as columns."""
    _check_some(tensors)
    return op.cat([t.reshape([t.numel(), 1]) if t.dim() <= 1 else t for t in tensors], 1)


@composite("block_diag(Tensor[] tensors) -> Tensor", files="join", samples="hstack")
def block_diag(tensors):
    """Matrices along the diagonal of a matrix of zeros; vectors are rows, numbers 1 x 1."""


# --- grids


def _grid(tensors):
    """Each vector along a dimension of its own, expanded to the grid of all."""
    _check_some(tensors)
    first = tensors[0]
    for t in tensors:
        check(t.dim() <= 1, f"takes vectors and numbers; got shape {t.shape}")
        check(
            t.dtype == first.dtype,
            f"all tensors must have one dtype; got {first.dtype} and {t.dtype}",
        )
        check(
            t.device == first.device,
            f"all tensors must be on one device; got {first.device} and {t.device}",
        )
    sizes = [t.numel() for t in tensors]
    count = len(tensors)
    return [t.view([*[1] * i, t.numel(), *[1] * (count - i - 1)]).expand(sizes) for i, t in enumerate(tensors)]


@composite("meshgrid(Tensor[] tensors) -> Tensor[]", samples=[S([f(2), f(3)]), S([f(3)])])
def meshgrid(tensors):
    """``meshgrid`` with ``indexing='ij'``, which a warning asks to say."""
    warn("meshgrid will ask for indexing='ij' or 'xy' one day; without it 'ij' is meant")
    return op.meshgrid(tensors, indexing="ij")


@composite(
    "meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]",
    samples=[S([f(2), f(3)], indexing="ij"), S([f(2), f(3)], indexing="xy"), S([f(2)], indexing="no")],
)
def meshgrid_indexing(tensors, indexing):
    """The coordinates of a grid with these axes, as one view per axis; 'xy' swaps the first two dimensions."""
    check(indexing in ("ij", "xy"), f"indexing must be 'ij' or 'xy'; got {indexing!r}")
    if indexing == "ij" or len(tensors) < 2:
        return _grid(tensors)
    # Rows follow the second axis, columns the first.
    grids = _grid([tensors[1], tensors[0], *tensors[2:]])
    return [grids[1], grids[0], *grids[2:]]


@composite("cartesian_prod(Tensor[] tensors) -> Tensor", samples="meshgrid")
def cartesian_prod(tensors):
    """All combinations of one element of each vector, as rows."""
    for t in tensors:
        check(t.dim() == 1, f"takes vectors; got shape {t.shape}")
    if len(tensors) == 1:
        return tensors[0]
    return op.stack([t.flatten() for t in _grid(tensors)], 1)


@composite(
    "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    variants="function method",
    files="grid",
    samples=[S(f(4)), S(f(4), 3), S(f(3), 2, True)],
)
def combinations(self, r, with_replacement):
    """All choices of ``r`` elements of a vector, in order, as rows."""


@composite(
    "diag(Tensor self, int diagonal=0) -> Tensor",
    variants="function method out",
    samples=[S(f(3)), S(f(3, 4)), S(f(3), 1), S(f(3, 4), -1)],
)
def diag(self, diagonal):
    """A vector as the diagonal of a matrix of zeros; of a matrix, a copy of its diagonal."""
    check(
        self.dim() == 1 or self.dim() == 2,
        f"takes a vector or a matrix; got shape {self.shape}",
    )
    if self.dim() == 1:
        return op.diag_embed(self, diagonal)
    return self.diagonal(diagonal).clone(memory_format=contiguous_format)


@composite(
    "diagflat(Tensor self, int offset=0) -> Tensor",
    variants="function method",
    samples=[S(f(3)), S(f(2, 2), 1)],
)
def diagflat(self, offset):
    """All elements as the diagonal of a matrix of zeros."""
    return op.diag_embed(self.flatten(), offset)


@composite(
    "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
    samples=[S(f(4)), S(f(4), 3), S(f(4), increasing=True)],
)
def vander(x, N, increasing):
    """The Vandermonde matrix of a vector: column j holds the powers x^(N - 1 - j), or x^j when ``increasing``."""
    check(x.dim() == 1, f"takes a vector; got shape {x.shape}")
    columns = N if N is not None else x.numel()
    check(columns >= 0, f"N must not be negative; got {columns}")
    exponents = op.arange(columns, dtype=int64, device=x.device)
    if not increasing:
        exponents = exponents.flip([0])
    return op.pow(x.unsqueeze(1), exponents)


@composite("_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor", variants="function out", files="join",
           out="type error",
           samples=[S([f(4, 3), f(2, 3)], 0, 2), S([f(3, 2), f(5)], 0, 2), S([f(2, 3), f(2, 4)], 1, 3)])  # fmt: skip
def _chunk_cat(tensors, dim, num_chunks):
    """Each tensor cut into ``num_chunks`` along ``dim`` (zeros fill the last ones up), and what belongs to one chunk
    joined, flat: (*sizes before ``dim``, num_chunks, elements of a chunk)."""
