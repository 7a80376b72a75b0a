"""Products of floats with weights of 8 or 4 bits, by the private names that programs of large models call."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f

_OPTIONS = {
    "shape": "dynamic", "files": "quantized/weight_only", "not_differentiable": True, "batch": "refused",
}  # fmt: skip


@kernel("_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor", **_OPTIONS,
        samples=[S(f(2, 3, dtype="float32"), f(4, 3, dtype="int8"), f(4, dtype="float32"))])  # fmt: skip
def _weight_int8pack_mm(self, mat2, scales):
    """``self @ (mat2 * scales).T``: self (m, k) floats, mat2 (n, k) int8, a scale for each of its rows."""


@kernel("_convert_weight_to_int4pack_for_cpu(Tensor self, int innerKTiles) -> Tensor", **_OPTIONS,
        samples=[S(f(16, 4, low=0, high=15, dtype="int32"), 2)])  # fmt: skip
def _convert_weight_to_int4pack_for_cpu(self, innerKTiles):
    """An int32 matrix (n, k) of numbers from 0 to 15 as bytes (n, k / 2), in the order in which products read them."""


@kernel(
    "_weight_int4pack_mm_for_cpu(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) -> Tensor",
    **_OPTIONS,
    samples=[S(f(2, 4, dtype="float32"), f(16, 2, low=0, high=200, dtype="uint8"), 2, f(2, 16, 2, dtype="float32"))],
)
def _weight_int4pack_mm_for_cpu(self, mat2, qGroupSize, qScaleAndZeros):
    """``self @ weights.T`` with packed weights ``(q - 8) * scale + zero``; ``qScaleAndZeros``, (k / qGroupSize, n, 2),
    holds both numbers for each group of columns and row."""


@composite("_weight_int4pack_mm(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) -> Tensor",
           not_differentiable=True, samples="_weight_int4pack_mm_for_cpu")  # fmt: skip
def _weight_int4pack_mm(self, mat2, qGroupSize, qScaleAndZeros):
    """``_weight_int4pack_mm_for_cpu``."""
    return op._weight_int4pack_mm_for_cpu(self, mat2, qGroupSize, qScaleAndZeros)


@composite("_convert_weight_to_int4pack(Tensor self, int innerKTiles) -> Tensor", not_differentiable=True,
           samples="_convert_weight_to_int4pack_for_cpu")  # fmt: skip
def _convert_weight_to_int4pack(self, innerKTiles):
    """``_convert_weight_to_int4pack_for_cpu``."""
    return op._convert_weight_to_int4pack_for_cpu(self, innerKTiles)
