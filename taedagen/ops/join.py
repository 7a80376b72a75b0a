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


@composite(
    "hstack(Tensor[] tensors) -> Tensor",
    variants="function out",
    files="join",
    out="type error",
    samples=[S([f(2, 3), f(2, 3)]), S([f(3), f(3)]), S([f(2, 3)]), S([f(), f()])],
)
def hstack(tensors):
    """Joined along dimension 1, or 0 for vectors and numbers."""


@composite(
    "vstack(Tensor[] tensors) -> Tensor", variants="function out", files="join", out="type error", samples="hstack"
)
def vstack(tensors):
    """Joined along dimension 0, vectors as rows."""


@composite(
    "row_stack(Tensor[] tensors) -> Tensor", variants="function out", files="join", out="type error", samples="hstack"
)
def row_stack(tensors):
    """``vstack`` under another name."""


@composite(
    "dstack(Tensor[] tensors) -> Tensor", variants="function out", files="join", out="type error", samples="hstack"
)
def dstack(tensors):
    """Joined along dimension 2 after each got at least three."""


@composite(
    "column_stack(Tensor[] tensors) -> Tensor",
    variants="function out",
    files="join",
    out="type error",
    samples="hstack",
)
def column_stack(tensors):
    """Joined along dimension 1, vectors as columns."""


@composite("block_diag(Tensor[] tensors) -> Tensor", files="join", samples="hstack")
def block_diag(tensors):
    """Matrices along the diagonal of a matrix of zeros; vectors are rows, numbers 1 x 1."""


# --- grids


@composite("meshgrid(Tensor[] tensors) -> Tensor[]", files="grid", samples=[S([f(2), f(3)]), S([f(3)])])
def meshgrid(tensors):
    """``meshgrid`` with ``indexing='ij'``, which a warning asks to say."""


@composite(
    "meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]",
    files="grid",
    samples=[S([f(2), f(3)], indexing="ij"), S([f(2), f(3)], indexing="xy"), S([f(2)], indexing="no")],
)
def meshgrid_indexing(tensors, indexing):
    """The coordinates of a grid with these axes, as one view per axis; 'xy' swaps the first two dimensions."""


@composite("cartesian_prod(Tensor[] tensors) -> Tensor", files="grid", samples="meshgrid")
def cartesian_prod(tensors):
    """All combinations of one element of each vector, as rows."""


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
    files="grid",
    samples=[S(f(3)), S(f(3, 4)), S(f(3), 1), S(f(3, 4), -1)],
)
def diag(self, diagonal):
    """A vector as the diagonal of a matrix of zeros; of a matrix, a copy of its diagonal."""


@composite(
    "diagflat(Tensor self, int offset=0) -> Tensor",
    variants="function method",
    files="grid",
    samples=[S(f(3)), S(f(2, 2), 1)],
)
def diagflat(self, offset):
    """All elements as the diagonal of a matrix of zeros."""


@composite(
    "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
    files="grid",
    samples=[S(f(4)), S(f(4), 3), S(f(4), increasing=True)],
)
def vander(x, N, increasing):
    """The Vandermonde matrix of a vector: column j holds the powers x^(N - 1 - j), or x^j when ``increasing``."""


@composite("_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor", variants="function out", files="join",
           out="type error",
           samples=[S([f(4, 3), f(2, 3)], 0, 2), S([f(3, 2), f(5)], 0, 2), S([f(2, 3), f(2, 4)], 1, 3)])  # fmt: skip
def _chunk_cat(tensors, dim, num_chunks):
    """Each tensor cut into ``num_chunks`` along ``dim`` (zeros fill the last ones up), and what belongs to one chunk
    joined, flat: (*sizes before ``dim``, num_chunks, elements of a chunk)."""
