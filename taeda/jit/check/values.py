"""What an expression can stand for while a program is compiled, beside a value of the graph."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from taeda.jit.ir import Value
from taeda.jit.source import SourceRange

if TYPE_CHECKING:
    from taeda.jit.check.environment import Frame


class Sugar:
    """Something that is known while the program is compiled."""

    def what(self) -> str:
        """What it is, for errors."""
        return type(self).__name__


@dataclass(frozen=True)
class Known(Sugar):
    """An object of Python's: a number, a function, a class, a module."""

    obj: Any

    def what(self) -> str:
        """Its type and name."""
        name = getattr(self.obj, "__name__", None)
        return f"the {type(self.obj).__name__} {name if name is not None else repr(self.obj)}"


@dataclass(frozen=True)
class TupleOf(Sugar):
    """Several things in order, which need not all be values; ``named`` is the type of a named tuple.

    ``is_list`` says that it was written as a list.
    """

    items: tuple[Any, ...]
    named: Any = None
    is_list: bool = False

    def what(self) -> str:
        """That it is a tuple."""
        return f"a tuple of {len(self.items)}"


@dataclass(frozen=True)
class BoundOp(Sugar):
    """A method that is an op, with the value it is called on: ``x.add``."""

    value: Value
    name: str

    def what(self) -> str:
        """The method."""
        return f"the method {self.name} of a {self.value.static_type}"


@dataclass(frozen=True)
class BoundMethod(Sugar):
    """A method of a compiled class or module: ``run(emitter, args, kwargs, range)`` calls it."""

    name: str
    run: Callable[..., Any]

    def what(self) -> str:
        """The method."""
        return f"the method {self.name}"


@dataclass(frozen=True)
class BoundPython(Sugar):
    """A Python function with the first argument that it is called with."""

    value: Any
    function: Any

    def what(self) -> str:
        """The function."""
        return f"the method {self.function.__name__}"


@dataclass(frozen=True)
class LocalFunction(Sugar):
    """A function or lambda defined within the program, and what it can see."""

    node: ast.FunctionDef | ast.Lambda
    frame: Frame
    home: Any  # the emitter of the function that it is written in

    def what(self) -> str:
        """Its name."""
        return f"the function {getattr(self.node, 'name', '<lambda>')}"


@dataclass(frozen=True)
class SuperOf(Sugar):
    """``super()``: the object and the class whose bases are asked."""

    value: Value
    cls: type


@dataclass(frozen=True)
class RangeOf(Sugar):
    """``range(start, stop, step)``."""

    start: Any
    stop: Any
    step: Any


@dataclass(frozen=True)
class SliceOf(Sugar):
    """``slice(start, stop, step)``."""

    start: Any
    stop: Any
    step: Any


@dataclass(frozen=True)
class EnumerateOf(Sugar):
    """``enumerate(items, start)``."""

    items: Any
    start: Any


@dataclass(frozen=True)
class ZipOf(Sugar):
    """``zip(...)``."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class ReversedOf(Sugar):
    """``reversed(...)``."""

    items: Any


@dataclass(frozen=True)
class Namespace(Sugar):
    """Names that are functions of the language: ``ops.aten``, ``torch`` in an archive's code."""

    find: Callable[[str, SourceRange | None], Any]
    name: str = ""


@dataclass(frozen=True)
class Kind(Sugar):
    """A function of the language by its kind, ``aten::add``, as archives call it."""

    kind: str


@dataclass
class Condition:
    """A condition: its value or, where it is known, its answer; and what it tells of the types of names, by answer."""

    value: Value | None
    answer: bool | None = None
    if_true: dict[str, Any] = field(default_factory=dict)
    if_false: dict[str, Any] = field(default_factory=dict)

    def negated(self, value: Value | None) -> Condition:
        """The opposite, of which ``value`` is the value."""
        return Condition(value, None if self.answer is None else not self.answer, self.if_false, self.if_true)
