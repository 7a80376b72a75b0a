"""Ops of the table that do not pass wholly, and why; where PyTorch itself is inconsistent, the reason says so."""

from __future__ import annotations

_PIECES = "in pieces, PyTorch has no second gradient, as it documents; nor have we, but not in the same cases"

KNOWN: dict[str, str] = {
    "masked.logaddexp": "where both masks leave an element out, PyTorch's second gradient is NaN, here 0",
    "as_strided_scatter": "PyTorch's gradient for self is that of the elements written over (its gradcheck fails)",
    "nn.functional.linear_cross_entropy.chunked": _PIECES,
    "nn.functional.linear_cross_entropy.chunked_none": _PIECES,
    "cov": "the gradient of float32 weights that cancel is 0: what is left is rounding, here as in PyTorch",
    "linalg.norm": "the second gradient at 0: PyTorch has NaN for some orders and 0 for others, as here for other ones",
    "broadcast_shapes": "script: the shapes of the call are tuples of no common type",
    "gradient": "script: a set in the library's own source",
    "nn.functional.threshold": "script: nn.functional._threshold, a private name",
    "histogramdd": "script: bins as a tuple of any length",
}
