"""Products of matrices."""

import math

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
    old_factor="beta",
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


assert addmm.derivative is not None
_sparse_addmm.backward(addmm.derivative)


@kernel(
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    shape="baddbmm",
    files="linalg",
    autocast="lower",
    old_factor="beta",
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
    out="same",
    samples="dot",
)
def vdot(self, other):
    """``dot`` with the first vector conjugated."""
    return op.dot(self.conj(), other)


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
    variants="function method inplace out inplace_function",
    shape="addmv",
    files="linalg",
    old_factor="beta",
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
    samples=[S(f(2), f(3)), S(f(0), f(3)), S(f(2, 2), f(3))],
)
def outer(self, vec2):
    """All products of an element of ``self`` (n,) and one of ``vec2`` (m,), as an (n, m) matrix."""
    check(
        self.dim() == 1 and vec2.dim() == 1,
        f"self and vec2 must be vectors; got shapes {self.shape} and {vec2.shape}",
    )
    return self.unsqueeze(1) * vec2


@composite("ger(Tensor self, Tensor vec2) -> Tensor", variants="function method out", samples="outer")
def ger(self, vec2):
    """``outer`` under its other name."""
    return op.outer(self, vec2)


@composite(
    "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    old_factor="beta",
    files="linalg",
    samples=[S(f(2, 3), f(2), f(3)), S(f(2, 3), f(2), f(3), beta=0.5)],
)
def addr(self, vec1, vec2, beta, alpha):
    """``beta * self + alpha * outer(vec1, vec2)``; with ``beta`` 0, NaNs in ``self`` do not count."""


@composite(
    "inner(Tensor self, Tensor other) -> Tensor",
    variants="function method out",
    samples=[S(f(2, 3), f(4, 3)), S(f(3), f(3)), S(f(), f(3))],
)
def inner(self, other):
    """The products summed over the last dimension of both: (*self.shape[:-1], *other.shape[:-1])."""
    if self.dim() == 0 or other.dim() == 0:
        return self * other
    check(
        self.size(-1) == other.size(-1),
        f"the last sizes of self and other must agree; got shapes {self.shape} and {other.shape}",
    )
    return op.tensordot(self, other, [-1], [-1])


@composite(
    "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    variants="function out",
    module="linalg",
    autocast="lower",
    out="same",
    samples=[S(f(2, 3), f(2, 3)), S(f(2, 3), f(2, 3), dim=0)],
)
def linalg_vecdot(x, y, dim):
    """The sums over ``dim`` of ``x.conj() * y``, broadcast."""
    check(
        is_differentiable(x.dtype) and is_differentiable(y.dtype),
        f"is for floating-point and complex tensors; got {x.dtype} and {y.dtype}",
    )
    return (x.conj() * y).sum([dim])


@composite(
    "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    variants="function method out",
    out="same",
    samples=[S(f(2, 3), f(2, 3)), S(f(3), f(3)), S(f(2, 4), f(2, 4))],
)
def cross(self, other, dim):
    """The cross product over ``dim``, by default the first one of size 3."""
    if dim is not None:
        return op.linalg_cross(self, other, dim=dim)
    warn("taeda.cross without dim takes the first dimension of size 3; say dim, or use taeda.linalg.cross")
    for d in range(self.dim()):
        if self.size(d) == 3:
            return op.linalg_cross(self, other, dim=d)
    raise RuntimeError(f"no dimension of self has size 3; got shape {self.shape}")


@composite(
    "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    variants="function out",
    module="linalg",
    out="same",
    samples="cross",
)
def linalg_cross(self, other, dim):
    """The cross product over ``dim`` (of size 3), with the others broadcast."""
    check(
        self.dim() == other.dim(),
        f"self and other must have as many dimensions; got shapes {self.shape} and {other.shape}",
    )
    check(
        self.size(dim) == 3 and other.size(dim) == 3,
        f"dimension {dim} of self and other must have size 3; got shapes {self.shape} and {other.shape}",
    )
    a0, a1, a2 = self.select(dim, 0), self.select(dim, 1), self.select(dim, 2)
    b0, b1, b2 = other.select(dim, 0), other.select(dim, 1), other.select(dim, 2)
    return op.stack(
        [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0],
        wrap_dim(dim, self.dim()),
    )


