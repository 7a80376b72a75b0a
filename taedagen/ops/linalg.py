"""Products of matrices."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@kernel(
    "mm(Tensor self, Tensor mat2) -> Tensor",
    variants="function method out",
    shape="mm",
    files="linalg",
    autocast="lower",
    out="same",
    batch="mm",
    flops="2 * prod(self) * mat2[-1]",
)
def mm(self, mat2):
    """The product of two matrices, (n, k) and (k, m)."""


@mm.backward
def _(grad, self, mat2):
    return {
        "self": op.mm_backward_left(grad, mat2, self.sizes(), self.strides()),
        "mat2": op.mm_backward_right(grad, self, mat2.sizes(), mat2.strides()),
    }


@mm.forward
def _(self, mat2, self_tangent, mat2_tangent):
    return op.mm(self_tangent, mat2) + op.mm(self, mat2_tangent)


mm.samples([
    S(f(2, 3), f(3, 4)), S(f(0, 3), f(3, 4)), S(f(2, 0), f(0, 4)), S(f(2, 3), f(4, 3)), S(f(40, 50), f(50, 33)),
])  # fmt: skip


@composite(
    "mm_backward_left(Tensor grad, Tensor mat2, SymInt[] sizes, SymInt[] strides) -> Tensor",
    files="linalg",
    unbound=True,
)
def mm_backward_left(grad, mat2, sizes, strides):
    """``grad @ mat2^H``, in the layout of the left matrix."""


@composite(
    "mm_backward_right(Tensor grad, Tensor self, SymInt[] sizes, SymInt[] strides) -> Tensor",
    files="linalg",
    unbound=True,
)
def mm_backward_right(grad, self, sizes, strides):
    """``self^H @ grad``, in the layout of the right matrix."""


@kernel(
    "bmm(Tensor self, Tensor mat2) -> Tensor",
    variants="function method out",
    shape="bmm",
    files="linalg",
    autocast="lower",
    out="same",
    batch="mm",
    flops="2 * prod(self) * mat2[-1]",
    samples=[S(f(2, 3, 4), f(2, 4, 5)), S(f(0, 3, 4), f(0, 4, 5)), S(f(2, 3, 4), f(3, 4, 5))],
)
def bmm(self, mat2):
    """The products of two batches of matrices, (b, n, k) and (b, k, m)."""


@bmm.backward
def _(grad, self, mat2):
    return {"self": op.bmm(grad, op.adjoint(mat2)), "mat2": op.bmm(op.adjoint(self), grad)}


@bmm.forward
def _(self, mat2, self_tangent, mat2_tangent):
    return op.bmm(self_tangent, mat2) + op.bmm(self, mat2_tangent)


@kernel(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    shape="addmm",
    files="linalg",
    autocast="lower",
    out="same",
    batch="addmm",
    flops="2 * prod(mat1) * mat2[-1]",
)
def addmm(self, mat1, mat2, beta, alpha):
    """``beta * self + alpha * (mat1 @ mat2)``; with ``beta`` 0, NaNs in ``self`` do not count."""


@addmm.backward
def _(grad, mat1, mat2, beta, alpha):
    g = grad * alpha.conj()
    return {
        "self": grad * beta.conj(),
        "mat1": op.mm_backward_left(g, mat2, mat1.sizes(), mat1.strides()),
        "mat2": op.mm_backward_right(g, mat1, mat2.sizes(), mat2.strides()),
    }


addmm.samples([
    S(f(2, 4), f(2, 3), f(3, 4)), S(f(4), f(2, 3), f(3, 4), beta=0.5, alpha=2), S(f(), f(2, 3), f(3, 4), beta=0),
])  # fmt: skip


@composite("_sparse_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
           unbound=True, explicit=True)  # fmt: skip
def _sparse_addmm(self, mat1, mat2, beta, alpha):
    """``addmm`` by its name for subclasses of Tensor that hold a sparse ``mat1``."""
    return op.addmm(self, mat1, mat2, beta=beta, alpha=alpha)


_sparse_addmm.backward(addmm.derivative)


@kernel(
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    shape="baddbmm",
    files="linalg",
    autocast="lower",
    out="same",
    batch="addmm",
    flops="2 * prod(batch1) * batch2[-1]",
    samples=[S(f(2, 3, 5), f(2, 3, 4), f(2, 4, 5)), S(f(5), f(2, 3, 4), f(2, 4, 5), beta=0.5, alpha=2)],
)
def baddbmm(self, batch1, batch2, beta, alpha):
    """``beta * self + alpha * (batch1 @ batch2)`` for batches of matrices."""


@baddbmm.backward
def _(grad, batch1, batch2, beta, alpha):
    g = grad * alpha.conj()
    return {
        "self": grad * beta.conj(),
        "batch1": op.bmm(g, op.adjoint(batch2)),
        "batch2": op.bmm(op.adjoint(batch1), g),
    }


@kernel(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    variants="function out",
    module="nn",
    shape="linear",
    files="linalg",
    autocast="lower",
    batch="linear",
    flops="2 * prod(input) * weight[0]",
)
def linear(input, weight, bias):
    """``input @ weight^T + bias`` for ``input`` (..., in), ``weight`` (out, in) and ``bias`` (out,)."""


@linear.backward
def _(grad, input, weight, needs):
    g = op.linear_gradients(grad, input, weight, needs)
    return {"input": g[0], "weight": g[1], "bias": g[2]}


linear.samples([
    S(f(2, 3), f(4, 3)), S(f(2, 3), f(4, 3), f(4)), S(f(3), f(4, 3), f(4)), S(f(2, 5, 3), f(4, 3), f(4)),
    S(f(2, 3), f(4, 5)),
])  # fmt: skip


@composite(
    "linear_gradients(Tensor grad, Tensor input, Tensor weight, bool[3] needs) -> (Tensor, Tensor, Tensor)",
    files="linalg",
    unbound=True,
)
def linear_gradients(grad, input, weight, needs):
    """The gradients of ``linear`` for input, weight and bias, where ``needs`` asks for them."""


@composite(
    "matmul(Tensor self, Tensor other) -> Tensor",
    variants="function method out",
    files="linalg",
    autocast="lower",
    out="same",
)
def matmul(self, other):
    """The matrix product with broadcasting: a vector is a row on the left and a column on the right, and leading
    dimensions are batches."""


matmul.samples([
    S(f(3), f(3)), S(f(2, 3), f(3)), S(f(3), f(3, 4)), S(f(2, 3), f(3, 4)), S(f(5, 2, 3), f(3, 4)),
    S(f(5, 1, 2, 3), f(6, 3, 4)), S(f(2, 3), f(4, 5)), S(f(), f(3)),
])  # fmt: skip


@composite(
    "linalg_matmul(Tensor self, Tensor other) -> Tensor",
    variants="function out",
    module="linalg",
    out="same",
    samples="matmul",
)
def linalg_matmul(self, other):
    """``matmul`` under its other name."""
    return op.matmul(self, other)


# --- vectors


@kernel(
    "dot(Tensor self, Tensor tensor) -> Tensor",
    variants="function method out",
    shape="dot",
    files="linalg",
    out="same",
    batch="dot",
    samples=[S(f(3), f(3)), S(f(0), f(0)), S(f(3), f(4)), S(f(2, 2), f(2))],
)
def dot(self, tensor):
    """The sum of the products of two vectors' elements, without conjugation."""


