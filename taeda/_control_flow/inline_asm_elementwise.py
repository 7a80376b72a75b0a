"""Instructions of a GPU for each element, which need a GPU."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._control_flow.higher_order import HigherOrderOperator

__all__ = ["inline_asm_elementwise"]


def _inline_asm_elementwise(
    *inputs: Tensor, asm_str: str, constraints: str, dtype: Any, is_pure: bool = True, pack: int = 1
) -> Tensor:
    """Refuses, as there is no device here that has such instructions.

    Raises:
        RuntimeError: the operands are on the CPU.
    """
    devices = ", ".join(sorted({str(x.device) for x in inputs})) or "none"
    raise RuntimeError(f"taeda.inline_asm_elementwise: operands must be on a CUDA device; got {devices}")


inline_asm_elementwise = HigherOrderOperator("inline_asm_elementwise", _inline_asm_elementwise)
