"""How the tensors of several processes become one."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from taeda import Tensor

__all__ = ["ReduceOp", "reduce_op", "supports_complex"]


class _RedOpType(IntEnum):
    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    def __eq__(self, other: object) -> bool:  # a ReduceOp equals its kind, and not the other way round
        return isinstance(other, int) and int(self) == int(other)

    def __hash__(self) -> int:
        return int(self)

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {int(self)}>"


_RedOpType.__qualname__, _RedOpType.__name__ = "ReduceOp.RedOpType", "RedOpType"


class _Meta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _RedOpType) or super().__instancecheck__(instance)


class ReduceOp(metaclass=_Meta):
    """A reduction: ``SUM``, ``AVG``, ``PRODUCT``, ``MIN``, ``MAX``, ``BAND``, ``BOR``, ``BXOR`` or ``PREMUL_SUM``."""

    RedOpType = _RedOpType
    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = _RedOpType

    def __init__(self, op: _RedOpType) -> None:
        self.op = _RedOpType(op)

    def __eq__(self, other: object) -> bool:
        return self.op == (other.op if type(other) is ReduceOp else other)

    def __hash__(self) -> int:
        return hash(self.op)

    def __reduce__(self) -> Any:
        return (ReduceOp, (self.op,)) if not hasattr(self, "factor") else (_make_nccl_premul_sum, (self.factor,))

    def __copy__(self) -> ReduceOp:
        return self

    def __deepcopy__(self, memo: Any) -> ReduceOp:
        return self


def _make_nccl_premul_sum(factor: float | Tensor) -> ReduceOp:
    """The sum of tensors that are multiplied by ``factor`` first."""
    op = ReduceOp(ReduceOp.PREMUL_SUM)
    op.factor = factor  # type: ignore[attr-defined]
    return op


def factor_of(op: Any) -> Any:
    """What tensors are multiplied by before they are summed; None for other reductions."""
    return getattr(op, "factor", None)


reduce_op = ReduceOp  # its old name

_BITWISE = (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)
_OF_COMPLEX = (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PREMUL_SUM)


def supports_complex(reduceOp: Any) -> bool:
    """Whether complex tensors can be reduced like that."""
    return getattr(reduceOp, "op", reduceOp) in _OF_COMPLEX


def checked(name: str, op: Any, tensor: Tensor) -> None:
    """Raises where ``tensor`` cannot be reduced by ``op``.

    Raises:
        TypeError: ``op`` is no reduction, or one that needs a factor.
        ValueError, RuntimeError: not for this dtype.
    """
    if not isinstance(op, ReduceOp) or (op == ReduceOp.PREMUL_SUM and factor_of(op) is None):
        raise TypeError(
            f"taeda.distributed.{name}: op is wanted as one of ReduceOp, or a PREMUL_SUM with its factor "
            f"(_make_nccl_premul_sum); got {op!r}"
        )
    if tensor.is_complex() and not supports_complex(op):
        kind = ValueError if name.startswith("all_reduce") else RuntimeError
        raise kind(f"taeda.distributed.{name}: {op} is not for complex tensors")
    integral = not (tensor.is_complex() or tensor.is_floating_point())
    if (getattr(op, "op", op) in _BITWISE and not integral) or (op == ReduceOp.AVG and integral):
        raise RuntimeError(f"taeda.distributed.{name}: {op} is not for {tensor.dtype}")