@dot.backward
def _(grad, self, tensor):
    return {"self": grad * tensor.conj(), "tensor": grad * self.conj()}


@composite(
    "vdot(Tensor self, Tensor other) -> Tensor",
    variants="function method out",
    files="linalg",
    out="same",
    samples="dot",
)
def vdot(self, other):
    """``dot`` with the first vector conjugated."""


@kernel(
    "mv(Tensor self, Tensor vec) -> Tensor",
    variants="function method out",
    shape="mv",
    files="linalg",
    out="same",
    batch="mv",
    samples=[S(f(2, 3), f(3)), S(f(2, 3), f(2))],
)
def mv(self, vec):
    """The product of a matrix (n, k) and a vector (k,)."""


@mv.backward
def _(grad, self, vec):
    return {"self": op.outer(grad, vec.conj()), "vec": op.mv(op.adjoint(self), grad)}


@kernel(
    "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    shape="addmv",
    files="linalg",
    out="same",
    batch="addmv",
    samples=[S(f(2), f(2, 3), f(3)), S(f(2), f(2, 3), f(3), beta=0.5, alpha=2)],
)
def addmv(self, mat, vec, beta, alpha):
    """``beta * self + alpha * (mat @ vec)``."""


@addmv.backward
def _(grad, mat, vec, beta, alpha):
    g = grad * alpha.conj()
    return {"self": grad * beta.conj(), "mat": op.outer(g, vec.conj()), "vec": op.mv(op.adjoint(mat), g)}


