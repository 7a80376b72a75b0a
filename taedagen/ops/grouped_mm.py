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
