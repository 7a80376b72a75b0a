"""Which value stands in which register. Ints, floats and bools have registers of their own."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from taeda.jit.ir import Value

_NUMBERS = {"IntType": "i", "FloatType": "f", "BoolType": "b"}


class Register(NamedTuple):
    """``v3``, ``i0``; ``p2`` and ``k1`` are a number and a value that do not change."""

    letter: str
    place: int


def letter_of(value: Value) -> str:
    """The letter of the register that a value needs: i, f and b for numbers, v for all else."""
    return _NUMBERS.get(value.static_type.kind(), "v")


class _File:
    def __init__(self) -> None:
        self.count = 0
        self.free: list[int] = []

    def take(self) -> int:
        if self.free:
            return heapq.heappop(self.free)
        self.count += 1
        return self.count - 1

    def give_back(self, index: int) -> None:
        heapq.heappush(self.free, index)


class Registers:
    """The registers of one function, as values come and go.

    A *reserved* one is where a branch or a round of a loop leaves a value. It is nobody else's meanwhile, but the value
    that it is meant for (``hints``) may be made in it, once what stood there is not used any more.
    """

    def __init__(self) -> None:
        self.values, self.numbers = _File(), _File()
        self.of: dict[Value, Register] = {}
        self.hints: dict[Value, Register] = {}
        self._idle: dict[tuple[bool, int], bool] = {}  # of reserved ones

    def _file(self, letter: str) -> _File:
        return self.values if letter == "v" else self.numbers

    def take(self, value: Value) -> Register:
        """A register for a value from now on."""
        letter = letter_of(value)
        hint = self.hints.get(value)
        if hint is not None and _key(hint)[0] == (letter == "v") and self._idle.get(_key(hint)):
            self._idle[_key(hint)] = False
            self.of[value] = Register(letter, hint.place)
        else:
            self.of[value] = Register(letter, self._file(letter).take())
        return self.of[value]

    def spare(self, letter: str) -> Register:
        """A register for an intermediate result; whoever takes it gives it back."""
        return Register(letter, self._file(letter).take())

    def release(self, register: Register) -> None:
        """Gives a register back."""
        if _key(register) in self._idle:
            self._idle[_key(register)] = True
        else:
            self._file(register.letter).give_back(register.place)

    def drop(self, value: Value) -> None:
        """The value is not used any more."""
        self.release(self.of[value])

    def reserve(self, register: Register, idle: bool) -> None:
        """Keeps a register that was taken; ``idle``: nothing stands there as yet."""
        self._idle[_key(register)] = idle

    def claim(self, value: Value, register: Register) -> None:
        """What was reserved is the value's from now on."""
        self._idle.pop(_key(register), None)
        self.of[value] = Register(letter_of(value), register.place)

    def free_reserved(self, register: Register) -> None:
        """What was reserved is free again."""
        del self._idle[_key(register)]
        self.release(register)

    def state(self) -> tuple[Any, ...]:
        """What is free, to come back to at the beginning of another branch."""
        return list(self.values.free), list(self.numbers.free), self.counts(), dict(self._idle)

    def restore(self, state: tuple[Any, ...]) -> None:
        """Goes back to a state; what was made since is free."""
        values, numbers, counts, self._idle = state
        for file, free, count in zip((self.values, self.numbers), (values, numbers), counts, strict=True):
            file.free = [*free, *range(count, file.count)]
            heapq.heapify(file.free)

    def counts(self) -> tuple[int, int]:
        """How many registers there are of each kind."""
        return self.values.count, self.numbers.count


def _key(register: Register) -> tuple[bool, int]:
    return register.letter == "v", register.place
