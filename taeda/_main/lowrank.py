"""Factors of matrices in Python: old names, and approximations from few random products (Halko et al., 2011)."""

from __future__ import annotations

import warnings
from typing import Any

import taeda
from taeda import _C, Tensor


@_C._overridable
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, *, out: Any = None) -> tuple[Tensor, ...]:
    """``linalg.lu_factor_ex`` under its old name: LU, the pivots and, with ``get_infos``, where a pivot was zero.

    Raises:
        TypeError: ``out`` is no tuple or list of so many tensors.
    """
    warnings.warn("taeda.lu is deprecated; use taeda.linalg.lu_factor or lu_factor_ex", UserWarning, stacklevel=2)
    if out is None:
        factors: Any = taeda._lu_with_info(A, pivot, False)
    else:
        if not isinstance(out, (tuple, list)) or len(out) != 2 + get_infos:
            raise TypeError(f"taeda.lu: out is wanted as a tuple of {2 + get_infos} tensors; got {out!r}")
        outs: Any = out if get_infos else (*out, taeda.empty(0, dtype=taeda.int32))
        factors = taeda.linalg.lu_factor_ex(A, pivot=pivot, out=outs)
    return factors if get_infos else tuple(factors[:2])


def _range_of(A: Tensor, q: int, niter: int, M: Tensor | None) -> Tensor:
    """Orthonormal columns (..., m, q) that nearly span the columns of ``A - M``."""

    def forward(x: Tensor) -> Tensor:
        return A @ x if M is None else A @ x - M @ x

    def back(x: Tensor) -> Tensor:
        return A.mH @ x if M is None else A.mH @ x - M.mH @ x

    Q = taeda.linalg.qr(forward(taeda.randn(A.shape[-1], q, dtype=A.dtype, device=A.device)))[0]
    for _ in range(niter):
        Q = taeda.linalg.qr(back(Q))[0]
        Q = taeda.linalg.qr(forward(Q))[0]
    return Q


@_C._overridable
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2,
                M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """U (..., m, q), S (..., q) and V (..., n, q) with ``A - M`` close to ``U @ diag(S) @ V^H``.

    ``niter`` repetitions, each two products with ``A``, make the approximation better. ``q`` may be a little more
    than the rank that is wanted. ``M`` is broadcast, such as a mean to subtract.
    """
    wanted, steps = 6 if q is None else q, 2 if niter is None else niter
    m, n = A.shape[-2:]
    if not 0 <= wanted <= min(m, n):
        raise ValueError(f"taeda.svd_lowrank: q must be from 0 to {min(m, n)}; got {wanted}")
    centre = None if M is None else M.broadcast_to(A.shape)
    flat = m < n  # the smaller side is sampled
    if flat:
        A, centre = A.mH, None if centre is None else centre.mH
    Q = _range_of(A, wanted, steps, centre)
    B = Q.mH @ A if centre is None else Q.mH @ A - Q.mH @ centre
    U, S, Vh = taeda.linalg.svd(B, full_matrices=False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if flat else (U, S, V)


@_C._overridable
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True,
                niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The ``q`` principal components (6 or fewer) of the rows of ``A`` (..., m, n): ``svd_lowrank`` less the columns'
    means if ``center``. The columns of V are the directions."""
    m, n = A.shape[-2:]
    wanted = min(6, m, n) if q is None else q
    if not 0 <= wanted <= min(m, n):
        raise ValueError(f"taeda.pca_lowrank: q must be from 0 to {min(m, n)}; got {wanted}")
    if niter < 0:
        raise ValueError(f"taeda.pca_lowrank: niter must not be negative; got {niter}")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, wanted, niter)
