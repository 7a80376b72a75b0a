"""Classes that C++ extensions register: ``classes.namespace.Name``. This release loads no such extension."""

from __future__ import annotations

from typing import NoReturn


class _Namespace:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeError(f"taeda.classes: no extension has registered a class '{self._name}.{name}'")


def __getattr__(name: str) -> _Namespace:
    if name.startswith("__"):
        raise AttributeError(f"module 'taeda.classes' has no attribute '{name}'")
    return _Namespace(name)
