"""Extremal eigenpairs of large symmetric matrices: LOBPCG (Knyazev, 2001), with a basis that is kept orthonormal by
singular vectors of its Gram matrix (Stathopoulos and Wu, 2002)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import taeda
from taeda import _C, Tensor


@_C._overridable
def lobpcg(A: Tensor, k: int | None = None, B: Tensor | None = None, X: Tensor | None = None, n: int | None = None,
           iK: Tensor | None = None, niter: int | None = None, tol: float | None = None, largest: bool | None = None,
           method: str | None = None, tracker: Callable[[LOBPCG], Any] | None = None,
           ortho_iparams: dict[str, int] | None = None, ortho_fparams: dict[str, float] | None = None,
           ortho_bparams: dict[str, bool] | None = None) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The ``k`` largest (or smallest) eigenvalues of Hermitian matrices and their eigenvectors, from few products.

    Args:
        A: (..., m, m). Only products with it are needed, so few pairs of a large matrix cost little.
        k: How many pairs; by default the columns of ``X``, or 1.
        B: (..., m, m), positive definite, of the generalised problem ``A x = e B x``; the identity by default.
        X: (..., m, n), where the search starts; by default ``n`` random columns.
        n: How many columns the search keeps, ``k`` by default; at most m / 3.
        iK: (..., m, m), a preconditioner: an approximate inverse of ``A``.
        niter: The most iterations, 1000 by default; no limit with -1.
        tol: The residual, relative to the norms of the matrices, at which a pair is good; the square root of the
            dtype's precision by default.
        largest: False finds the smallest.
        method: "ortho", or "basic", whose steps cost less and which may break down.
        tracker: Called in each iteration with the state; ``bvars["force_stop"] = True`` ends the search.
        ortho_iparams: ``ortho_i_max`` and ``ortho_j_max``, how often a basis is made orthogonal and orthonormal.
        ortho_fparams: ``ortho_tol``, how nearly.
        ortho_bparams: Not used: directions that depend on others are always left out.

    Returns:
        The eigenvalues (..., k), the most extreme first, and the eigenvectors (..., m, k).

    Only ``A`` has a gradient, and only where it is real and ``B`` is not given. It is that of ``(A + A.mT) / 2``.
    """
    m = A.shape[-1] if A.dim() else 0
    if A.dim() < 2 or A.shape[-2] != m:
        raise ValueError(f"taeda.lobpcg: A must be square matrices; got shape {tuple(A.shape)}")
    if method not in (None, "basic", "ortho"):
        raise ValueError(f"taeda.lobpcg: method must be 'basic' or 'ortho'; got {method!r}")
    wanted = (1 if X is None else X.shape[-1]) if k is None else k
    columns = (wanted if n is None else n) if X is None else X.shape[-1]
    if wanted < 1 or m < 3 * columns:
        raise ValueError(
            f"taeda.lobpcg: of matrices of {m} rows, 1 to {m // 3} pairs can be found so; got {max(wanted, columns)}. "
            "taeda.linalg.eigh finds all"
        )
    if X is None:
        X = taeda.randn(*A.shape[:-2], m, columns, dtype=A.dtype, device=A.device)
    settings: dict[str, Any] = {
        "iparams": {"m": m, "n": columns, "k": wanted, "niter": 1000 if niter is None else niter},
        "fparams": {"tol": taeda.finfo(A.dtype).eps ** 0.5 if tol is None else tol},
        "bparams": {"largest": largest is None or bool(largest)},
        "method": method or "ortho",
        "tracker": tracker,
    }
    if settings["method"] == "ortho":
        settings["iparams"].update({"ortho_i_max": 3, "ortho_j_max": 3, **(ortho_iparams or {})})
        settings["fparams"].update({"ortho_tol": settings["fparams"]["tol"], **(ortho_fparams or {})})
        settings["bparams"].update(ortho_bparams or {})
    if A.requires_grad or (B is not None and B.requires_grad):
        return _Differentiable.apply((A + A.mH) / 2, B, X, iK, settings)
    return _of_batch(A, B, X, iK, settings)


