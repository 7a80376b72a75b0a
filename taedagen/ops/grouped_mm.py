"""Several matrix products in one call."""

from taedagen.opdef import *
from taedagen.opdef.samples import Name, S, f, v


@composite(
    "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor",
    files="grouped_mm",
)
def _grouped_mm(self, mat2, offs, bias, out_dtype):
    """The products of groups of matrices: ``bmm`` of two 3-d tensors, or slices of a 2-d one that end at ``offs``.

    With ``self`` 2-d its rows are cut, with ``mat2`` 2-d its columns, with both the dimension that is summed over.
    """


_grouped_mm.samples([
    S(f(*left, dtype="float32"), f(*right, dtype="float32"), *offs)
    for left, right, offs in (
        ((8, 4), (2, 4, 8), [v([3, 8], "int32")]), ((2, 8, 4), (2, 4, 8), []),
        ((2, 8, 4), (4, 8), [v([4, 8], "int32")]), ((2, 8, 4), (4, 8), []),
        ((8, 8), (8, 4), [v([4, 8], "int32")]), ((8, 3), (2, 3, 8), []),
    )
])  # fmt: skip


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


_scaled_mm.samples([
    S(f(16, 32, dtype="float8_e4m3fn"), f(32, 16, dtype="float8_e4m3fn"), f(*rows, dtype="float32"),
      f(*columns, dtype="float32"), bias, None, kind)
    for rows, columns, bias, kind in (
        ((), (), None, Name("bfloat16")), ((1,), (1, 1), None, None), ((16, 1), (1, 16), None, Name("float32")),
        ((), (), f(16, dtype="bfloat16"), Name("bfloat16")),
    )
])  # fmt: skip
