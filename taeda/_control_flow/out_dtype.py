"""Ops whose results have another dtype than their operands, as products of bytes that are summed in 32 bits."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._control_flow.higher_order import HigherOrderOperator

__all__ = ["out_dtype"]

_OPS = {"linear", "mm", "conv2d", "convolution", "mul.Tensor", "mul.Scalar", "div.Tensor", "div.Scalar"}


def _out_dtype(op: Any, output_dtype: Any, *args: Any) -> Tensor:
    """``op(*args)``, computed in the wider of its operands' dtype and ``output_dtype``, which the result has.

    Args:
        op: one of ``taeda.ops.aten``'s ``linear``, ``mm``, ``conv2d``, ``convolution``, ``mul`` and ``div``.
        output_dtype: the dtype of the result.
        args: the op's.

    Raises:
        ValueError: another op, no dtype.
    """
    name = op.name() if hasattr(op, "_schema") else ""
    if name.removeprefix("aten::") not in _OPS:
        raise ValueError(f"taeda.out_dtype: the op must be an overload of aten, one of {sorted(_OPS)}; got {op!r}")
    if not isinstance(output_dtype, taeda.dtype):
        raise ValueError(f"taeda.out_dtype: output_dtype must be a dtype; got {output_dtype!r}")
    both_bytes = all(isinstance(a, Tensor) and a.dtype == taeda.int8 for a in args)
    if name == "aten::mm" and output_dtype == taeda.int32 and both_bytes:
        return taeda._int_mm(*args)

    def wide(x: Any) -> Any:
        return x.to(taeda.promote_types(x.dtype, output_dtype)) if isinstance(x, Tensor) else x

    result: Tensor = op(*map(wide, args))
    return result.to(output_dtype)


out_dtype = HigherOrderOperator("out_dtype", _out_dtype)
