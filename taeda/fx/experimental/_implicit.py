"""Which ops stand in a graph of ops below autograd by their parts, as PyTorch's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda._library.ops import OpOverload

aten: Any = taeda.ops.aten


def _linear(input: Any, weight: Any, bias: Any = None) -> Any:
    transposed = aten.t.default(weight)
    if bias is None:
        return aten.mm.default(input, transposed) if input.dim() == 2 else aten.matmul.default(input, transposed)
    if input.dim() == 2:
        return aten.addmm.default(bias, input, transposed)
    rows = (
        aten.view.default(input, [-1, input.size(-1)]) if input.is_contiguous() else input.reshape(-1, input.size(-1))
    )
    product = aten.addmm.default(bias, rows, transposed)
    return aten.view.default(product, [*input.shape[:-1], weight.size(0)])


def _convolution(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    rank = weight.dim() - 2
    if len(output_padding) == len(stride) == rank:
        return NotImplemented
    lists = [list(x) * (rank if len(x) == 1 else 1) for x in (stride, padding, dilation, output_padding)]
    args = input, weight, bias, *lists[:3], transposed, lists[3], groups
    return aten.convolution.default(*args)


_PARTS: dict[str, Callable[..., Any]] = {"linear": _linear, "convolution": _convolution}


def parts_of(op: OpOverload) -> Callable[..., Any] | None:
    """A function of tensors that an op is recorded as; None for those that are recorded whole."""
    return _PARTS.get(op._opname) if op.namespace == "aten" else None