def _of_batch(A: Tensor, B: Tensor | None, X: Tensor, iK: Tensor | None,
              settings: dict[str, Any]) -> tuple[Tensor, Tensor]:  # fmt: skip
    batch = A.shape[:-2]
    if not batch:
        return LOBPCG(A, B, X, iK, **settings).run()

    def at(t: Tensor | None, index: tuple[int, ...]) -> Any:
        return t if t is None else t.expand(*batch, *t.shape[-2:])[index]

    found = [
        LOBPCG(A[index], at(B, index), at(X, index), at(iK, index), **settings).run()
        for index in product(*map(range, batch))
    ]
    k = min(settings["iparams"]["k"], settings["iparams"]["n"])
    if not found:
        return A.new_empty(*batch, k).abs(), A.new_empty(*batch, A.shape[-1], k)
    values, vectors = (taeda.stack(parts) for parts in zip(*found))
    return values.reshape(*batch, k), vectors.reshape(*batch, A.shape[-1], k)


class LOBPCG:
    """The search in one matrix: what a tracker sees.

    ``X`` are the eigenvectors so far, ``E`` the eigenvalues, ``R`` the residuals, ``S`` the basis of the last step.
    ``ivars`` counts steps (``istep``), what is left of them and the pairs that are good, ``tvars["rerr"]`` are the
    relative residuals.
    """

    def __init__(self, A: Tensor, B: Tensor | None, X: Tensor, iK: Tensor | None, *, iparams: dict[str, int],
                 fparams: dict[str, float], bparams: dict[str, bool], method: str, tracker: Any) -> None:  # fmt: skip
        self.A, self.B, self.X, self.iK = A, B, X, iK
        self.iparams, self.fparams, self.bparams = dict(iparams), dict(fparams), dict(bparams)
        self.method, self.tracker = method, tracker
        self.ivars: dict[str, int] = {"istep": 0, "iterations_left": iparams["niter"], "converged_count": 0}
        self.fvars: dict[str, float] = {}
        self.bvars: dict[str, bool] = {"force_stop": False}
        self.tvars: dict[str, Tensor] = {}
        self.E = self.R = self.S = X

    def run(self) -> tuple[Tensor, Tensor]:
        self._measure()
        moved = self.X[:, :0]  # where the last step went, beside the old vectors
        basis = self.X if self.method == "basic" else self._orthonormal(self.X, moved)
        self.E, C = self._ritz(basis)
        self.X = basis @ C
        while not self._is_done():
            moved = self._step(moved)
        k = self.iparams["k"]
        return self.E[:k], self.X[:, :k]

    def _times_B(self, X: Tensor) -> Tensor:
        return X if self.B is None else self.B @ X

    def _measure(self) -> None:
        """Estimates of the matrices' norms, to which residuals are compared."""
        length = taeda.linalg.matrix_norm(self.X)
        self.fvars["X_norm"] = float(length)
        self.fvars["A_norm"] = float(taeda.linalg.matrix_norm(self.A @ self.X) / length)
        self.fvars["B_norm"] = float(taeda.linalg.matrix_norm(self._times_B(self.X)) / length)

    def _is_done(self) -> bool:
        self.R = self.A @ self.X - self._times_B(self.X) * self.E
        scale = self.X.norm(dim=0) * (self.fvars["A_norm"] + self.fvars["B_norm"] * self.E.abs())
        error = taeda.where(scale == 0, 0, self.R.norm(dim=0) / scale)
        good = (error < self.fparams["tol"]).tolist()
        count = good.index(False) if False in good else len(good)
        self.tvars["rerr"], self.ivars["converged_count"] = error, count
        self.ivars["istep"] += 1
        self.ivars["iterations_left"] -= 1
        if self.tracker is not None:
            self.tracker(self)
        return (
            count >= min(self.iparams["k"], len(good))
            or self.ivars["iterations_left"] == 0
            or bool(self.bvars["force_stop"])
        )

    def _step(self, moved: Tensor) -> Tensor:
        """The best vectors within the span of X, the residuals and the last step."""
        active = self.R[:, self.ivars["converged_count"] :]
        searched = active if self.iK is None else self.iK @ active
        more = taeda.cat([searched, moved], 1)
        if self.method == "ortho":
            more = self._orthonormal(more, self.X)
        self.S = taeda.cat([self.X, more], 1)
        n = self.X.shape[1]
        self.E, C = self._ritz(self.S)
        self.X = self.S @ C
        return (more @ C[n:])[:, self.ivars["converged_count"] :]

    def _ritz(self, S: Tensor) -> tuple[Tensor, Tensor]:
        """The n most extreme eigenvalues within the span of S, and the coordinates of their vectors."""
        within = S.mH @ (self.A @ S)
        if self.method == "ortho":
            values, C = taeda.linalg.eigh((within + within.mH) / 2)
        else:
            gram = S.mH @ self._times_B(S)
            size = gram.diagonal().real.rsqrt().unsqueeze(1)
            L = taeda.linalg.cholesky(size * gram * size.mT)
            half = taeda.linalg.solve_triangular(L, size * within * size.mT, upper=False)
            values, Z = taeda.linalg.eigh(taeda.linalg.solve_triangular(L, half.mH, upper=False))
            C = size * taeda.linalg.solve_triangular(L.mH, Z, upper=True)
        n = self.iparams["n"]
        return (values.flip(0)[:n], C.flip(1)[:, :n]) if self.bparams["largest"] else (values[:n], C[:, :n])

    def _orthonormal(self, U: Tensor, X: Tensor) -> Tensor:
        """An orthonormal basis, with respect to B, of the part of the span of U that is orthogonal to that of X."""
        BX = self._times_B(X)
        for _ in range(self.iparams["ortho_i_max"]):
            U = U - X @ (BX.mH @ U)
            for _ in range(self.iparams["ortho_j_max"]):
                U = self._nearly_orthonormal(U)
                gram = U.mH @ self._times_B(U)
                excess = gram - taeda.eye(U.shape[1], dtype=U.dtype, device=U.device)
                if float(excess.abs().sum()) < self.fparams["ortho_tol"]:
                    break
            if float((BX.mH @ U).abs().sum()) < self.fparams["ortho_tol"]:
                break
        return U

    def _nearly_orthonormal(self, U: Tensor) -> Tensor:
        """U times the inverse root of its Gram matrix, without the directions that rounding would make up."""
        gram = U.mH @ self._times_B(U)
        squares = gram.diagonal().real
        size = taeda.where(squares > 0, squares.rsqrt(), 0).unsqueeze(1)
        values, Z = taeda.linalg.eigh(size * gram * size.mT)
        kept = values > taeda.finfo(U.dtype).eps * U.shape[0] * (values[-1] if len(values) else 0)
        return U @ (size * Z[:, kept] * values[kept].rsqrt())