# --- products of several


@composite(
    "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    autocast="lower",
    out="same",
    old_factor="beta",
    samples=[S(f(3, 5), f(2, 3, 4), f(2, 4, 5)), S(f(3, 5), f(2, 3, 4), f(2, 4, 5), beta=0.5, alpha=2)],
)
def addbmm(self, batch1, batch2, beta, alpha):
    """``beta * self`` plus ``alpha`` times the sum of the products of (b, n, k) and (b, k, m)."""
    check(
        batch1.dim() == 3
        and batch2.dim() == 3
        and batch1.size(0) == batch2.size(0)
        and batch1.size(2) == batch2.size(1),
        f"batch1 and batch2 must have shapes (b, n, k) and (b, k, m); got {batch1.shape} and {batch2.shape}",
    )
    # The sum over the batch is one more dimension to contract.
    depth = batch1.size(0) * batch1.size(2)
    left, right = (
        batch1.transpose(0, 1).reshape([batch1.size(1), depth]),
        batch2.reshape([depth, batch2.size(2)]),
    )
    if is_integral(self.dtype):  # as for baddbmm
        return op.addmm(self, left, right, beta=int(beta), alpha=int(alpha))
    return op.addmm(self, left, right, beta=beta, alpha=alpha)


@composite(
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    variants="function",
    autocast="promote",
    samples=[S(f(2, 3), f(2, 4), f(5, 3, 4)), S(f(2, 3), f(2, 4), f(5, 3, 4), f(5))],
)
def bilinear(input1, input2, weight, bias):
    """``x1^T A x2 + b`` for (..., in1), (..., in2), ``weight`` (out, in1, in2) and ``bias`` (out,)."""
    check(
        weight.dim() == 3
        and input1.dim() >= 1
        and input1.dim() == input2.dim()
        and input1.size(-1) == weight.size(1)
        and input2.size(-1) == weight.size(2)
        and input1.shape[:-1] == input2.shape[:-1],
        f"needs inputs (..., in1) and (..., in2) and weight (out, in1, in2); got shapes {input1.shape}, {input2.shape} "
        f"and {weight.shape}",
    )
    features, in1, in2 = weight.size(0), weight.size(1), weight.size(2)
    rows = math.prod(input1.shape[:-1])
    x1, x2 = input1.reshape([rows, in1]), input2.reshape([rows, in2])
    # (N, in1) @ (in1, out * in2), then each row's (out, in2) matrix with its second input.
    mixed = x1.mm(weight.transpose(0, 1).reshape([in1, features * in2]))
    result = mixed.reshape([rows, features, in2]).bmm(x2.unsqueeze(2)).reshape([*input1.shape[:-1], features])
    return result + bias if bias is not None else result


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
    samples=[S(f(2, 3), f(3, 2)), S(f(2), f(2, 2))],
)
def kron(self, other):
    """The Kronecker product: every element of ``self`` times the whole of ``other``, as blocks."""
    rank = max(self.dim(), other.dim())
    left: list[int] = []
    right: list[int] = []
    sizes: list[int] = []
    for d in range(-rank, 0):  # a dimension of the result is (self's, other's)
        a = self.size(d) if -d <= self.dim() else 1
        b = other.size(d) if -d <= other.dim() else 1
        left.append(a)
        left.append(1)
        right.append(1)
        right.append(b)
        sizes.append(a * b)
    return (self.reshape(left) * other.reshape(right)).reshape(sizes)


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


def _check_square(tensor):
    """Wants square matrices."""
    check(
        tensor.dim() >= 2 and tensor.size(-1) == tensor.size(-2),
        f"needs square matrices in the last two dimensions; got shape {tensor.shape}",
    )


