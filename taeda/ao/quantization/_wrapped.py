"""The ops ``_quantized::wrapped_*``: a linear layer of floats whose product is one of 8-bit integers, or whose weight
is kept as float16.

A prepacked weight is a plain tensor of bytes: of each row the integers, the bias, the scale and the zero point.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.library import Library

_library = Library("_quantized", "FRAGMENT")
_BY = "Tensor {0}_scale, Tensor {0}_zero_point, "
_OUT = _BY.format("output") + "int out_channel) -> Tensor Y"
_TAIL = 4 + 8 + 8  # bytes of a float32 and two numbers of 64 bits


def _define(schema: str, function: Any) -> None:
    _library.define(schema)
    _library.impl(schema.partition("(")[0], function, "CompositeExplicitAutograd")


def _quantized(x: Tensor, scale: Tensor, zero_point: Tensor, dtype: Any) -> Tensor:
    return taeda.quantize_per_tensor(x, scale.item(), int(zero_point), dtype)


def _prepack(weight: Tensor, scale: Tensor, zero_point: Tensor, bias: Tensor) -> Tensor:
    q = _quantized(weight, scale, zero_point, taeda.qint8)
    rows = weight.size(0)
    numbers = [
        bias.to(taeda.float32),
        taeda.full((rows,), q.q_scale(), dtype=taeda.float64),
        taeda.full((rows,), q.q_zero_point(), dtype=taeda.int64),
    ]
    return taeda.cat([q.int_repr().view(taeda.uint8), *(n.reshape(-1, 1).view(taeda.uint8) for n in numbers)], 1)


def _with_prepacked(x: Tensor, scale: Tensor, zero_point: Tensor, packed: Tensor, out_scale: Tensor, out_zero: Tensor,
                    out_channel: int) -> Tensor:  # fmt: skip
    integers, *parts = packed.split([packed.size(1) - _TAIL, 4, 8, 8], 1)
    dtypes = (taeda.float32, taeda.float64, taeda.int64)
    bias, scales, zeros = (part.contiguous().view(dtype)[:, 0] for part, dtype in zip(parts, dtypes, strict=True))
    weight = taeda._make_per_tensor_quantized_tensor(
        integers.contiguous().view(taeda.int8), scales[0].item(), int(zeros[0])
    )
    ops = taeda.ops.quantized
    q = _quantized(x, scale, zero_point, taeda.quint8)
    made = ops.linear(q, ops.linear_prepack(weight, bias), out_scale.item(), int(out_zero))
    return made.dequantize()  # type: ignore[no-any-return]


def _with_half(x: Tensor, weight: Tensor, bias: Tensor, out_channel: int) -> Tensor:
    return taeda.nn.functional.linear(x, weight.to(taeda.float32), bias)


def _whole(x: Tensor, scale: Tensor, zero_point: Tensor, weight: Tensor, w_scale: Tensor, w_zero: Tensor, bias: Tensor,
           *result: Any) -> Tensor:  # fmt: skip
    return _with_prepacked(x, scale, zero_point, _prepack(weight, w_scale, w_zero, bias), *result)


_X, _W = f"Tensor X, {_BY.format('X')}", f"Tensor W, {_BY.format('W')}Tensor B"
_define(f"wrapped_quantized_linear({_X}{_W}, {_OUT}", _whole)
_define(f"_wrapped_linear_prepack({_W}) -> Tensor", _prepack)
_define(f"_wrapped_quantized_linear_prepacked({_X}Tensor W_prepack, {_OUT}", _with_prepacked)
_define("wrapped_fbgemm_pack_gemm_matrix_fp16(Tensor W) -> Tensor", lambda weight: weight.to(taeda.float16))
_define("wrapped_fbgemm_linear_fp16_weight(Tensor X, Tensor W, Tensor B, int out_channel) -> Tensor", _with_half)
