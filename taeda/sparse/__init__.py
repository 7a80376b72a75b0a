"""Tensors of which only some elements are stored: functions beside the ops that take them, which are everywhere.

``docs/sparse.md`` says which layouts there are and how calls on them run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taeda.sparse import _kernels as _kernels  # what has sparse tensors has their kernels
from taeda.sparse._functions import as_sparse_gradcheck, log_softmax, softmax, spdiags, sum
from taeda.sparse._invariants import check_sparse_tensor_invariants
from taeda.sparse._products import addmm, mm, sampled_addmm, spsolve
from taeda.sparse.semi_structured import (
    SparseSemiStructuredTensor,
    SparseSemiStructuredTensorCUSPARSELT,
    SparseSemiStructuredTensorCUTLASS,
    to_sparse_semi_structured,
)

__all__ = [
    "SparseSemiStructuredTensor",
    "SparseSemiStructuredTensorCUSPARSELT",
    "SparseSemiStructuredTensorCUTLASS",
    "addmm",
    "as_sparse_gradcheck",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "spsolve",
    "sum",
    "to_sparse_semi_structured",
]

if TYPE_CHECKING:
    from taeda._tensor.old_types import SparseTensorType

    BFloat16Tensor: SparseTensorType
    ByteTensor: SparseTensorType
    CharTensor: SparseTensorType
    DoubleTensor: SparseTensorType
    FloatTensor: SparseTensorType
    HalfTensor: SparseTensorType
    IntTensor: SparseTensorType
    LongTensor: SparseTensorType
    ShortTensor: SparseTensorType
else:

    def __getattr__(name: str) -> Any:
        from taeda._tensor import old_types

        if name in old_types.__all__ and name != "BoolTensor":  # which PyTorch lacks
            globals()[name] = made = old_types.make(name, metaclass=old_types.SparseTensorType)
            return made
        raise AttributeError(f"module 'taeda.sparse' has no attribute '{name}'")
