"""Products of matrices."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.onnx.reader.table import op


@op("Gemm")
def gemm(a: Tensor, b: Tensor, c: Tensor | None = None, *, alpha: float = 1.0, beta: float = 1.0, transA: int = 0,
         transB: int = 0, **_: Any) -> Tensor:  # fmt: skip
    a, b = a.t() if transA else a, b.t() if transB else b
    if c is not None and a.is_floating_point():
        return taeda.addmm(c, a, b, beta=beta, alpha=alpha)
    result = a @ b if alpha == 1 else (alpha * (a @ b)).to(a.dtype)
    return result if c is None else result + (c if beta == 1 else (beta * c).to(c.dtype))


@op("Einsum")
def einsum(*tensors: Tensor, equation: str) -> Tensor:
    return taeda.einsum(equation, *tensors)


@op("MatMulInteger")
def matmul_integer(a: Tensor, b: Tensor, a_zero: Tensor | None = None, b_zero: Tensor | None = None) -> Tensor:
    wide_a, wide_b = a.to(taeda.int32), b.to(taeda.int32)
    if a_zero is not None:
        zero = a_zero.to(taeda.int32)
        wide_a = wide_a - (zero.reshape(-1, 1) if zero.dim() == 1 and zero.numel() > 1 else zero)
    if b_zero is not None:
        wide_b = wide_b - b_zero.to(taeda.int32)
    return wide_a @ wide_b