@composite(
    "outer(Tensor self, Tensor vec2) -> Tensor",
    variants="function method out",
    files="linalg",
    samples=[S(f(2), f(3)), S(f(0), f(3)), S(f(2, 2), f(3))],
)
def outer(self, vec2):
    """All products of an element of ``self`` (n,) and one of ``vec2`` (m,), as an (n, m) matrix."""


@composite("ger(Tensor self, Tensor vec2) -> Tensor", variants="function method out", samples="outer")
def ger(self, vec2):
    """``outer`` under its other name."""
    return op.outer(self, vec2)


@composite(
    "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    files="linalg",
    samples=[S(f(2, 3), f(2), f(3)), S(f(2, 3), f(2), f(3), beta=0.5)],
)
def addr(self, vec1, vec2, beta, alpha):
    """``beta * self + alpha * outer(vec1, vec2)``; with ``beta`` 0, NaNs in ``self`` do not count."""


@composite(
    "inner(Tensor self, Tensor other) -> Tensor",
    variants="function method out",
    files="linalg",
    samples=[S(f(2, 3), f(4, 3)), S(f(3), f(3)), S(f(), f(3))],
)
def inner(self, other):
    """The products summed over the last dimension of both: (*self.shape[:-1], *other.shape[:-1])."""


@composite(
    "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    variants="function out",
    module="linalg",
    files="linalg",
    autocast="lower",
    out="same",
    samples=[S(f(2, 3), f(2, 3)), S(f(2, 3), f(2, 3), dim=0)],
)
def linalg_vecdot(x, y, dim):
    """The sums over ``dim`` of ``x.conj() * y``, broadcast."""


@composite(
    "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    variants="function method out",
    files="linalg",
    out="same",
    samples=[S(f(2, 3), f(2, 3)), S(f(3), f(3)), S(f(2, 4), f(2, 4))],
)
def cross(self, other, dim):
    """The cross product over ``dim``, by default the first one of size 3."""


@composite(
    "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    variants="function out",
    module="linalg",
    files="linalg",
    out="same",
    samples="cross",
)
def linalg_cross(self, other, dim):
    """The cross product over ``dim`` (of size 3), with the others broadcast."""


# --- products of several


@composite(
    "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    files="linalg",
    autocast="lower",
    out="same",
    samples=[S(f(3, 5), f(2, 3, 4), f(2, 4, 5)), S(f(3, 5), f(2, 3, 4), f(2, 4, 5), beta=0.5, alpha=2)],
)
def addbmm(self, batch1, batch2, beta, alpha):
    """``beta * self`` plus ``alpha`` times the sum of the products of (b, n, k) and (b, k, m)."""


@composite(
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    variants="function",
    files="linalg",
    autocast="promote",
    samples=[S(f(2, 3), f(2, 4), f(5, 3, 4)), S(f(2, 3), f(2, 4), f(5, 3, 4), f(5))],
)
def bilinear(input1, input2, weight, bias):
    """``x1^T A x2 + b`` for (..., in1), (..., in2), ``weight`` (out, in1, in2) and ``bias`` (out,)."""


@composite(
    "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
    variants="function out",
    files="einsum",
    out="same",
    samples=[S(f(2, 3, 4), f(4, 3, 5), [1, 2], [1, 0]), S(f(2, 3), f(3, 4), [1], [0]), S(f(2, 3), f(4, 4), [1], [0])],
)
def tensordot(self, other, dims_self, dims_other):
    """The products summed over pairs of dimensions; the others follow each other, those of ``self`` first."""


@composite("einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", variants="function", files="einsum")
def einsum(equation, tensors, path):
    """Products of tensors whose dimensions have letters, summed over the letters that the result lacks.

    ``path`` lists the pairs of operands to contract, in order; without it, the pair with the smallest result goes
    first.
    """


einsum.samples([
    S("ij,jk->ik", [f(2, 3), f(3, 4)]), S("bij,bjk", [f(2, 2, 3), f(2, 3, 4)]), S("ii->i", [f(3, 3)]),
    S("...i,i", [f(2, 3), f(3)]), S("i,j,k->kji", [f(2), f(3), f(4)]), S("ij,kj->", [f(2, 3), f(2, 3)]),
    S("ij,jk", [f(2, 3), f(4, 4)]),
])  # fmt: skip


@composite(
    "kron(Tensor self, Tensor other) -> Tensor",
    variants="function method out",
    files="linalg",
    samples=[S(f(2, 3), f(3, 2)), S(f(2), f(2, 2))],
)
def kron(self, other):
    """The Kronecker product: every element of ``self`` times the whole of ``other``, as blocks."""


