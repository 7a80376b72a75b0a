"""The three tables of a module, mirrored into its instance dictionary.

``module.weight`` must cost no more than any attribute, and programs edit ``module._parameters`` directly. So each table
writes every change through to its owner's ``__dict__``, where Python's ordinary lookup finds it. Only a class with a
``__getattr__`` of its own is asked each time for what stands in the tables.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

TABLES = ("_parameters", "_buffers", "_modules")
_MISSING: Any = object()


def _nobody() -> None:
    """The owner of a table that is a plain dict."""


class Table(dict[str, Any]):
    """A dict whose items are also attributes of the module that owns it, if any.

    The owner is held weakly: a strong reference would make every module a cycle, and its memory would wait for the
    garbage collector. Programs that rebuild containers call the class with items alone.
    """

    __slots__ = ("_owner",)

    def __init__(self, items: Any = (), owner: Any = None) -> None:
        super().__init__(items)
        self._owner: Callable[[], Any] = _nobody
        if owner is not None and type(owner).__getattr__ is type(owner)._find_in_tables:
            self._owner = weakref.ref(owner)
            owner.__dict__.update(self)

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        owner = self._owner()
        if owner is not None:
            owner.__dict__[name] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._forget(name)

    def _forget(self, name: str) -> None:
        owner = self._owner()
        if owner is not None:
            owner.__dict__.pop(name, None)

    def pop(self, name: str, default: Any = _MISSING) -> Any:
        if name in self:
            value = self[name]
            del self[name]
            return value
        if default is _MISSING:
            raise KeyError(name)
        return default

    def popitem(self) -> tuple[str, Any]:
        name, value = super().popitem()
        self._forget(name)
        return name, value

    def clear(self) -> None:
        for name in self:
            self._forget(name)
        super().clear()

    def update(self, *args: Any, **kwargs: Any) -> None:
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def __ior__(self, other: Any) -> Any:  # type: ignore[override,misc]
        self.update(other)
        return self

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def copy(self) -> dict[str, Any]:
        return dict(self)

    def __reduce_ex__(self, protocol: Any) -> tuple[type, tuple[dict[str, Any]]]:
        # Away from its owner a table is plain data: copies and files hold an ordinary dict.
        return dict, (dict(self),)


def adopt(owner: Any, table: str, items: Any) -> None:
    """Makes ``items`` the owner's ``table``, replacing an earlier one and its attributes."""
    attributes = owner.__dict__
    old = attributes.get(table)
    if old:
        for name, value in list(old.items()):
            if attributes.get(name, _MISSING) is value:
                del attributes[name]
    attributes[table] = Table(items, owner)


def without_mirror(attributes: dict[str, Any]) -> dict[str, Any]:
    """A copy of an instance dictionary with the tables as plain dicts and without their mirrored items."""
    state = dict(attributes)
    for table in TABLES:
        items = attributes.get(table)
        if items is not None:
            state[table] = dict(items)
            for name, value in items.items():
                if state.get(name, _MISSING) is value:
                    del state[name]
    return state