@composite(
    "linalg_matrix_power(Tensor self, int n) -> Tensor",
    variants="function out",
    module="linalg",
    samples="matrix_power",
)
def linalg_matrix_power(self, n):
    """Square matrices multiplied ``n`` times by themselves; a negative ``n`` takes the inverse."""
    _check_square(self)
    check(n >= -9223372036854775807, f"takes the inverse at most 2**63 - 1 times; got n = {n}")
    if n == 0:  # which records, so that it has a gradient: zeros
        result = self.clone(memory_format=contiguous_format)
        result.copy_(op.eye(self.size(-1), dtype=self.dtype, device=self.device))
        return result
    square = op.linalg_inv(self) if n < 0 else self
    power: Tensor | None = None
    rest = -n if n < 0 else n
    while rest > 1:
        if rest % 2 == 1:
            power = power.matmul(square) if power is not None else square
        rest = rest // 2
        square = square.matmul(square)
    if power is not None:
        return power.matmul(square)
    return self.clone(memory_format=contiguous_format) if square is self else square


@composite(
    "trace(Tensor self) -> Tensor",
    variants="function method out",
    autocast="fp32",
    out="same",
    samples=[S(f(3, 4)), S(f(3))],
)
def trace(self):
    """The sum of the diagonal of a matrix."""
    check(self.dim() == 2, f"needs a matrix; got shape {self.shape}")
    return self.diagonal().sum()


@composite(
    "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
    module="linalg",
    samples=[S(f(3, 4)), S(f(2, 3, 4), offset=1)],
)
def linalg_diagonal(A, offset, dim1, dim2):
    """A view of the diagonals over two dimensions, by default the last."""
    return A.diagonal(offset, dim1, dim2)


# --- norms


@composite(
    "frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    variants="function out",
    out="same",
    samples=[S(f(2, 3), [0, 1]), S(f(2, 3), [1])],
    out_overload="out",
)
def frobenius_norm(self, dim, keepdim):
    """The root of the sum of the squared sizes over one or two dimensions, or over all where ``dim`` is empty."""
    check(len(dim) <= 2, f"takes at most two dimensions; got {dim}")
    if len(dim) == 0:
        return op.linalg_vector_norm(self, 2, None, keepdim)
    return op.linalg_vector_norm(self, 2, dim, keepdim)


def _check_matrix_dims(self, dim):
    """Wants two dimensions of matrices."""
    check(self.dim() >= 2, f"needs matrices; got shape {self.shape}")
    check(
        len(dim) == 2 and wrap_dim(dim[0], self.dim()) != wrap_dim(dim[1], self.dim()),
        f"dim must name two dimensions; got {dim}",
    )
    check(
        is_differentiable(self.dtype),
        f"is for floating-point and complex tensors; got {self.dtype}",
    )


def _extreme(sizes, dim, largest, keepdim):
    """The largest or smallest along a dimension; the largest of nothing is 0, as sizes are."""
    if largest and sizes.size(dim) == 0:
        return sizes.sum([dim], keepdim)
    return sizes.amax([dim], keepdim) if largest else sizes.amin([dim], keepdim)


def _extreme_sum(self, summed, other, largest, keepdim):
    """The largest or smallest sum of sizes along the dimension ``summed``."""
    first, second = wrap_dim(summed, self.dim()), wrap_dim(other, self.dim())
    sums = abs(self).sum([first], keepdim)
    return _extreme(sums, second - 1 if not keepdim and second > first else second, largest, keepdim)


def _singular_values(self, dim):
    """Of the matrices in two dimensions."""
    return op.linalg_svdvals(self.movedim(dim, [-2, -1]))


def _kept(result, rank, dim, keepdim):
    """What was reduced to a value per matrix, with the two dimensions back as size 1 if they are kept."""
    if not keepdim:
        return result
    first, second = wrap_dim(dim[0], rank), wrap_dim(dim[1], rank)
    return result.unsqueeze(min(first, second)).unsqueeze(max(first, second))


def _of_dtype(self, dtype: "ScalarType | None"):
    """Converted, if a dtype is given."""
    return op._to_copy(self, dtype=dtype) if dtype is not None and dtype != self.dtype else self


