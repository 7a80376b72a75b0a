"""Ops of the table that do not pass wholly, and why; where PyTorch itself is inconsistent, the reason says so."""

from __future__ import annotations

_PIECES = "in pieces, PyTorch has no second gradient, as it documents; nor have we, but not in the same cases"
_LISTS = "lists of tensors as `out` are not taken yet"
_VECTORS = "a batch of solutions for vectors is a new tensor here, a transposed one in PyTorch"
_PRODUCT = "the second gradient where one factor is zero lacks that of the other factors"

KNOWN: dict[str, str] = {
    "masked.logaddexp": "where both masks leave an element out, PyTorch's second gradient is NaN, here 0",
    "as_strided_scatter": "PyTorch's gradient for self is that of the elements written over (its gradcheck fails)",
    "nn.functional.linear_cross_entropy.chunked": _PIECES,
    "nn.functional.linear_cross_entropy.chunked_none": _PIECES,
    "unbind_copy": _LISTS,
    "split_with_sizes_copy": _LISTS,
    "linalg.solve": _VECTORS,
    "linalg.solve_ex": _VECTORS,
    "index_reduce.prod": _PRODUCT,
    "scatter_reduce.prod": _PRODUCT,
    "hash_tensor": "not done yet",
    "linalg.norm": "the second gradient at 0: PyTorch has NaN for some orders and 0 for others, as here for other ones",
    "linalg.norm.subgradients_at_zero": "likewise",
    "masked.norm": "likewise",
}
