"""Quantised tensors: integers with a scale and a zero point, for the whole tensor or by channel."""

from taedagen.opdef import *
from taedagen.opdef.samples import Name, S, f, v

# --- quantising


@kernel(
    "quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) -> Tensor",
    shape="dynamic",
    files="quantized/quantize",
    not_differentiable=True,
    batch="refused",
    samples=[S(f(2, 3, dtype="float32"), 0.1, 3, Name("quint8"))],
)
def quantize_per_tensor(self, scale, zero_point, dtype):
    """The nearest of ``(q - zero_point) * scale`` for each float32 element, with q in the range of ``dtype``: qint8,
    quint8 or qint32. Ties go to the even integer, NaN to the largest of the small dtypes. RuntimeError for another
    dtype of ``self``, and for a zero point outside the range."""


@composite(
    "quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, ScalarType dtype) -> Tensor",
    files="quantized/create",
    not_differentiable=True,
    samples=[S(f(2, 3, dtype="float32"), v(0.1, "float32"), v(3), Name("quint8"))],
)
def quantize_per_tensor_by_tensors(self, scale, zero_point, dtype):
    """The same with both numbers in tensors of one element."""


@composite(
    "quantize_per_tensor.tensors(Tensor[] tensors, Tensor scales, Tensor zero_points, ScalarType dtype) -> Tensor[]",
    files="quantized/create",
    not_differentiable=True,
    samples=[S([f(2, 3, dtype="float32"), f(2, dtype="float32")], v([0.1, 0.2], "float32"), v([0, 1]), Name("quint8"))],
)
def quantize_per_tensor_each(tensors, scales, zero_points, dtype):
    """Each tensor with its own scale and zero point."""


@composite(
    "quantize_per_tensor_dynamic(Tensor self, ScalarType dtype, bool reduce_range) -> Tensor",
    files="quantized/create",
    not_differentiable=True,
    samples=[S(f(2, 3, dtype="float32"), Name("quint8"), False)],
)
def quantize_per_tensor_dynamic(self, dtype, reduce_range):
    """Quantised with the scale and zero point that its smallest and largest element ask for; ``reduce_range`` keeps to
    the lower half of the integers, whose products no processor overflows."""


@kernel(
    "quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, int axis, ScalarType dtype) -> Tensor",
    shape="dynamic",
    files="quantized/quantize",
    not_differentiable=True,
    batch="refused",
    samples=[S(f(2, 3, dtype="float32"), v([0.1, 0.2], "float32"), v([0, 1]), 0, Name("qint8"))],
)
def quantize_per_channel(self, scales, zero_points, axis, dtype):
    """As ``quantize_per_tensor`` with a scale and a zero point for each index along ``axis``. Zero points that are
    floats are kept so (embeddings use it): ``q = value / scale + zero_point``. quint4x2 and quint2x4 hold two and four
    elements in a byte."""


@kernel(
    "dequantize.self(Tensor self) -> Tensor",
    variants="function method",
    any_device=True,
    files="quantized",
    not_differentiable=True,
    batch="refused",
    samples=[S(f(2, 3))],
)
def dequantize(self):
    """``(q - zero_point) * scale`` as float32; a plain tensor as float32."""


@dequantize.kernel("QuantizedCPU", files="quantize")
def _(self):
    """As above."""


@composite("dequantize.tensors(Tensor[] tensors) -> Tensor[]", not_differentiable=True, samples=[S([f(2), f(3)])])
def dequantize_each(tensors):
    """Each of them dequantised."""
    return [op.dequantize(t) for t in tensors]


# --- made of integers


@composite(
    "_make_per_tensor_quantized_tensor(Tensor self, float scale, int zero_point) -> Tensor",
    files="quantized/create",
    not_differentiable=True,
    samples=[S(f(2, 3, dtype="uint8"), 0.1, 3)],
)
def _make_per_tensor_quantized_tensor(self, scale, zero_point):
    """Of a copy of the integers in ``self`` (int8, uint8 or int32)."""


@composite(
    "_make_per_channel_quantized_tensor(Tensor self, Tensor scale, Tensor zero_point, int axis) -> Tensor",
    files="quantized/create",
    not_differentiable=True,
    samples=[S(f(2, 3, dtype="uint8"), v([0.1, 0.2], "float32"), v([0, 1]), 0)],
)
def _make_per_channel_quantized_tensor(self, scale, zero_point, axis):
    """The same by channel."""


