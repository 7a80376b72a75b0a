"""Factors in packed form: Householder reflectors below a diagonal, and those of symmetric matrices.

The reflector i is ``I - tau[i] v v^H``, where v is the column i below the diagonal with a one on it. Leading dimensions
are batches everywhere.
"""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v

# --- reflectors


@kernel(
    "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    variants="function method out",
    out_overload="a",
    shape="geqrf",
    files="factors",
    autocast="fp32",
    batch="matrices",
    samples=[S(f(4, 3)), S(f(3, 4)), S(f(2, 3, 3))],
)
def geqrf(self):
    """The QR factors of matrices in one: R on and above the diagonal, Q's reflectors below it and in ``tau``."""


@composite(
    "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    variants="function out",
    module="linalg",
    files="factors",
    autocast="fp32",
    samples=[S(f(4, 3), f(3)), S(f(2, 4, 3), f(2, 2)), S(f(3, 4), f(3))],
)
def linalg_householder_product(input, tau):
    """The first columns, as many as ``input`` (..., m, n) has, of the product of the reflectors ``tau`` (..., k)."""


@composite(
    "orgqr(Tensor self, Tensor input2) -> Tensor",
    variants="function method out",
    autocast="fp32",
    samples="linalg_householder_product",
)
def orgqr(self, input2):
    """``linalg_householder_product`` under its other name."""
    return op.linalg_householder_product(self, input2)


@composite(
    "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
    variants="function method out",
    files="factors",
    autocast="fp32",
    samples=[S(f(4, 3), f(3), f(4, 2)), S(f(2, 4, 3), f(2, 3), f(2, 5, 4), False, True), S(f(4, 3), f(2), f(4, 2))],
)
def ormqr(self, input2, input3, left, transpose):
    """``Q @ input3`` (``input3 @ Q`` unless ``left``) for the product Q of the reflectors in ``self`` and ``input2``;
    Q^H instead with ``transpose``."""


# --- symmetric matrices


@kernel(
    "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, "
    "Tensor info)",
    variants="function out",
    module="linalg",
    shape="ldl_factor",
    files="factors",
    nondiff="pivots info",
    batch="matrices",
    samples=[S(f(3, 3, of="symmetric")), S(f(2, 3))],
)
def linalg_ldl_factor_ex(self, hermitian, check_errors):
    """Symmetric (or Hermitian) matrices as ``L @ D @ L^T`` with pivots, of which the lower triangle is read; 0, or
    the index of a zero in D."""


@composite(
    "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
    variants="function out",
    module="linalg",
    files="factors",
    samples="linalg_ldl_factor_ex",
)
def linalg_ldl_factor(self, hermitian):
    """``linalg_ldl_factor_ex`` that raises LinAlgError where D is singular."""


@kernel(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    variants="function out",
    module="linalg",
    shape="ldl_solve",
    files="factors",
)
def linalg_ldl_solve(LD, pivots, B, hermitian):
    """The solution of ``A @ X = B`` from the factors of a symmetric (or Hermitian) A."""


linalg_ldl_solve.samples([
    S(f(3, 3, of="symmetric"), v([1, 2, 3], "int32"), f(3, 2)),
    S(f(3, 3, of="symmetric"), v([1, 2, 3], "int32"), f(2, 3, 2)),
])  # fmt: skip
