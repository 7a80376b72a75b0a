"""What is different while a program is traced: module calls, fetched parameters and chosen functions are recorded.

All of it is put in place by `Patches` and taken away when the trace ends.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

import taeda
from taeda import nn
from taeda.fx.node import map_aggregate
from taeda.fx.proxy import Proxy
from taeda.nn.modules._tables import TABLES

_MISSING: Any = object()


class Patches:
    """A context whose changes to dictionaries and classes end with it."""

    def __init__(self) -> None:
        self._undo: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self._searched: set[int] = set()

    def set_item(self, table: dict[str, Any], name: str, value: Any) -> None:
        """``table[name] = value`` until the end."""
        if name in table:
            self._undo.append((table.__setitem__, (name, table[name])))
        else:
            self._undo.append((table.pop, (name, None)))
        table[name] = value

    def set_attribute(self, owner: type, name: str, value: Any) -> None:
        """``owner.name = value`` until the end."""
        if name in vars(owner):
            self._undo.append((setattr, (owner, name, vars(owner)[name])))
        else:
            self._undo.append((delattr, (owner, name)))
        setattr(owner, name, value)

    def patch(self, frame_dict: dict[str, Any], name: str, new_fn: Any, deduplicate: bool = True) -> None:
        """`set_item`, as tracers of other libraries call it; a second time in nested traces unless ``deduplicate``."""
        if not self._is_ours(frame_dict.get(name), new_fn, deduplicate):
            self.set_item(frame_dict, name, new_fn)

    def patch_method(self, cls: type, name: str, new_fn: Any, deduplicate: bool = True) -> None:
        """`set_attribute`, as tracers of other libraries call it."""
        if not self._is_ours(getattr(cls, name, None), new_fn, deduplicate):
            self.set_attribute(cls, name, new_fn)

    @staticmethod
    def _is_ours(present: Any, new: Any, deduplicate: bool) -> bool:
        new.__dict__["_patched_once"] = deduplicate
        return getattr(present, "_patched_once", False)

    def replace_in(self, table: dict[str, Any], replacements: dict[int, Callable[..., Any]]) -> None:
        """Swaps the functions in ``table`` whose ids ``replacements`` knows; a table is searched once."""
        if id(table) in self._searched:
            return
        self._searched.add(id(table))
        for name, value in list(table.items()):
            if id(value) in replacements:
                self.set_item(table, name, replacements[id(value)])

    def __enter__(self) -> Patches:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._undo:
            function, args = self._undo.pop()
            function(*args)


def find_proxy(*arguments: Any) -> Proxy | None:
    """The first proxy in nested arguments."""
    found: list[Proxy] = []

    def visit(leaf: Any) -> Any:
        if isinstance(leaf, Proxy):
            found.append(leaf)
        return leaf

    map_aggregate(arguments, visit)
    return found[0] if found else None


def is_recorded(function: Any) -> bool:
    """Whether a trace that is going on has put this function in place."""
    return getattr(function, "_recorded", False)


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, but a call with a traced value among its arguments is one step of the graph."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        return proxy.tracer.create_proxy("call_function", function, args, kwargs)

    wrapper.__dict__["_recorded"] = True
    return wrapper


def patch_scripted(patches: Patches) -> None:
    """Makes calls of scripted functions and methods steps of the graph, where any have been made."""
    if "taeda.jit._module" not in sys.modules:
        return
    from taeda.jit._module import ScriptMethod
    from taeda.jit._script import ScriptFunction

    def of_class(kind: Any, record: Callable[..., Any]) -> None:
        ordinary = kind.__call__

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            proxy = find_proxy(args, kwargs)
            return ordinary(self, *args, **kwargs) if proxy is None else record(proxy.tracer, self, args, kwargs)

        patches.set_attribute(kind, "__call__", __call__)

    of_class(ScriptFunction, lambda tracer, f, args, kwargs: tracer.create_proxy("call_function", f, args, kwargs))
    of_class(
        ScriptMethod,
        lambda tracer, m, args, kwargs: tracer.create_proxy("call_method", m.name, (m.owner, *args), kwargs),
    )


def patch_modules(patches: Patches, call: Callable[..., Any], fetch: Callable[[nn.Module, str, Any], Any]) -> None:
    """Sends calls of modules to ``call(module, forward, args, kwargs)``, and what is fetched from their tables to
    ``fetch(module, name, value)``."""
    ordinary_call = nn.Module.__call__
    ordinary_get, ordinary_find = object.__getattribute__, nn.Module._find_in_tables
    kinds = (taeda.Tensor, nn.Module)

    def __call__(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        def forward(*args: Any, **kwargs: Any) -> Any:
            return ordinary_call(self, *args, **kwargs)

        return call(self, forward, args, kwargs)

    def __getattribute__(self: nn.Module, name: str) -> Any:
        value = ordinary_get(self, name)
        if isinstance(value, kinds):
            own = ordinary_get(self, "__dict__")
            if any(name in own.get(table, ()) for table in TABLES):
                return fetch(self, name, value)
        return value

    def __getattr__(self: nn.Module, name: str) -> Any:
        value = ordinary_find(self, name)
        return fetch(self, name, value) if isinstance(value, kinds) else value

    patches.set_attribute(nn.Module, "__call__", __call__)
    patches.set_attribute(nn.Module, "__getattribute__", __getattribute__)
    # A class with a __getattr__ of its own asks this one.
    patches.set_attribute(nn.Module, "__getattr__", __getattr__)
    patches.set_attribute(nn.Module, "_find_in_tables", __getattr__)
