"""Factorisations of matrices and what follows from them. Leading dimensions are batches everywhere."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v

# --- LU


@kernel(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor "
    "info)",
    variants="function out",
    module="linalg",
    shape="lu_factor",
    files="lapack",
    nondiff="pivots info",
    batch="matrices",
    samples=[S(f(3, 3, of="invertible")), S(f(2, 4, 4, of="invertible")), S(f(3))],
)
def linalg_lu_factor_ex(A, pivot, check_errors):
    """The factors of ``P @ A`` in one matrix, the row exchanges (counted from 1) and where a pivot was zero."""


@linalg_lu_factor_ex.backward
def _(grads, LU, pivots):
    return {"A": op.lu_factor_backward(grads[0], LU, pivots)}


@composite("lu_factor_backward(Tensor grad, Tensor LU, Tensor pivots) -> Tensor", files="decompositions", unbound=True)
def lu_factor_backward(grad, LU, pivots):
    """The gradient of a square LU factorisation."""


@composite("linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", variants="function out",
           module="linalg", files="decompositions", samples="linalg_lu_factor_ex")  # fmt: skip
def linalg_lu_factor(A, pivot):
    """The factors of ``P @ A`` in one matrix, and the row exchanges, counted from 1."""


@composite(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor "
    "L, Tensor U)",
    variants="function out",
    files="decompositions",
    samples=[S(f(3, 3), v([2, 2, 3], "int32"))],
)
def lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots):
    """The matrices P, L and U of a factorisation: ``P @ L @ U`` is what was factored."""


@kernel("pivots_to_permutation(Tensor pivots, SymInt rows) -> Tensor", shape="permutation", files="lapack",
        unbound=True, not_differentiable=True, batch="natural")  # fmt: skip
def pivots_to_permutation(pivots, rows):
    """Which row of the matrix stands in each row after the exchanges."""


@composite("linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", variants="function out",
           module="linalg", files="decompositions", samples="linalg_lu_factor_ex")  # fmt: skip
def linalg_lu(A, pivot):
    """``A = P @ L @ U`` with a permutation, a unit lower and an upper triangular matrix."""


@composite("linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
           variants="function out", module="linalg", files="decompositions",
           samples=[S(f(3, 3, of="invertible"), v([2, 2, 3], "int32"), f(3, 2))])  # fmt: skip
def linalg_lu_solve(LU, pivots, B, left, adjoint):
    """The solution of ``A @ X = B`` (``X @ A = B`` unless ``left``) from the factors of A."""


@composite("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", variants="function method out",
           files="decompositions", autocast="fp32",
           samples=[S(f(3, 2), f(3, 3, of="invertible"), v([2, 2, 3], "int32"))])  # fmt: skip
def lu_solve(self, LU_data, LU_pivots):
    """``linalg_lu_solve`` with its arguments in another order; deprecated."""


# --- inverse and solutions


@kernel("linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", variants="function out",
        out_overload="inverse", module="linalg", shape="inv", files="lapack", nondiff="info", autocast="fp32",
        batch="matrices", samples="linalg_lu_factor_ex")  # fmt: skip
def linalg_inv_ex(A, check_errors):
    """The inverse of square matrices, and 0 or the index of the zero pivot of those that have none."""


@linalg_inv_ex.backward
def _(grads, inverse):
    return {"A": -op.matmul(op.adjoint(inverse), op.matmul(grads[0], op.adjoint(inverse)))}


@composite("linalg_inv(Tensor A) -> Tensor", variants="function out", module="linalg", files="decompositions",
           autocast="fp32", out="same", samples="linalg_lu_factor_ex")  # fmt: skip
def linalg_inv(A):
    """The inverse of square matrices; LinAlgError for a singular one."""


@composite("inverse(Tensor self) -> Tensor", variants="function method out", autocast="fp32", out="same",
           samples="linalg_lu_factor_ex")  # fmt: skip
def inverse(self):
    """``linalg_inv`` under its other name."""
    return op.linalg_inv(self)


@kernel(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
    variants="function out",
    module="linalg",
    shape="solve",
    files="lapack",
    nondiff="info",
    batch="solve",
    samples=[S(f(3, 3, of="invertible"), f(3, 2))],
)
def linalg_solve_ex(A, B, left, check_errors):
    """The solution of ``A @ X = B`` (``X @ A = B`` unless ``left``), and 0 or the index of a zero pivot."""


@linalg_solve_ex.backward
def _(grads, A, B, left, result):
    g = op.linalg_solve_backward(grads[0], A, B, result, left)
    return {"A": g[0], "B": g[1]}


@composite(
    "linalg_solve_backward(Tensor grad, Tensor A, Tensor B, Tensor X, bool left) -> (Tensor, Tensor)",
    files="decompositions",
    unbound=True,
)
def linalg_solve_backward(grad, A, B, X, left):
    """The gradients for both sides of a system."""


@composite(
    "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    variants="function out",
    module="linalg",
    files="decompositions",
    autocast="fp32",
    out="same",
    samples=[S(f(3, 3, of="invertible"), f(3, 2)), S(f(3, 3, of="invertible"), f(3)), S(f(3, 3), f(2, 2))],
)
def linalg_solve(A, B, left):
    """The solution of ``A @ X = B`` (``X @ A = B`` unless ``left``); LinAlgError for a singular A."""


@kernel(
    "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    variants="function out",
    module="linalg",
    shape="solve_triangular",
    files="lapack",
    out="same",
    batch="broadcast",
)
def linalg_solve_triangular(self, B, upper, left, unitriangular):
    """The solution of ``A @ X = B`` (``X @ A = B`` unless ``left``) for a triangular A, whose other half is not
    read."""


@linalg_solve_triangular.backward
def _(grad, self, upper, left, unitriangular, result):
    g = op.solve_triangular_backward(grad, self, result, upper, left, unitriangular)
    return {"self": g[0], "B": g[1]}


linalg_solve_triangular.samples([
    S(f(3, 3, of="triangular"), f(3, 2), upper=False),
    S(f(3, 3, of="triangular"), f(2, 3), upper=False, left=False),
])  # fmt: skip


@composite(
    "solve_triangular_backward(Tensor grad, Tensor A, Tensor X, bool upper, bool left, bool unitriangular) -> "
    "(Tensor, Tensor)",
    files="decompositions",
    unbound=True,
)
def solve_triangular_backward(grad, A, X, upper, left, unitriangular):
    """The gradients for both sides of a triangular system."""


@composite(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> "
    "(Tensor solution, Tensor cloned_coefficient)",
    variants="function method out",
    out_overload="X",
    files="decompositions",
    autocast="fp32",
    samples=[S(f(3, 2), f(3, 3, of="triangular"), False)],
    outs="X M",
)
def triangular_solve(self, A, upper, transpose, unitriangular):
    """The solution of ``A @ X = self`` for a triangular A (or its transpose), and a copy of A."""


# --- Cholesky


@kernel("linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
        variants="function out", out_overload="L", module="linalg", shape="cholesky", files="lapack", nondiff="info",
        autocast="fp32", batch="matrices",
        samples=[S(f(3, 3, of="positive definite")), S(f(2, 3, 3, of="positive definite")), S(f(2, 3))])  # fmt: skip
def linalg_cholesky_ex(self, upper, check_errors):
    """The triangular factor of positive-definite matrices, and 0 or the order of the minor that is not positive."""


@linalg_cholesky_ex.backward
def _(grads, upper, L):
    return {"self": op.cholesky_backward(grads[0], L, upper)}


@composite("cholesky_backward(Tensor grad, Tensor L, bool upper) -> Tensor", files="decompositions", unbound=True)
def cholesky_backward(grad, L, upper):
    """The gradient of a Cholesky factorisation, Hermitian."""


@composite("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", variants="function out", module="linalg",
           files="decompositions", autocast="fp32", out="same", samples="linalg_cholesky_ex")  # fmt: skip
def linalg_cholesky(self, upper):
    """The lower factor L of ``A = L @ L^H`` (or the upper one of ``U^H @ U``); LinAlgError where A is not positive
    definite."""


@composite("cholesky(Tensor self, bool upper=False) -> Tensor", variants="function method out", files="decompositions",
           autocast="fp32", samples="linalg_cholesky_ex")  # fmt: skip
def cholesky(self, upper):
    """``linalg_cholesky`` under its old name; deprecated."""


@composite("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", variants="function method out",
           files="decompositions", explicit=True, autocast="fp32", batch="broadcast",
           samples=[S(f(3, 2), f(3, 3, of="triangular"))])  # fmt: skip
def cholesky_solve(self, input2, upper):
    """The solution of ``A @ X = self`` from the Cholesky factor ``input2`` of A."""


@cholesky_solve.backward
def _(grad, input2, upper, result):
    g = op.cholesky_solve(grad, input2, upper)
    return {"self": g, "input2": op.cholesky_factor_backward(g, result, input2, upper)}


@composite("cholesky_inverse(Tensor self, bool upper=False) -> Tensor", variants="function method out",
           files="decompositions", explicit=True, autocast="fp32", batch="matrices",
           samples=[S(f(3, 3, of="triangular")), S(f(2, 3, 3, of="triangular")), S(f(2, 3))])  # fmt: skip
def cholesky_inverse(self, upper):
    """The inverse of A from its Cholesky factor."""


@cholesky_inverse.backward
def _(grad, self, upper, result):
    return {"self": op.cholesky_factor_backward(op.cholesky_solve(grad, self, upper), result, self, upper)}


@composite("cholesky_factor_backward(Tensor grad, Tensor X, Tensor factor, bool upper) -> Tensor",
           files="decompositions", unbound=True)  # fmt: skip
def cholesky_factor_backward(grad, X, factor, upper):
    """The gradient for a Cholesky factor of A from the gradient ``grad`` for B in ``A @ X = B``: of all elements, as if
    the factor were no triangle."""


# --- QR


@kernel("linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", variants="function out", module="linalg",
        shape="qr", files="lapack", autocast="fp32", out="same", batch="matrices", samples="geqrf")  # fmt: skip
def linalg_qr(A, mode):
    """``A = Q @ R`` with orthonormal columns and an upper triangle; ``mode`` is reduced, complete, or r (an empty
    Q)."""


@linalg_qr.backward
def _(grads, mode, Q, R):
    return {"A": op.qr_backward(grads[0], grads[1], Q, R, mode)}


@composite(
    "qr_backward(Tensor grad_q, Tensor grad_r, Tensor Q, Tensor R, str mode) -> Tensor",
    files="decompositions",
    unbound=True,
)
def qr_backward(grad_q, grad_r, Q, R, mode):
    """The gradient of a QR factorisation."""


@composite("qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", variants="function method out", out_overload="Q",
           files="decompositions", autocast="fp32", samples="geqrf")  # fmt: skip
def qr(self, some):
    """``linalg_qr``, reduced where ``some``, else complete."""


# --- singular values


@kernel(
    "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor "
    "S, Tensor Vh)",
    variants="function",
    unbound=True,
    shape="svd",
    files="lapack",
    batch="matrices",
)
def _linalg_svd(A, full_matrices, compute_uv, driver):
    """``A = U @ diag(S) @ Vh``; U and Vh are empty unless ``compute_uv``."""


@_linalg_svd.backward
def _(grads, A, full_matrices, compute_uv, U, S, Vh):
    return {"A": op.svd_backward(grads[0], grads[1], grads[2], A, U, S, Vh, full_matrices, compute_uv)}


@composite(
    "svd_backward(Tensor grad_u, Tensor grad_s, Tensor grad_vh, Tensor A, Tensor U, Tensor S, Tensor Vh, bool "
    "full_matrices, "
    "bool compute_uv) -> Tensor",
    files="decompositions",
    unbound=True,
)
def svd_backward(grad_u, grad_s, grad_vh, A, U, S, Vh, full_matrices, compute_uv):
    """The gradient of a singular value decomposition; infinite for U and Vh where singular values coincide."""


@composite("linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
           variants="function out", module="linalg", autocast="fp32", out="same", samples="geqrf",
           out_overload="U")  # fmt: skip
def linalg_svd(A, full_matrices, driver):
    """``A = U @ diag(S) @ Vh`` with singular values in descending order."""
    s = op._linalg_svd(A, full_matrices, True, driver=driver)
    return s[0], s[1], s[2]


@composite("linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", variants="function out", module="linalg",
           files="decompositions", autocast="fp32", out="same", samples="geqrf")  # fmt: skip
def linalg_svdvals(A, driver):
    """The singular values, in descending order."""


@composite("svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
           variants="function method out", out_overload="U", files="decompositions", autocast="fp32",
           samples="geqrf")  # fmt: skip
def svd(self, some, compute_uv):
    """``self = U @ diag(S) @ V^H``; without ``compute_uv``, U and V are zeros."""


# --- eigenvalues


@kernel("_linalg_eigh(Tensor A, str UPLO='L', bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
        variants="function", unbound=True, shape="eigh", files="lapack", batch="matrices")  # fmt: skip
def _linalg_eigh(A, UPLO, compute_v):
    """Eigenvalues, ascending, and eigenvectors (columns) of Hermitian matrices, of which one triangle is read."""


@_linalg_eigh.backward
def _(grads, compute_v, eigenvalues, eigenvectors):
    return {"A": op.eigh_backward(grads[0], grads[1], eigenvalues, eigenvectors)}


@composite(
    "eigh_backward(Tensor grad_values, Tensor grad_vectors, Tensor values, Tensor vectors) -> Tensor",
    files="decompositions",
    unbound=True,
)
def eigh_backward(grad_values, grad_vectors, values, vectors):
    """The gradient of a Hermitian eigenvalue decomposition; infinite for the vectors where eigenvalues coincide."""


@composite("linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
           variants="function out", out_overload="eigvals", module="linalg", autocast="fp32",
           samples=[S(f(3, 3, of="symmetric"))], outs="eigvals eigvecs")  # fmt: skip
def linalg_eigh(self, UPLO):
    """Eigenvalues, ascending, and eigenvectors (columns) of Hermitian matrices, of which the triangle ``UPLO`` is
    read."""
    e = op._linalg_eigh(self, UPLO, True)
    return e[0], e[1]


@composite("linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor", variants="function out", module="linalg",
           files="decompositions", autocast="fp32", out="same", samples="linalg_eigh")  # fmt: skip
def linalg_eigvalsh(self, UPLO):
    """The eigenvalues of Hermitian matrices, ascending."""


@kernel("linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", variants="function out",
        module="linalg", shape="eig", files="lapack", autocast="fp32", batch="matrices",
        samples="linalg_eigh")  # fmt: skip
def linalg_eig(self):
    """The complex eigenvalues and eigenvectors (columns, of length 1) of square matrices."""


@linalg_eig.backward
def _(grads, self, eigenvalues, eigenvectors):
    return {"self": op.eig_backward(grads[0], grads[1], eigenvalues, eigenvectors, self.dtype())}


@composite(
    "eig_backward(Tensor grad_values, Tensor grad_vectors, Tensor values, Tensor vectors, ScalarType dtype) -> Tensor",
    files="decompositions",
    unbound=True,
)
def eig_backward(grad_values, grad_vectors, values, vectors, dtype):
    """The gradient of an eigenvalue decomposition."""


@composite("linalg_eigvals(Tensor self) -> Tensor", variants="function out", module="linalg", files="decompositions",
           autocast="fp32", samples="linalg_eigh")  # fmt: skip
def linalg_eigvals(self):
    """The complex eigenvalues of square matrices."""


# --- determinants


@composite("linalg_det(Tensor A) -> Tensor", variants="function out", module="linalg", files="decompositions",
           out="same", batch="matrices", samples="linalg_lu_factor_ex")  # fmt: skip
def linalg_det(A):
    """The determinants of square matrices."""


@linalg_det.backward
def _(grad, A, result):
    return {"A": op.det_backward(grad, A, result)}


@composite("det_backward(Tensor grad, Tensor A, Tensor det) -> Tensor", files="decompositions", unbound=True)
def det_backward(grad, A, det):
    """``grad`` times the conjugate of the matrices of cofactors, for singular matrices too."""


@composite("det(Tensor self) -> Tensor", variants="function method", samples="linalg_lu_factor_ex")
def det(self):
    """The determinants of square matrices."""
    return op.linalg_det(self)


@composite("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", variants="function out", module="linalg",
           files="decompositions", samples="linalg_lu_factor_ex")  # fmt: skip
def linalg_slogdet(A):
    """The signs of the determinants and the logarithms of their sizes."""


@composite("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", variants="function method out",
           samples="linalg_lu_factor_ex")  # fmt: skip
def slogdet(self):
    """The signs of the determinants and the logarithms of their sizes."""
    s = op.linalg_slogdet(self)
    return s[0], s[1]


@composite("logdet(Tensor self) -> Tensor", variants="function method", files="decompositions",
           samples=[S(f(3, 3, of="positive definite")), S(f(2, 3, 3, of="positive definite"))])  # fmt: skip
def logdet(self):
    """The logarithms of the determinants; NaN where one is negative."""


# --- what singular values tell


@composite(
    "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> "
    "Tensor",
    variants="function out",
    module="linalg",
    files="decompositions",
    samples="geqrf",
)
def linalg_pinv(self, atol, rtol, hermitian):
    """The pseudo-inverse: singular values up to max(atol, rtol * the largest) count as zero."""


@linalg_pinv.backward
def _(grad, self, result):
    return {"self": op.pinv_backward(grad, self, result)}


@composite("pinv_backward(Tensor grad, Tensor A, Tensor P) -> Tensor", files="decompositions", unbound=True)
def pinv_backward(grad, A, P):
    """The gradient of the pseudo-inverse P, where the rank does not change."""


@composite(
    "_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)",
    variants="function",
    samples=[S(f(3, 3)), S(f(2, 3, 3), True, False)],
)
def _lu_with_info(self, pivot, check_errors):
    """``linalg_lu_factor_ex`` by its older name, which leaves a zero pivot to ``info`` whatever ``check_errors``
    says."""
    return op.linalg_lu_factor_ex(self, pivot=pivot, check_errors=False)


@composite(
    "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    variants="function out",
    module="linalg",
    files="decompositions",
    samples="geqrf",
)
def linalg_pinv(self, atol, rtol, hermitian):
    """The pseudo-inverse with numbers for tolerances."""


@composite("linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor", variants="function out",
           module="linalg", files="decompositions", samples=[S(f(4, 3), 1e-09)])  # fmt: skip
def linalg_pinv(self, rcond, hermitian):
    """The pseudo-inverse with a relative tolerance."""


@composite("linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
           variants="function out", out_overload="out_rcond_tensor", module="linalg",
           samples=[S(f(4, 3), v(1e-09, "float64")), S(f(2, 4, 3), v([1e-09, 1e-07], "float64"))])  # fmt: skip
def linalg_pinv(self, rcond, hermitian):
    """The pseudo-inverse with a relative tolerance for each matrix."""
    check(not rcond.is_complex(), f"a tolerance is real; rcond is {rcond.dtype}")
    return op.linalg_pinv(self, atol=op.zeros_like(rcond), rtol=rcond, hermitian=hermitian)


@composite("pinverse(Tensor self, float rcond=1e-15) -> Tensor", variants="function method", autocast="fp32",
           samples="linalg_lu_factor_ex")  # fmt: skip
def pinverse(self, rcond):
    """The pseudo-inverse with a relative tolerance."""
    return op.linalg_pinv(self, rcond)


@composite(
    "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) "
    "-> Tensor",
    variants="function out",
    module="linalg",
    files="decompositions",
    autocast="fp32",
    samples="geqrf",
)
def linalg_matrix_rank(input, atol, rtol, hermitian):
    """How many singular values exceed max(atol, rtol * the largest)."""


@composite(
    "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> "
    "Tensor",
    variants="function out",
    module="linalg",
    files="decompositions",
    autocast="fp32",
    samples="geqrf",
)
def linalg_matrix_rank(self, atol, rtol, hermitian):
    """The rank with numbers for tolerances."""


@composite("linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor", variants="function out",
           module="linalg", files="decompositions", autocast="fp32", samples="linalg_pinv")  # fmt: skip
def linalg_matrix_rank(self, tol, hermitian):
    """The rank with an absolute tolerance."""


@composite("linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
           variants="function out", out_overload="out_tol_tensor", module="linalg", autocast="fp32",
           samples="linalg_pinv.rcond_tensor")  # fmt: skip
def linalg_matrix_rank(input, tol, hermitian):
    """The rank with an absolute tolerance for each matrix."""
    return op.linalg_matrix_rank(input, atol=tol, rtol=op.zeros_like(tol), hermitian=hermitian)


@composite("linalg_cond(Tensor self, Scalar? p=None) -> Tensor", variants="function out", module="linalg",
           files="decompositions", autocast="fp32", samples="linalg_lu_factor_ex")  # fmt: skip
def linalg_cond(self, p):
    """The condition number: the largest singular value over the smallest, or the norms of order ``p`` of A and its
    inverse."""


@composite("linalg_cond.p_str(Tensor self, str p) -> Tensor", variants="function out", module="linalg",
           files="decompositions", autocast="fp32", samples=[S(f(3, 3, of="invertible"), "fro")])  # fmt: skip
def linalg_cond(self, p):
    """The condition number in the norm 'fro' or 'nuc'."""


@kernel(
    "_lstsq(Tensor A, Tensor B, float rcond, bool values) -> (Tensor solution, Tensor rank, Tensor singular_values)",
    shape="lstsq",
    files="least_squares",
    unbound=True,
    not_differentiable=True,
)
def _lstsq(A, B, rcond, values):
    """The shortest least-squares solutions by singular values (LAPACK's gelsd), or without those by pivots (gelsy)."""


@composite(
    "lstsq_backward(Tensor? grad_solution, Tensor? grad_residuals, Tensor A, Tensor B, Tensor solution) -> (Tensor, "
    "Tensor)",
    files="decompositions",
    unbound=True,
)
def lstsq_backward(grad_solution, grad_residuals, A, B, solution):
    """The gradients of the solutions and the squared residuals."""


@composite(
    "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor "
    "residuals, Tensor rank, "
    "Tensor singular_values)",
    variants="function out",
    module="linalg",
    files="decompositions",
    autocast="fp32",
    nondiff="rank singular_values",
    batch="one_by_one",
    samples=[S(f(4, 3), f(4, 2)), S(f(3, 4), f(3, 2))],
)
def linalg_lstsq(self, b, rcond, driver):
    """The shortest X that makes ``self @ X - b`` shortest; residuals where they are defined, rank and singular
    values."""


@linalg_lstsq.backward
def _(grads, self, b, solution):
    g = op.lstsq_backward(grads[0], grads[1], self, b, solution)
    return {"self": g[0], "b": g[1]}


# --- functions of matrices


@composite("linalg_matrix_exp(Tensor self) -> Tensor", variants="function out", module="linalg",
           files="matrix_functions", samples=[S(f(3, 3)), S(f(2, 3, 3)), S(f(2, 3))])  # fmt: skip
def linalg_matrix_exp(self):
    """The exponential of square matrices."""


@composite("matrix_exp(Tensor self) -> Tensor", variants="function method", samples=[S(f(3, 3))])
def matrix_exp(self):
    """``linalg_matrix_exp`` under its other name."""
    return op.linalg_matrix_exp(self)


@composite(
    "linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor",
    variants="function",
    module="linalg",
    files="matrix_functions",
)
def linalg_vander(x, N):
    """The powers 0 to N - 1 (by default as many as elements) of each element, along a new last dimension."""


@composite("linalg_tensorinv(Tensor self, int ind=2) -> Tensor", variants="function out", module="linalg",
           files="matrix_functions", autocast="fp32", samples=[S(f(6, 2, 3)), S(f(6, 2, 3), 1)])  # fmt: skip
def linalg_tensorinv(self, ind):
    """The inverse of ``tensordot`` with ``self`` over its last dimensions, of which the first ``ind`` are the
    result's."""


@composite("linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor", variants="function out",
           module="linalg", files="matrix_functions", autocast="fp32", samples=[S(f(2, 3, 6), f(2, 3))])  # fmt: skip
def linalg_tensorsolve(self, other, dims):
    """The X whose ``tensordot`` with ``self``, the dimensions ``dims`` moved to its end, is ``other``."""