@composite(
    "_as_quantized(Tensor(a) self, ScalarType dtype, float scale, int zero_point) -> Tensor(a)",
    files="quantized/create",
    not_differentiable=True,
    samples=[S(f(2, 3, dtype="uint8"), Name("quint8"), 0.1, 3)],
)
def _as_quantized(self, dtype, scale, zero_point):
    """The integers of ``self``, in the same memory, as the elements of a quantised tensor."""


@composite(
    "_as_quantized.per_channel(Tensor(a) self, ScalarType dtype, Tensor scales, Tensor zero_points, int axis) "
    "-> Tensor(a)",
    files="quantized/create",
    not_differentiable=True,
    samples=[S(f(2, 3, dtype="uint8"), Name("quint8"), v([0.1, 0.2], "float32"), v([0, 1]), 0)],
)
def _as_quantized_per_channel(self, dtype, scales, zero_points, axis):
    """The same by channel."""


@composite(
    "_as_quantized.like(Tensor(a) self, Tensor other) -> Tensor(a)",
    files="quantized/create",
    not_differentiable=True,
)
def _as_quantized_like(self, other):
    """The same with the dtype, scale and zero point of ``other``, which must have one for the whole tensor."""


@composite(
    "_empty_affine_quantized(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, float scale=1, int zero_point=0, MemoryFormat? memory_format=contiguous_format) -> Tensor",
    files="quantized/create",
    not_differentiable=True,
    samples=[S([2, 3], dtype=Name("quint8"), scale=0.5)],
)
def _empty_affine_quantized(size, dtype, layout, device, pin_memory, scale, zero_point, memory_format):
    """A quantised tensor whose integers are not initialised."""


@composite(
    "_empty_per_channel_affine_quantized(SymInt[] size, *, Tensor scales, Tensor zero_points, int axis, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=contiguous_format) -> Tensor",
    files="quantized/create",
    not_differentiable=True,
    samples=[S([2, 3], scales=v([0.1, 0.2], "float32"), zero_points=v([0, 1]), axis=0, dtype=Name("quint8"))],
)
def _empty_per_channel_affine_quantized(
    size, scales, zero_points, axis, dtype, layout, device, pin_memory, memory_format
):
    """The same by channel."""


@composite(
    "empty_quantized(int[] size, Tensor qtensor, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    files="quantized/create",
    not_differentiable=True,
)
def empty_quantized(size, qtensor, dtype, layout, device, pin_memory, memory_format):
    """Not initialised, with the scale and zero point of ``qtensor``, and its dtype if no other is given."""


# --- asking


@composite("int_repr(Tensor self) -> Tensor", variants="function method", files="quantized/facts",
           not_differentiable=True)  # fmt: skip
def int_repr(self):
    """A copy of the integers; of dtypes that share bytes, the bytes in a row."""


@composite("_integers(Tensor(a) self) -> Tensor(a)", files="quantized/facts", not_differentiable=True)
def _integers(self):
    """The integers in the tensor's own memory."""


@composite("q_scale(Tensor self) -> float", variants="function method", files="quantized/facts",
           not_differentiable=True)  # fmt: skip
def q_scale(self):
    """The scale of the whole tensor; RuntimeError where there is one by channel."""


@composite("q_zero_point(Tensor self) -> int", variants="function method", files="quantized/facts",
           not_differentiable=True)  # fmt: skip
def q_zero_point(self):
    """The integer that stands for 0; RuntimeError where there is one by channel."""


@composite("q_per_channel_scales(Tensor self) -> Tensor", variants="function method", files="quantized/facts",
           not_differentiable=True)  # fmt: skip
def q_per_channel_scales(self):
    """The scale for each index along ``q_per_channel_axis``: float64, or float32 beside float zero points."""


@composite("q_per_channel_zero_points(Tensor self) -> Tensor", variants="function method", files="quantized/facts",
           not_differentiable=True)  # fmt: skip
def q_per_channel_zero_points(self):
    """The zero point for each index along ``q_per_channel_axis``: int64, or float32."""


@composite("q_per_channel_axis(Tensor self) -> int", variants="function method", files="quantized/facts",
           not_differentiable=True)  # fmt: skip
def q_per_channel_axis(self):
    """The dimension along which scales differ."""


@composite("_qscheme(Tensor self) -> int", files="quantized/facts", not_differentiable=True)
def _qscheme(self):
    """The number of ``taeda.qscheme`` in PyTorch's enumeration."""
