"""Ops on plain tensors of integers, as compiled graphs call them, beside the same numbers as floats."""

import pytest

import taeda as torch
from taeda.nn import functional as F

OPS, WRAPPED = torch.ops.onednn, torch.ops._quantized
X_SCALE, X_ZERO, SCALE, ZERO = 0.25, 3, 0.5, 2
AFTER = {
    "none": ((), "", lambda y: y),
    "relu": ((), "", torch.relu),
    "tanh": ((), "", torch.tanh),
    "gelu": ((), "tanh", lambda y: F.gelu(y, approximate="tanh")),
    "leaky_relu": ((0.1,), "", lambda y: F.leaky_relu(y, 0.1)),
    "hardtanh": ((-2.0, 3.0), "", lambda y: y.clamp(-2, 3)),
    "hardswish": ((), "", F.hardswish),
    "swish": ((), "", F.silu),
}


def integers(*shape, low=0, high=8, dtype=torch.uint8):
    return torch.randint(low, high, shape, dtype=dtype)


def rounded(y):
    return (y / SCALE).round().add(ZERO).clamp(0, 255).to(torch.uint8)


def weights(*shape, by_channel=True):
    """Integers, their scales and zero points, and the floats that they stand for."""
    w = integers(*shape, low=-8, dtype=torch.int8)
    scales = torch.linspace(0.1, 0.4, shape[0]) if by_channel else torch.tensor(0.2)
    zeros = torch.arange(shape[0]) % 2 if by_channel else torch.tensor(0)
    spread = (-1, *[1] * (len(shape) - 1))
    return w, scales, zeros, (w.float() - zeros.reshape(spread)) * scales.reshape(spread)


@pytest.mark.parametrize("name", AFTER)
@pytest.mark.parametrize("by_channel", [True, False])
def test_linear(name, by_channel):
    numbers, how, function = AFTER[name]
    x, bias = integers(2, 3, 4), torch.randn(5)
    w, scales, zeros, floats = weights(5, 4, by_channel=by_channel)
    plain = function(F.linear((x.float() - X_ZERO) * X_SCALE, floats, bias))
    call = lambda dtype: OPS.qlinear_pointwise(
        x, X_SCALE, X_ZERO, OPS.qlinear_prepack(w, None), scales, zeros, bias, SCALE, ZERO, dtype, name, numbers, how
    )
    torch.testing.assert_close(call(torch.float32), plain)
    torch.testing.assert_close(call(torch.bfloat16), plain.bfloat16())
    torch.testing.assert_close(call(None), rounded(plain), atol=1, rtol=0)


def test_linear_with_another_tensor():
    x, other = integers(3, 4), integers(3, 5)
    w, scales, zeros, floats = weights(5, 4)
    plain = F.linear((x.float() - X_ZERO) * X_SCALE, floats) + (other.float() - 1) * 0.5
    numbers = (torch.tensor(X_SCALE), torch.tensor(X_ZERO))
    got = OPS.qlinear_pointwise.binary_tensor(
        x, *numbers, w, scales, zeros, other, None, SCALE, ZERO, torch.float32, 0.5, 1, "sum", 1.0, "relu", [], ""
    )
    torch.testing.assert_close(got, plain.relu())


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2])
def test_conv(rank, groups):
    x, bias = integers(2, 4, *[6] * rank), torch.randn(6)
    w, scales, zeros, floats = weights(6, 4 // groups, *[3] * rank)
    sizes = ([2] * rank, [1] * rank, [1] * rank, groups)
    conv = getattr(F, f"conv{rank}d")
    plain = conv((x.float() - X_ZERO) * X_SCALE, floats, bias, *sizes).relu()
    packed = OPS.qconv_prepack(w, scales, X_SCALE, X_ZERO, *sizes)
    for op in (OPS.qconv_pointwise, getattr(OPS, f"qconv{rank}d_pointwise")):
        call = lambda dtype, op=op: op(
            x, X_SCALE, X_ZERO, packed, scales, zeros, bias, *sizes, SCALE, ZERO, dtype, "relu", [], ""
        )
        torch.testing.assert_close(call(torch.float32), plain)
        torch.testing.assert_close(call(None), rounded(plain), atol=1, rtol=0)


def test_conv_sums_in_place():
    x, total = integers(1, 2, 4, 4), torch.randn(1, 3, 4, 4)
    w, scales, zeros, floats = weights(3, 2, 1, 1)
    plain = F.conv2d((x.float() - X_ZERO) * X_SCALE, floats) + total
    sizes = ([1, 1], [0, 0], [1, 1], 1)
    got = OPS.qconv2d_pointwise.binary(
        x, X_SCALE, X_ZERO, w, scales, zeros, total, None, *sizes, 1.0, 0, torch.float32, 1.0, 0, "sum", 1.0, None, [],
        None,
    )  # fmt: skip
    torch.testing.assert_close(got, plain)
    torch.testing.assert_close(total, plain)


def test_what_may_follow():
    w, scales, zeros, _ = weights(2, 2)
    with pytest.raises(RuntimeError, match="one of none, relu"):
        OPS.qlinear_pointwise(integers(1, 2), 1.0, 0, w, scales, zeros, None, 1.0, 0, None, "softmax", [], "")


def test_wrapped_linear():
    x, w, bias = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5)
    by = [torch.tensor(v) for v in (0.1, 3)]
    packed = WRAPPED._wrapped_linear_prepack(w, *by, bias)
    got = WRAPPED._wrapped_quantized_linear_prepacked(x, *by, packed, *by, 5)
    weight = torch.ops.quantized.linear_prepack(torch.quantize_per_tensor(w, 0.1, 3, torch.qint8), bias)
    wanted = torch.ops.quantized.linear(torch.quantize_per_tensor(x, 0.1, 3, torch.quint8), weight, 0.1, 3)
    assert got.equal(wanted.dequantize())
    assert got.equal(WRAPPED.wrapped_quantized_linear(x, *by, w, *by, bias, *by, 5))
    half = WRAPPED.wrapped_fbgemm_pack_gemm_matrix_fp16(w)
    assert WRAPPED.wrapped_fbgemm_linear_fp16_weight(x, half, bias, 5).equal(F.linear(x, w.half().float(), bias))


def test_linear_of_halves():
    x, w, bias = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5)
    packed, plain = OPS.linear_prepack_fp16(w, x.shape), F.linear(x, w.half().float(), bias)
    assert OPS.linear_dynamic_fp16(x, packed, bias).equal(plain)
    assert OPS.linear_relu_dynamic_fp16(x, packed, bias).equal(plain.relu())
