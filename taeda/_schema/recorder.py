"""Who wants the sizes of a program as values sets a recorder: tracing, export, the compiler.

Within ``with recorder:`` the sizes that this thread's program reads are symbols, and the recorder is told of the
operations on them, of the ways that the program took because of them, and of the ops that were given them.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from taeda import _C
from taeda._schema.symbols import SymNode, symbol_of

if TYPE_CHECKING:
    from taeda import Tensor


class Guard(NamedTuple):
    """A way that the program took: at ``file:line`` the condition was ``value``."""

    condition: SymNode
    value: bool
    file: str
    line: int

    def __str__(self) -> str:
        text = self.condition.expr
        return f"{text if self.value else f'not ({text})'}  # {self.file}:{self.line}"


@dataclass(frozen=True)
class Use:
    """An op that was given symbols: (parameter, position in its list or None, symbol) of each."""

    op: Any
    arguments: list[tuple[str, int | None, Any]]


class SizeRecorder:
    """Collects what a program does with sizes; subclasses build graphs from it.

    The recorder of a thread is not told of what happens in its own methods, where sizes are plain ints.
    """

    def __init__(self) -> None:
        self.sizes: list[SymNode] = []  # in the order in which they were read first
        self.operations: list[SymNode] = []
        self.guards: list[Guard] = []
        self.uses: list[Use] = []
        self.is_recording = False
        self._read: dict[tuple[int, str, int | None], tuple[Any, SymNode]] = {}
        self._conditions: set[tuple[str, bool]] = set()
        self._outer: list[Any] = []

    def __enter__(self) -> Self:
        self._outer.append(_C._set_size_recorder(self))
        self.is_recording = True
        return self

    def __exit__(self, *error: Any) -> None:
        _C._set_size_recorder(self._outer.pop())
        self.is_recording = bool(self._outer)

    def read(self, tensor: Tensor, what: str, dim: int | None, value: int) -> Any:
        """What the program gets for a size: ``what`` is ``size``, ``stride``, ``numel`` or ``storage_offset``.

        The same size of the same tensor is the same symbol. Whoever returns ``value`` leaves it a plain int.
        """
        key = id(tensor), what, dim
        owner, node = self._read.get(key, (None, None))
        if node is None or owner is None or owner() is not tensor or node.hint != value:
            node = SymNode(value, what, (tensor, dim), self, f"s{len(self.sizes)}")
            self.sizes.append(node)
            self._read[key] = weakref.ref(tensor), node
        return symbol_of(node)

    def operation(self, node: SymNode) -> None:
        """A new symbol was calculated from others."""
        self.operations.append(node)

    def guard(self, condition: SymNode, value: bool, place: tuple[str, int]) -> None:
        """The program went on, at ``place``, as it does while the condition is ``value``."""
        key = condition.expr, value
        if key not in self._conditions:
            self._conditions.add(key)
            self.guards.append(Guard(condition, value, *place))

    def check(self, condition: SymNode) -> bool:
        """The program checks a condition (``taeda._check``). Whether nothing more is to be asked than its hint."""
        return False

    def int_of(self, tensor: Tensor) -> Any:
        """The symbol for the whole number in a tensor that an op is given as an int; None leaves it a plain int."""
        return None

    def detached(self, tensor: Tensor) -> None:
        """The program cut a tensor out of autograd's graph in place."""

    def given(self, op: Any, arguments: list[tuple[str, int | None, Any]]) -> None:
        """An op is about to run on the numbers of these symbols."""
        self.uses.append(Use(op, arguments))
