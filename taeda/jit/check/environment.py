"""Names while a program is compiled: a frame for each block of the graph, and what stands outside of the function."""

from __future__ import annotations

import builtins
import numbers
import sys
import types
import typing
from collections.abc import Callable
from typing import Any

import taeda
from taeda._main import script_marks
from taeda.jit._awaits import _Await
from taeda.jit.check.values import Known
from taeda.jit.ir import Block
from taeda.jit.source import SourceRange

_FILE = taeda.__file__


class Frame:
    """The names that a block sets; what it does not know it asks of the frame around it.

    Args:
        block: the block of the graph.
        parent: the frame around it; None for a function's own.
    """

    def __init__(self, block: Block, parent: Frame | None = None) -> None:
        self.block, self.parent = block, parent
        self.names: dict[str, Any] = {}
        self.declared: dict[str, Any] = {}  # types of names: of arguments, and of names that were annotated
        self.refined: dict[str, Any] = {}  # what is known better than it was declared, by name or "self.name"
        self.lost: dict[str, str] = {}  # why a name has no value here
        self.falling: dict[str, tuple[Any, Any]] = {}  # a name's value, and its type where the block has not exited

    def find(self, name: str) -> Any:
        """What the name stands for; None if no frame knows it."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.refined:
                return frame.refined[name]
            if name in frame.names:
                return frame.names[name]
            if name in frame.lost:
                return None
            frame = frame.parent
        return None

    def declared_type(self, name: str) -> Any:
        """The type that the name was declared with; None if it was not."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.declared:
                return frame.declared[name]
            frame = frame.parent
        return None

    def why_lost(self, name: str) -> str | None:
        """Why the name has no value, if it had one somewhere."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.lost:
                return frame.lost[name]
            frame = frame.parent
        return None

    def set(self, name: str, value: Any) -> None:
        """Gives the name a value."""
        self.names[name] = value
        self.lost.pop(name, None)
        for key in [k for k in self.refined if k == name or k.startswith(name + ".")]:
            del self.refined[key]

    def forget(self, prefix: str) -> None:
        """Forgets what was known better of attributes, in all frames: somebody may have changed them."""
        frame: Frame | None = self
        while frame is not None:
            for key in [k for k in frame.refined if k.startswith(prefix)]:
                del frame.refined[key]
            frame = frame.parent


class Resolver:
    """What a name means outside of the function. `resolve` is the one way in, for others to derive from."""

    def resolve(self, name: str, range: SourceRange | None) -> Any:
        """What the name stands for; None if it is unknown."""
        raise NotImplementedError

    def annotation(self, name: str) -> Any:
        """The Python object that a parameter of this name was annotated with; None if there is none."""
        return None


_TYPING = {name: getattr(typing, name) for name in (
    "Any", "Dict", "List", "NamedTuple", "NoReturn", "Optional", "Tuple", "Union", "Final", "Callable",
)} | {"Tensor": taeda.Tensor, "number": numbers.Number, "Future": taeda.futures.Future, "Await": _Await,
     "Device": taeda.device, "Generator": taeda.Generator, "NoneType": type(None),
     **{f"BroadcastingList{n}": script_marks.BroadcastingList1 for n in range(1, 7)}}  # fmt: skip


class ClosureResolver(Resolver):
    """The names that a Python function sees: its closure, its module's, Python's own.

    Args:
        function: the function.
        extra: names beside those, which go first.
    """

    def __init__(self, function: Callable[..., Any] | None, extra: Callable[[str], Any] | None = None) -> None:
        self.function, self.extra = function, extra
        self.closure: dict[str, Any] = {}
        code = getattr(function, "__code__", None)
        for name, cell in zip(code.co_freevars if code else (), getattr(function, "__closure__", None) or ()):
            try:
                self.closure[name] = cell.cell_contents
            except ValueError:  # not yet filled: the function itself, perhaps
                continue
        self.globals: dict[str, Any] = getattr(function, "__globals__", {})

    def resolve(self, name: str, range: SourceRange | None) -> Any:
        """What the name stands for, as `Known`; None if it is unknown."""
        for table in (self.closure, self.globals):
            if name in table:
                return Known(table[name])
        if self.extra is not None:
            found = self.extra(name)
            if found is not None:
                return Known(found)
        if hasattr(builtins, name):
            return Known(getattr(builtins, name))
        return Known(_TYPING[name]) if name in _TYPING else None

    def annotation(self, name: str) -> Any:
        """The object in ``__annotations__``, unless it is or holds a text."""
        found = getattr(self.function, "__annotations__", {}).get(name)
        return None if _holds_text(found) else found


def _holds_text(annotation: Any) -> bool:
    if isinstance(annotation, (str, typing.ForwardRef)):
        return True
    return any(map(_holds_text, typing.get_args(annotation)))


class TableResolver(Resolver):
    """Names from a dict of objects, those that ``seen`` gives, then Python's own."""

    def __init__(self, table: dict[str, Any], seen: Callable[[str], Any] | None = None) -> None:
        self.table, self.seen = table, seen

    def resolve(self, name: str, range: SourceRange | None) -> Any:
        """What the name stands for, as `Known`; None if it is unknown."""
        if name in self.table:
            return Known(self.table[name])
        found = self.seen(name) if self.seen is not None else None
        if found is not None:
            return Known(found)
        if hasattr(builtins, name):
            return Known(getattr(builtins, name))
        return Known(_TYPING[name]) if name in _TYPING else None


def names_of_caller(depth: int) -> Callable[[str], Any]:
    """What a name means in the function that called, ``depth`` calls above the caller of this: its variables now and
    its module's; None for others."""
    frame = sys._getframe(depth + 2)
    local, outside = frame.f_locals, frame.f_globals
    return lambda name: local.get(name, outside.get(name))


def is_ours(obj: Any, below: str = "") -> bool:
    """Whether a class or function is the library's, of the package ``below`` in it, also where it is called torch's."""
    name = getattr(obj, "__module__", None) or ""
    head, _, rest = name.partition(".")
    if head != "taeda" and not (head == "torch" and getattr(sys.modules.get("torch"), "__file__", "") == _FILE):
        return False
    return not below or rest == below or rest.startswith(below + ".")


def is_namespace(obj: Any) -> bool:
    """Whether it is a module of Python's."""
    return isinstance(obj, types.ModuleType)
