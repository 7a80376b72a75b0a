"""Objects of a program's classes and members of its enumerations, as archives hold them."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any, NamedTuple

from taeda import _C
from taeda.jit._graph import plain_objects


class State(NamedTuple):
    """What ``__getstate__`` gave, and its type."""

    value: Any
    type: Any


def is_object(value: Any) -> bool:
    """Whether a value is an object of a class of a program."""
    return isinstance(_inner(value), _C._jit.Object)


def _inner(value: Any) -> Any:
    """The object that a module or other face of Python's stands for."""
    return getattr(value, "_c", value) if not isinstance(value, _C._jit.Object) else value


def state_of(value: Any) -> tuple[str, list[tuple[str, Any, Any]] | State]:
    """The class's name, and the object's attributes as (name, type, value), or what its ``__getstate__`` gives."""
    held = _inner(value)
    type = held.type()
    method = method_of(type, "__getstate__")
    if method is not None:
        return type._name, State(call_method(held, "__getstate__"), method.schema.returns[0].type)
    with plain_objects():
        return type._name, [(name, kind, held.getattr(name)) for name, kind, _ in _C._class_attributes(type)]


def behind_interfaces(value: Any) -> Iterator[Any]:
    """The classes of what an object, and the objects in it, hold in attributes whose type is an interface."""
    with plain_objects():
        for name, kind, _ in _C._class_attributes(value.type()):
            if kind.kind() not in ("ClassType", "InterfaceType"):
                continue
            held = _inner(value.getattr(name))
            if isinstance(held, _C._jit.Object):
                if kind.kind() == "InterfaceType":
                    yield held.type()
                yield from behind_interfaces(held)


def method_of(type: Any, name: str) -> Any:
    """A method of a class; None if there is none of that name."""
    from taeda.jit.check.classes import class_named

    found = class_named(type._name)
    return None if found is None else found.function(name)


def call_method(held: Any, name: str, *args: Any) -> Any:
    """Calls a method of an object of a program."""
    from taeda.jit._run import runnable

    return runnable(method_of(held.type(), name))(held, *args)


def is_member(value: Any) -> bool:
    """Whether a value is a member of an enumeration."""
    return isinstance(value, enum.Enum)


def member_of(value: enum.Enum, type: Any) -> tuple[str, Any]:
    """The enumeration's name and the member's value."""
    return type._name, value.value
