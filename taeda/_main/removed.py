"""Functions that PyTorch took away, and that say what to call instead."""

from __future__ import annotations

from typing import Any, NoReturn

_INSTEAD = {
    "eig": "linalg.eig(A), or eigvals(A), whose results are complex",
    "lstsq": "linalg.lstsq(A, B), which takes A first and gives the solution without the residuals",
    "matrix_rank": "linalg.matrix_rank(A), with hermitian= for symmetric=",
    "solve": "linalg.solve(A, B), which takes A first and gives the solution without the factors",
    "symeig": "linalg.eigh(A), or eigvalsh(A); UPLO='U' for upper=True",
}


def gone(name: str) -> RuntimeError:
    """What a call of it raises."""
    return RuntimeError(f"taeda.{name}: this function is gone since PyTorch 1.13; call taeda.{_INSTEAD[name]}")


def eig(self: Any, eigenvectors: bool = False, *, e: Any = None, v: Any = None) -> NoReturn:
    """Raises RuntimeError: ``linalg.eig`` took its place."""
    raise gone("eig")


def lstsq(input: Any, A: Any, *, out: Any = None) -> NoReturn:
    """Raises RuntimeError: ``linalg.lstsq`` took its place."""
    raise gone("lstsq")


def matrix_rank(input: Any, tol: Any = None, symmetric: bool = False, *, out: Any = None) -> NoReturn:
    """Raises RuntimeError: ``linalg.matrix_rank`` took its place."""
    raise gone("matrix_rank")


def solve(input: Any, A: Any, *, out: Any = None) -> NoReturn:
    """Raises RuntimeError: ``linalg.solve`` took its place."""
    raise gone("solve")


def symeig(input: Any, eigenvectors: bool = False, upper: bool = True, *, out: Any = None) -> NoReturn:
    """Raises RuntimeError: ``linalg.eigh`` took its place."""
    raise gone("symeig")
