"""CUDA: this build has none. The switches keep what they are told, for programs that set them wherever they run."""

from __future__ import annotations

from typing import Any

from taeda._main.absent_devices import BUILT

__all__ = ["is_built", "matmul", "preferred_blas_library", "preferred_linalg_library"]


def is_built() -> bool:
    """Whether this build can use CUDA: no."""
    return BUILT["cuda"]


class _Matmul:
    """What matrix products may do for speed."""

    __slots__ = (
        "allow_bf16_reduced_precision_reduction",
        "allow_fp16_accumulation",
        "allow_fp16_reduced_precision_reduction",
        "allow_tf32",
    )

    def __init__(self) -> None:
        self.allow_tf32 = False
        self.allow_fp16_accumulation = False
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()


_preferred = {"linalg": "default", "blas": "default"}


def _prefer(kind: str, backend: Any, known: tuple[str, ...]) -> str:
    if backend is not None:
        if str(backend).lower() not in known:
            raise RuntimeError(
                f"taeda.backends.cuda.preferred_{kind}_library: takes one of {', '.join(known)}; got {backend!r}"
            )
        _preferred[kind] = str(backend).lower()
    return _preferred[kind]


def preferred_linalg_library(backend: Any = None) -> str:
    """Which library factorises on a GPU; remembered."""
    return _prefer("linalg", backend, ("default", "cusolver", "magma"))


def preferred_blas_library(backend: Any = None) -> str:
    """Which library multiplies on a GPU; remembered."""
    return _prefer("blas", backend, ("default", "cublas", "cublaslt", "ck", "hipblaslt"))
