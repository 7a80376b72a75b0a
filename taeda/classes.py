"""Classes that C++ extensions register with ``torch::class_``: ``classes.namespace.Name(...)`` makes an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

loaded_libraries: set[str] = set()


def load_library(path: str) -> None:
    """As :func:`taeda.ops.load_library`: loads a library that registers classes, ops or both.

    Raises:
        OSError: the file is missing or cannot be loaded.
        RuntimeError: what it registers clashes with what there is.
    """
    from taeda import ops

    ops.load_library(path)
    loaded_libraries.add(path)


class _Namespace:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> _Class:
        if name.startswith("__"):
            raise AttributeError(name)
        from taeda import _C

        type = _C._find_named_type(f"__torch__.torch.classes.{self._name}.{name}")
        if type is None or _C._jit.find_method(type, "__init__") is None:
            raise RuntimeError(f"taeda.classes: no extension has registered a class '{self._name}.{name}'")
        found = self.__dict__[name] = _Class(type)
        return found


class _Class:
    """A registered class: its call makes an object, its attributes are its static methods."""

    def __init__(self, type: Any) -> None:
        self._type = type

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return static_method(self._type, "__init__")(*args, **kwargs)  # type: ignore[misc]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found = static_method(self._type, name) if not name.startswith("__") else None
        if found is None:
            raise AttributeError(f"the class {self._type} has no static method '{name}'")
        return found

    def __repr__(self) -> str:
        return f"<class {self._type}>"


def static_method(type: Any, name: str) -> Callable[..., Any] | None:
    """A static method of a class in C++; None if it has none of this name."""
    from taeda import _C
    from taeda.jit import _run as _run  # objects of classes have the face that it gives them

    found = _C._jit.find_method(type, name)
    if found is None or not found[0]:
        return None
    return lambda *args, **kwargs: _C._jit.call_static(type, name, *bound(name, found[1], args, kwargs))


def bound(name: str, arguments: tuple[tuple[str, tuple[Any, ...]], ...], args: tuple[Any, ...],
          kwargs: dict[str, Any]) -> list[Any]:  # fmt: skip
    """What a call gives a method's arguments, in their order.

    Raises:
        TypeError: an argument is missing, given twice, or unknown.
    """
    if len(args) > len(arguments):
        raise TypeError(f"{name} takes {len(arguments)} arguments; got {len(args)}")
    given = dict(zip((argument for argument, _ in arguments), args))
    for key, value in kwargs.items():
        if key in given or key not in dict(arguments):
            raise TypeError(f"{name} got the argument '{key}' {'twice' if key in given else 'which it does not have'}")
        given[key] = value
    for argument, default in arguments:
        if argument not in given and not default:
            raise TypeError(f"{name} wants an argument '{argument}'")
    return [given[argument] if argument in given else default[0] for argument, default in arguments]


def rebuilt(name: str, state: Any) -> Any:
    """The object of the class ``name`` that said ``state`` of itself when it was saved.

    Raises:
        RuntimeError: nobody has registered the class.
    """
    from taeda import _C

    type = _C._find_named_type(name)
    make = static_method(type, "__setstate__") if type is not None else None
    if make is None:
        raise RuntimeError(f"taeda.classes: an object of {name} was saved; load the extension that registers it first")
    return make(state)


def __getattr__(name: str) -> _Namespace:
    if name.startswith("__"):
        raise AttributeError(f"module 'taeda.classes' has no attribute '{name}'")
    found = globals()[name] = _Namespace(name)
    return found
