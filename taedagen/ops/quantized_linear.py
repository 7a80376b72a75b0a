"""Linear layers of 8-bit integers: weights are packed once, sums are exact, results are rounded as PyTorch's."""

from taedagen.opdef import *

_PARAMS = "__torch__.torch.classes.quantized.LinearPackedParamsBase"


@kernel("quantized::_pack_matrix(Tensor weight) -> Tensor", shape="dynamic", files="quantized/linear",
        not_differentiable=True, batch="refused", samples=[])  # fmt: skip
def _pack_matrix(weight):
    """The bytes of an int8 matrix (n, k) as this machine multiplies it; empty where it takes it as it is."""


@kernel(
    "quantized::_matmul(Tensor x, Tensor weight, Tensor packed, int x_zero_point, Tensor sums, Tensor? zero_points, "
    "Tensor factors, Tensor? bias, ScalarType? dtype, int zero_point, bool relu) -> Tensor",
    shape="dynamic",
    files="quantized/linear",
    not_differentiable=True,
    batch="refused",
    samples=[],
)
def _matmul(x, weight, packed, x_zero_point, sums, zero_points, factors, bias, dtype, zero_point, relu):
    """The sums of x (m, k), 8-bit integers, with weight (n, k), each less its zero point, times the column's factor.

    float32 where ``dtype`` is None; uint8 or int8, rounded and shifted by ``zero_point``; int32 for the sums alone.
    ``sums`` are those of the weight's rows. A bias is added in the result's unit, or in that of the sums where the
    result is rounded."""


@composite(f"quantized::linear_prepack(Tensor W, Tensor? B=None) -> {_PARAMS} W_prepack", files="quantized/linear",
           samples=[])  # fmt: skip
def linear_prepack(*_):
    """A qint8 weight (out, in), per tensor or by its first dimension, and a float32 bias, ready for ``linear``."""


@composite(f"quantized::linear_prepack_fp16(Tensor W, Tensor? B=None) -> {_PARAMS} W_prepack", files="quantized/linear",
           samples=[])  # fmt: skip
def linear_prepack_fp16(*_):
    """A float32 weight, rounded to float16, for ``linear_dynamic_fp16``."""


@composite(f"quantized::linear_unpack({_PARAMS} W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
           files="quantized/linear", samples=[])  # fmt: skip
def linear_unpack(*_):
    """The weight and the bias that were packed."""


@composite(f"quantized::linear_unpack_fp16({_PARAMS} W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
           files="quantized/linear", samples=[])  # fmt: skip
def linear_unpack_fp16(*_):
    """The weight, as float32, and the bias that were packed."""


def _static(name, doc, more=""):
    take = composite(
        f"quantized::{name}(Tensor X, {_PARAMS} W_prepack, float Y_scale_i, int Y_zero_point_i{more}) -> Tensor Y",
        files="quantized/linear", samples=[],
    )  # fmt: skip
    take(defined(f'def {name}(*_):\n    """{doc}"""'))


_static("linear", "``X @ W.T + B`` of a quantised X, quantised with the given scale and zero point.")
_static("linear_relu", "``linear`` whose negative results are 0.")
_static("linear_leaky_relu", "``linear``, its negative results times ``negative_slope``.", ", float negative_slope")
_static("linear_tanh", "The ``tanh`` of ``linear``.")


def _dynamic(name, doc, more=", bool reduce_range=False"):
    take = composite(f"quantized::{name}(Tensor X, {_PARAMS} W_prepack{more}) -> Tensor Y", files="quantized/linear",
                     samples=[])  # fmt: skip
    take(defined(f'def {name}(*_):\n    """{doc}"""'))


_dynamic("linear_dynamic", "``X @ W.T + B`` of a float32 X that is quantised on the way; the result is float32.")
_dynamic("linear_relu_dynamic", "``linear_dynamic`` whose negative results are 0.")
_dynamic("linear_dynamic_fp16", "``X @ W.T + B`` of a float32 X with a weight that was rounded to float16.", "")
_dynamic("linear_relu_dynamic_fp16", "``linear_dynamic_fp16`` whose negative results are 0.", "")


@composite("quantized::linear_dynamic_fp16_unpacked_weight(Tensor X, Tensor weight, Tensor? bias) -> Tensor Y",
           files="quantized/linear", samples=[])  # fmt: skip
def linear_dynamic_fp16_unpacked_weight(*_):
    """``linear_dynamic_fp16`` with a weight that is packed for this call."""


@composite(
    f"quantized::linear_with_input_q_dq_qweight_dq_output_fp32(Tensor X, float X_scale, int X_zero_point, {_PARAMS} "
    "W_prepack) -> Tensor Y",
    files="quantized/linear",
    samples=[],
)
def linear_with_input_q_dq_qweight_dq_output_fp32(*_):
    """A float32 X, quantised with the given scale and zero point, by a quantised weight; the result is float32."""


@composite(
    "quantized::linear_with_input_q_dq_qweight_dq_relu_output_fp32(Tensor X, float X_scale, int X_zero_point, "
    f"{_PARAMS} W_prepack) -> Tensor Y",
    files="quantized/linear",
    samples=[],
)
def linear_with_input_q_dq_qweight_dq_relu_output_fp32(*_):
    """The same, with negative results 0."""
