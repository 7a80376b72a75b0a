"""Futures and calls to come, between Python and programs: in a program, each is its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.futures import Future
from taeda.jit._awaits import _Await, _awaitable_nowait
from taeda.jit._ir_types import contained_in
from taeda.jit.check.function import Function


def is_deferred(type: Any) -> bool:
    """Whether a type is a future or a call to come, or holds one."""
    return contained_in(type, lambda t: t.kind() in ("FutureType", "AwaitType"))


def deferring(function: Function, run: Callable[..., Any]) -> Callable[..., Any]:
    """What runs a function, given and giving futures and calls to come as Python has them."""
    result = function.return_type()
    takes = any(is_deferred(p.type) for p in function.parameters())
    if not takes and not is_deferred(result):
        return run

    def call(*args: Any, **kwargs: Any) -> Any:
        if takes:
            args, kwargs = tuple(map(_settled, args)), {name: _settled(value) for name, value in kwargs.items()}
        return _wrapped(run(*args, **kwargs), result)

    return call


def _settled(value: Any) -> Any:
    if isinstance(value, (Future, _Await)):
        return _settled(value.wait())
    if type(value) in (list, tuple):
        return type(value)(map(_settled, value))
    if type(value) is dict:
        return {key: _settled(item) for key, item in value.items()}
    return value


def _wrapped(value: Any, type: Any) -> Any:
    kind = type.kind()
    if value is None and kind != "FutureType" and kind != "AwaitType":
        return None
    inner = type.containedTypes()
    if kind == "FutureType":
        future: Future[Any] = Future()
        future.set_result(_wrapped(value, inner[0]))
        return future
    if kind == "AwaitType":
        return _awaitable_nowait(_wrapped(value, inner[0]))
    if not is_deferred(type):
        return value
    if kind == "OptionalType":
        return _wrapped(value, inner[0])
    if kind == "ListType":
        return [_wrapped(item, inner[0]) for item in value]
    if kind == "TupleType":
        items = list(map(_wrapped, value, inner))
        return value._make(items) if hasattr(value, "_make") else tuple(items)
    if kind == "DictType":
        return {key: _wrapped(item, inner[1]) for key, item in value.items()}
    return value
