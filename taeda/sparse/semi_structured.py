"""Two of each four elements: a format of NVIDIA's tensor cores, which other processors gain nothing from."""

from __future__ import annotations

from typing import Any, NoReturn

from taeda import Tensor


class SparseSemiStructuredTensor:
    """A matrix with two zeros among each four elements of a row. Only CUDA computes with it: making one raises."""

    _FORCE_CUTLASS = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse(type(self).__name__)

    @classmethod
    def from_dense(cls, original_tensor: Tensor) -> NoReturn:
        """Raises NotImplementedError."""
        _refuse(f"{cls.__name__}.from_dense")


class SparseSemiStructuredTensorCUTLASS(SparseSemiStructuredTensor):
    """The same by CUTLASS."""


class SparseSemiStructuredTensorCUSPARSELT(SparseSemiStructuredTensor):
    """The same by cuSPARSELt."""


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"taeda.sparse.{name}: semi-structured (2:4) sparsity is for tensor cores of CUDA devices; here keep the "
        "tensor "
        "dense, or take to_sparse_csr() or to_sparse_bsr() where many blocks are zero"
    )


def to_sparse_semi_structured(original_tensor: Tensor, transposed: bool = False) -> NoReturn:
    """Raises NotImplementedError: the format is for CUDA devices."""
    _refuse("to_sparse_semi_structured")
