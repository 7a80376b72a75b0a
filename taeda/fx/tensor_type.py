"""Types of tensors by their sizes, of which some may be unknown (``Dyn``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Dyn", "TensorType", "is_consistent", "is_more_precise"]


class _DynType:
    """The type of `Dyn`: nothing is known."""

    __name__ = "_DynType"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DynType)

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return "Dyn"

    __repr__ = __str__


Dyn = _DynType()


class TensorType:
    """A tensor's type: its sizes, numbers or `Dyn`."""

    def __init__(self, dim: Sequence[Any]) -> None:
        self.__origin__ = TensorType
        self.__args__ = dim

    def __repr__(self) -> str:
        return f"TensorType[{self.__args__}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and list(self.__args__) == list(other.__args__)

    __hash__ = object.__hash__

    @staticmethod
    def __class_getitem__(*args: Any) -> TensorType:
        return TensorType(args[0] if len(args) == 1 and isinstance(args[0], tuple) else args)


def is_consistent(t1: Any, t2: Any) -> bool:
    """Whether two types agree wherever both are known."""
    if t1 in (t2, Dyn) or t2 == Dyn:
        return True
    if not isinstance(t1, TensorType) or not isinstance(t2, TensorType):
        return False
    return len(t1.__args__) == len(t2.__args__) and all(map(is_consistent, t1.__args__, t2.__args__))


def is_more_precise(t1: Any, t2: Any) -> bool:
    """Whether ``t1`` says at least what ``t2`` does."""
    if t1 == t2 or t2 == Dyn:
        return True
    if not isinstance(t1, TensorType) or not isinstance(t2, TensorType):
        return False
    return len(t1.__args__) == len(t2.__args__) and all(map(is_more_precise, t1.__args__, t2.__args__))