@composite(
    "linalg_multi_dot(Tensor[] tensors) -> Tensor",
    variants="function out",
    module="linalg",
    files="matrix",
    out="same",
    samples=[S([f(2, 3), f(3, 4), f(4, 2)]), S([f(2, 3), f(3, 4)])],
)
def linalg_multi_dot(tensors):
    """The product of two or more matrices in the cheapest order; the first and last may be vectors."""


@composite(
    "chain_matmul(Tensor[] matrices) -> Tensor",
    variants="function out",
    files="matrix",
    out="same",
    samples="linalg_multi_dot",
)
def chain_matmul(matrices):
    """The product of one or more matrices in the cheapest order."""


@composite("matrix_power(Tensor self, int n) -> Tensor", variants="function method out", out="same")
def matrix_power(self, n):
    """``linalg_matrix_power`` under its other name."""
    return op.linalg_matrix_power(self, n)


matrix_power.samples([S(f(3, 3, of="invertible"), n) for n in (0, 1, 3, -2)] + [S(f(2, 3), 2)])


@composite(
    "linalg_matrix_power(Tensor self, int n) -> Tensor",
    variants="function out",
    module="linalg",
    files="matrix",
    samples="matrix_power",
)
def linalg_matrix_power(self, n):
    """Square matrices multiplied ``n`` times by themselves; a negative ``n`` takes the inverse."""


@composite(
    "trace(Tensor self) -> Tensor",
    variants="function method out",
    files="matrix",
    autocast="fp32",
    out="same",
    samples=[S(f(3, 4)), S(f(3))],
)
def trace(self):
    """The sum of the diagonal of a matrix."""


@composite(
    "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
    module="linalg",
    files="matrix",
    samples=[S(f(3, 4)), S(f(2, 3, 4), offset=1)],
)
def linalg_diagonal(A, offset, dim1, dim2):
    """A view of the diagonals over two dimensions, by default the last."""


# --- norms


@composite(
    "frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    variants="function out",
    files="matrix",
    out="same",
    samples=[S(f(2, 3), [0, 1]), S(f(2, 3), [1])],
)
def frobenius_norm(self, dim, keepdim):
    """The root of the sum of the squared sizes over one or two dimensions, or over all where ``dim`` is empty."""


@composite(
    "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> "
    "Tensor",
    variants="function out",
    module="linalg",
    files="matrix",
    out="same",
    samples=[S(f(3, 4), 2), S(f(3, 4), -2), S(f(3, 4), 1), S(f(3, 4), -1), S(f(3, 4), float("inf"))],
)
def linalg_matrix_norm(self, ord, dim, keepdim, dtype):
    """The largest (``ord`` 1, inf, 2) or smallest (-1, -inf, -2) column sum, row sum or singular value of matrices."""


@composite(
    "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? "
    "dtype=None) "
    "-> Tensor",
    variants="function out",
    module="linalg",
    files="matrix",
    out="same",
    samples=[S(f(3, 4)), S(f(3, 4), "nuc")],
)
def linalg_matrix_norm(self, ord, dim, keepdim, dtype):
    """The Frobenius norm ('fro') or the sum of the singular values ('nuc') of matrices."""


@composite(
    "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
    "Tensor",
    variants="function out",
    module="linalg",
    files="matrix",
    out="same",
    samples=[S(f(3, 4)), S(f(3, 4), 2), S(f(3), 3), S(f(3, 4), None, [1])],
)
def linalg_norm(self, ord, dim, keepdim, dtype):
    """A norm of vectors (one ``dim``, or a flat view without ``ord``) or of matrices (two)."""


@composite(
    "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
    "Tensor",
    variants="function out",
    module="linalg",
    files="matrix",
    out="same",
    samples=[S(f(3, 4), "fro"), S(f(3, 4), "nuc")],
)
def linalg_norm(self, ord, dim, keepdim, dtype):
    """The matrix norm 'fro' or 'nuc'."""


@composite(
    "nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
    variants="function out",
    files="matrix",
    out="same",
    samples="geqrf",
)
def nuclear_norm(self, keepdim):
    """The sum of the singular values of a matrix."""


@composite(
    "nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
    variants="function out",
    files="matrix",
    out="same",
    samples=[S(f(3, 4), [0, 1])],
)
def nuclear_norm(self, dim, keepdim):
    """The sum of the singular values of the matrices over two dimensions."""
