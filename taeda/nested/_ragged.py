"""The size of a dimension whose length differs by component."""

from __future__ import annotations

import itertools
from typing import Any

from taeda import Tensor
from taeda._schema.symbols import SymInt, SymNode

_numbers = itertools.count(1)


class RaggedSize(SymInt):
    """``j1``, ``j2``, …: the lengths of one set of offsets. Equal to itself only; times a number it is another such.

    ``hint`` is how many rows all components have together.
    """

    __slots__ = ("factor", "number")

    def __init__(self, number: int, rows: int, factor: int = 1) -> None:
        name = f"j{number}" if factor == 1 else f"{factor}*j{number}"
        super().__init__(SymNode(rows * factor, "size", (), None, name))
        self.number, self.factor = number, factor

    def __eq__(self, other: object) -> bool:  # type: ignore[override]
        return isinstance(other, RaggedSize) and (self.number, self.factor) == (other.number, other.factor)

    def __ne__(self, other: object) -> bool:  # type: ignore[override]
        return not self == other

    def __hash__(self) -> int:
        return hash((self.number, self.factor))

    def __mul__(self, other: Any) -> Any:
        return RaggedSize(self.number, int(self.node.hint) // self.factor, self.factor * int(other))

    __rmul__ = __mul__

    def _compare(self, other: Any, outcome: bool, known: int = 2) -> bool:
        if isinstance(other, RaggedSize) and other.number == self.number:
            return (self.factor > other.factor) == outcome
        if isinstance(other, int) and other <= known:
            return outcome
        raise ValueError(f"taeda.nested: {self} is no single number, and may be more than {other} or less")

    # It stands for lengths of which one, at least, may be anything from 2 on: size checks ask for 0 and 1 only.
    def __ge__(self, other: Any) -> bool:  # type: ignore[override]
        return True if self == other else self._compare(other, True)

    def __gt__(self, other: Any) -> bool:  # type: ignore[override]
        return False if self == other else self._compare(other, True, 1)

    def __le__(self, other: Any) -> bool:  # type: ignore[override]
        return True if self == other else self._compare(other, False, 1)

    def __lt__(self, other: Any) -> bool:  # type: ignore[override]
        return False if self == other else self._compare(other, False)

    def __index__(self) -> int:
        raise RuntimeError(
            f"taeda.nested: {self} is no single number: each component has a length of its own; offsets() tells them"
        )

    __int__ = __index__


# One size for the tensors that share their offsets, found by the offsets' identity, which the entry keeps.
_known: dict[int, tuple[Any, RaggedSize]] = {}


def size_of(offsets: Tensor, rows: int) -> RaggedSize:
    """The size that all tensors over these offsets have in common."""
    import weakref

    entry = _known.get(id(offsets))
    if entry is not None and entry[0]() is offsets:
        return entry[1]
    key, size = id(offsets), RaggedSize(next(_numbers), rows)
    _known[key] = weakref.ref(offsets, lambda _: _known.pop(key, None)), size
    return size