class _Differentiable(taeda.autograd.Function):
    @staticmethod
    def forward(ctx: Any, A: Tensor, B: Any, X: Tensor, iK: Any, settings: dict[str, Any]) -> tuple[Tensor, Tensor]:
        values, vectors = _of_batch(A, B, X, iK, settings)
        ctx.generalised = B is not None
        ctx.save_for_backward(A, values, vectors)
        return values, vectors

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        grad_values, grad_vectors = grads
        A, values, X = ctx.saved_tensors
        if ctx.generalised or A.is_complex():
            raise RuntimeError(
                "taeda.lobpcg: there is a gradient for real A without B only; got "
                + ("B" if ctx.generalised else f"A of {A.dtype}")
            )
        # A change dA moves vector j by (e_j - A)^+ dA x_j: within the span of X by differences of its eigenvalues,
        # beside it by a system of equations.
        gaps = values.unsqueeze(-2) - values.unsqueeze(-1)
        slope = (X.mT @ grad_vectors) / taeda.where(gaps == 0, taeda.inf, gaps)
        within = X @ (slope + taeda.diag_embed(grad_values))
        return (within + _beside(A, values, X, grad_vectors)) @ X.mT, None, None, None, None


def _beside(A: Tensor, values: Tensor, X: Tensor, right: Tensor) -> Tensor:
    """Columns z_j orthogonal to X with ``(e_j - A) z_j`` the part of column j of ``right`` that is, too."""
    onto = X @ X.mT
    beside = taeda.eye(A.shape[-1], dtype=A.dtype, device=A.device) - onto
    projected, right = beside @ A @ beside, beside @ right
    columns = [
        taeda.linalg.solve(values[..., j, None, None] * beside - projected + onto, right[..., j, None])
        for j in range(values.shape[-1])
    ]
    return beside @ taeda.cat(columns, -1)
