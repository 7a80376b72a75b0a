"""Several matrix products in one call."""

from taedagen.opdef import *


@composite(
    "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor",
    files="grouped_mm",
)
def _grouped_mm(self, mat2, offs, bias, out_dtype):
    """The products of groups of matrices: ``bmm`` of two 3-d tensors, or slices of a 2-d one that end at ``offs``.

    With ``self`` 2-d its rows are cut, with ``mat2`` 2-d its columns, with both the dimension that is summed over.
    """


@composite(
    "_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor? "
    "scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor",
    variants="function out",
    files="grouped_mm",
    dtypes=(),
)
def _scaled_mm(self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum):
    """The product of two matrices of 8-bit floats that were divided by float32 scales, one number each or one per row
    of ``self`` and per column of ``mat2``; an 8-bit result is divided by ``scale_result``."""
