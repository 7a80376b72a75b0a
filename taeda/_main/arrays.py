"""Operators whose left operand is a NumPy array."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

_UFUNCS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "floor_divide": "floor_divide", "remainder": "remainder",
    "pow": "power", "matmul": "matmul", "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
}  # fmt: skip


def operate(name: str, array: Any, tensor: Tensor) -> Any:
    """``array op tensor``, a tensor of the dtype that NumPy gives such a pair; ``array / tensor`` as PyTorch has it."""
    if name == "div":
        return tensor.reciprocal() * array
    import numpy

    return getattr(numpy, _UFUNCS[name])(array, tensor)
