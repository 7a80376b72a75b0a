"""Objects of compiled classes, as Python sees them."""

from __future__ import annotations

import contextlib
import copyreg
import sys
import threading
from collections.abc import Iterator
from typing import Any

from taeda import _C, nn


class ScriptObject:
    """An object of a compiled class. Its attributes, properties and methods are the class's; calls run the program."""

    __module__ = "taeda"

    def __init__(self, object: Any) -> None:
        compiled = sys.modules.get("taeda.jit.check.classes")  # without it there are only classes of C++
        self.__dict__["_c"] = object
        self.__dict__["_info"] = compiled.class_named(object.type()._name) if compiled is not None else None
        object._keep(self._info)  # also for those who take the object alone

    def _type(self) -> Any:
        """Its class's type."""
        return self._c.type()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._c.hasattr(name):
            return self._c.getattr(name)
        from taeda.jit._packed import method as packed_method
        from taeda.jit.translate.build import code_of

        info = self._info
        if info is not None and name in info.properties:
            return code_of(info.properties[name][0])(self._c)
        function = info.function(name) if info is not None else None
        if function is not None:
            from taeda.jit._run import runnable

            return lambda *args, **kwargs: runnable(function)(self._c, *args, **kwargs)
        if (getter := self._in_cpp(f"__get_{name}")) is not None:
            return getter()
        method = self._in_cpp(name) or packed_method(self, name)
        if method is None:
            raise AttributeError(f"a {self._type()} has no attribute or method '{name}'")
        return method

    def _in_cpp(self, name: str) -> Any:
        """A method of a class that C++ registered; None if it has none of this name."""
        from taeda import classes

        found = _C._jit.find_method(self._type(), name)
        if found is None or found[0]:
            return None
        return lambda *args, **kwargs: self._c.call_method(name, *classes.bound(name, found[1], args, kwargs))

    def __getstate__(self) -> Any:
        """What it is saved as: of packed weights with the class's name, as PyTorch's files have it."""
        from taeda.jit._packed import state_of

        if (packed := state_of(self)) is not None:
            return packed
        state = self._in_cpp("__getstate__")
        if state is None:
            raise RuntimeError(f"a {self._type()} cannot be saved or copied: its class says not how, by def_pickle")
        return state()

    def __reduce__(self) -> tuple[Any, ...]:
        from taeda import classes
        from taeda.jit._packed import state_of

        if (packed := state_of(self)) is not None:
            return copyreg.__newobj__, (ScriptObject,), packed  # type: ignore[attr-defined]
        return classes.rebuilt, (self._type()._name, self.__getstate__())

    def __setattr__(self, name: str, value: Any) -> None:
        setter = self._info.properties.get(name, (None, None))[1] if self._info is not None else None
        if setter is not None:
            from taeda.jit.translate.build import code_of

            code_of(setter)(self._c, value)
        elif (in_cpp := self._in_cpp(f"__set_{name}")) is not None:
            in_cpp(value)
        else:
            self._c.setattr(name, value)

    def _magic(self, name: str, *args: Any) -> Any:
        function = self._info.function(name) if self._info is not None else None
        if function is None:
            method = self._in_cpp(name)
            if method is None:
                raise NotImplementedError(f"a {self._type()} has no method {name}")
            return method(*args)
        from taeda.jit._run import runnable

        return runnable(function)(self._c, *args)

    def __str__(self) -> str:
        shown = self._in_cpp("__str__")
        return repr(self) if shown is None else shown()

    def __eq__(self, other: object) -> Any:
        has = self._info is not None and self._info.function("__eq__") is not None
        has = has or self._in_cpp("__eq__") is not None
        return self._magic("__eq__", other) if has else self is other

    __hash__ = object.__hash__

    def __setstate__(self, state: Any) -> None:
        from taeda.jit._packed import from_state

        self.__init__(from_state(state))  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"<ScriptObject of {self._type()}>"


def _operator(name: str) -> Any:
    return lambda self, *args: self._magic(name, *args)


for _name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift", "neg",
    "invert", "len", "getitem", "setitem", "delitem", "contains", "call", "lt", "le", "gt", "ge", "int", "float",
):  # fmt: skip
    setattr(ScriptObject, f"__{_name}__", _operator(f"__{_name}__"))


class _Here(threading.local):
    plain = False


_here = _Here()


@contextlib.contextmanager
def plain_objects() -> Iterator[None]:
    """Within, in this thread, objects come out of programs as they are, without faces."""
    before, _here.plain = _here.plain, True
    try:
        yield
    finally:
        _here.plain = before


def face_of(object: Any) -> Any:
    """What programs give to Python for an object: a module for one of a module's class, else a `ScriptObject`."""
    if _here.plain:
        return object
    if not _C._is_module_class(object.type()):
        return ScriptObject(object)
    from taeda.jit._module import face_of_module

    return face_of_module(object)


def as_object_deep(value: Any) -> Any:
    """As `as_object`, also of what lists, tuples and dicts hold."""
    if isinstance(value, list):
        return [as_object_deep(item) for item in value]
    if type(value) is tuple:
        return tuple(as_object_deep(item) for item in value)
    if type(value) is dict:
        return {key: as_object_deep(item) for key, item in value.items()}
    return as_object(value)


def as_object(value: Any) -> Any:
    """A Python object of a class that has been compiled, as an object of the program with copies of its attributes.
    Anything else as it is."""
    from taeda.jit.check.classes import _BY_CLASS, compile_init

    info = _BY_CLASS.get(type(value))
    if info is None or hasattr(value, "_c") or isinstance(value, nn.Module):
        return value
    compile_init(info)
    made = _C._jit.Object(info.type)
    for name in info.attributes():
        made.setattr(name, as_object(getattr(value, name)))
    return ScriptObject(made)


_C._jit.set_object_face(face_of)
