"""Products of 8-bit integers whose sums are the result."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@kernel("_int_mm(Tensor self, Tensor mat2) -> Tensor", variants="function out", out="same", shape="int_mm",
        files="quantized/product", not_differentiable=True, batch="one_by_one",
        samples=[S(f(2, 3, dtype="int8"), f(3, 4, dtype="int8")), S(f(5, 17, dtype="uint8"), f(17, 4, dtype="int8")),
                 S(f(2, 0, dtype="int8"), f(0, 4, dtype="int8"))])  # fmt: skip
def _int_mm(self, mat2):
    """The int32 product of an int8 or uint8 matrix and an int8 matrix, (n, k) and (k, m)."""
