"""What Python finds of the object of a compiled class by name: attributes, methods, and PyTorch's names for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import _C
from taeda.jit.check.classes import class_named


def find(object: Any, name: str) -> Any:
    """What ``object.name`` is where the object itself has no such name.

    Raises:
        AttributeError: the class has no such attribute or method, either.
    """
    if name in _NAMES:
        return _NAMES[name](object)
    if not name.startswith("__"):
        if object.hasattr(name):
            return object.getattr(name)
        info = class_named(object.type()._name)
        function = info.function(name) if info is not None else None
        if function is not None:
            return _method(object, function)
    raise AttributeError(f"a {object.type()} has no attribute or method '{name}'")


def _method(object: Any, function: Any) -> Any:
    from taeda.jit._module import ScriptMethod

    return ScriptMethod(_Owner(object), function)  # type: ignore[arg-type]


class _Owner:
    """What a method asks of the module that it belongs to."""

    def __init__(self, object: Any) -> None:
        self._c, self._info = object, class_named(object.type()._name)


def _names_of_methods(object: Any) -> list[str]:
    info = class_named(object.type()._name)
    return list(info.methods) if info is not None else []


_NAMES: dict[str, Callable[[Any], Any]] = {
    "qualified_name": lambda object: object.type()._name,
    "name": lambda object: object.type()._name.rpartition(".")[2],
    "_type": lambda object: object.type,
    "_method_names": lambda object: lambda: _names_of_methods(object),
    "_has_method": lambda object: lambda name: name in _names_of_methods(object),
    "_get_method": lambda object: lambda name: find(object, name),
    "_get_methods": lambda object: lambda: [find(object, name) for name in _names_of_methods(object)],
    "_properties": lambda object: lambda: list(getattr(class_named(object.type()._name), "properties", ())),
}
_C._jit.set_object_names(find)