@composite(
    "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> "
    "Tensor",
    variants="function out",
    module="linalg",
    out="same",
    samples=[S(f(3, 4), 2), S(f(3, 4), -2), S(f(3, 4), 1), S(f(3, 4), -1), S(f(3, 4), float("inf"))],
)
def linalg_matrix_norm(self, ord, dim, keepdim, dtype):
    """The largest (``ord`` 1, inf, 2) or smallest (-1, -inf, -2) column sum, row sum or singular value of matrices."""
    _check_matrix_dims(self, dim)
    check(not natural_dtype(ord).is_complex, f"ord must be a real number; got {ord}")
    given = _of_dtype(self, dtype)
    order = float(ord)
    size = abs(order)
    check(
        size == 1 or size == 2 or math.isinf(size),
        f"ord must be 1, -1, 2, -2, inf or -inf for matrices; got {ord}",
    )
    if size == 1:
        return _extreme_sum(given, dim[0], dim[1], order > 0, keepdim)
    if math.isinf(size):
        return _extreme_sum(given, dim[1], dim[0], order > 0, keepdim)
    return _kept(
        _extreme(_singular_values(given, dim), -1, order > 0, False),
        self.dim(),
        dim,
        keepdim,
    )


@composite(
    "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? "
    "dtype=None) "
    "-> Tensor",
    variants="function out",
    module="linalg",
    out="same",
    samples=[S(f(3, 4)), S(f(3, 4), "nuc")],
)
def linalg_matrix_norm(self, ord, dim, keepdim, dtype):
    """The Frobenius norm ('fro') or the sum of the singular values ('nuc') of matrices."""
    check(ord in ("fro", "nuc"), f"ord must be 'fro', 'nuc' or a number; got {ord!r}")
    _check_matrix_dims(self, dim)
    if ord == "fro":
        return op.linalg_vector_norm(self, 2, dim, keepdim, dtype=dtype)
    return _kept(
        _singular_values(_of_dtype(self, dtype), dim).sum([-1]),
        self.dim(),
        dim,
        keepdim,
    )


@composite(
    "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
    "Tensor",
    variants="function out",
    module="linalg",
    out="same",
    samples=[S(f(3, 4)), S(f(3, 4), 2), S(f(3), 3), S(f(3, 4), None, [1])],
)
def linalg_norm(self, ord, dim, keepdim, dtype):
    """A norm of vectors (one ``dim``, or a flat view without ``ord``) or of matrices (two)."""
    if ord is None:
        return op.linalg_vector_norm(self, 2, dim, keepdim, dtype=dtype)
    check(
        dim is not None or self.dim() == 1 or self.dim() == 2,
        f"without dim, self must have 1 or 2 dimensions; got shape {self.shape}",
    )
    count = len(dim) if dim is not None else self.dim()
    check(count == 1 or count == 2, f"dim must name one or two dimensions; got {count}")
    if count == 1:
        return op.linalg_vector_norm(self, ord, dim, keepdim, dtype=dtype)
    if dim is None:
        return op.linalg_matrix_norm(self, ord, [0, 1], keepdim, dtype=dtype)
    return op.linalg_matrix_norm(self, ord, dim, keepdim, dtype=dtype)


@composite(
    "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
    "Tensor",
    variants="function out",
    module="linalg",
    out="same",
    samples=[S(f(3, 4), "fro"), S(f(3, 4), "nuc")],
)
def linalg_norm(self, ord, dim, keepdim, dtype):
    """The matrix norm 'fro' or 'nuc'."""
    check(
        len(dim) == 2 if dim is not None else self.dim() == 2,
        f"ord {ord!r} is for matrices: self must have 2 dimensions or dim name two; got shape {self.shape}",
    )
    if dim is None:
        return op.linalg_matrix_norm(self, ord, [0, 1], keepdim, dtype=dtype)
    return op.linalg_matrix_norm(self, ord, dim, keepdim, dtype=dtype)


@composite(
    "nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
    variants="function out",
    out="same",
    samples="geqrf",
)
def nuclear_norm(self, keepdim):
    """The sum of the singular values of a matrix."""
    return op.nuclear_norm(self, [-2, -1], keepdim)


@composite(
    "nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
    variants="function out",
    out="same",
    samples=[S(f(3, 4), [0, 1])],
)
def nuclear_norm(self, dim, keepdim):
    """The sum of the singular values of the matrices over two dimensions."""
    return op.linalg_matrix_norm(self, "nuc", dim, keepdim)
