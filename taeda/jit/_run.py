"""Calls of compiled functions from Python."""

from __future__ import annotations

import weakref
from typing import Any

from taeda import _C
from taeda.jit._deferred import deferring
from taeda.jit._graph import as_object_deep
from taeda.jit._ir_types import contained_in
from taeda.jit.check.classes import RUNNABLE, SERVING, class_named, serves
from taeda.jit.check.function import MISSING, Function, _default_text
from taeda.jit.translate.build import code_of

_SERVED: weakref.WeakSet[Any] = weakref.WeakSet()


def runnable(function: Function) -> Any:
    """What runs a function; of a method, the object is the first argument. Objects of Python's classes that were
    compiled are made objects of the program."""
    run = function.run
    if run is None:
        run = function.run = _made(function)
        RUNNABLE.add(function)
    return run


def _made(function: Function) -> Any:
    """What `runnable` gives, made when a function runs first."""
    code: Any = code_of(function)
    for info in [info for info in SERVING if info not in _SERVED]:
        _SERVED.add(info)
        for method in info.methods.values():
            code_of(method)
    unspelled = {p.name: p.default for p in function.parameters() if p.default is not MISSING and _is_unspelled(p)}
    if unspelled:
        code = _with_defaults(code, [p.name for p in function.parameters()], unspelled)
    if repeats := {i: p for i, p in enumerate(function.parameters()) if p.repeats}:
        code = _with_lists(code, repeats)
    code = deferring(function, code)
    if not any(map(_may_hold_objects, function.parameters())):
        return code
    interfaces = [p for p in function.parameters() if contained_in(p.type, lambda t: t.kind() == "InterfaceType")]
    names = [p.name for p in function.parameters()]

    def run(*args: Any, **kwargs: Any) -> Any:
        given = list(map(as_object_deep, args))
        named = {k: as_object_deep(v) for k, v in kwargs.items()}
        for parameter in interfaces:
            place = names.index(parameter.name)
            value = given[place] if place < len(given) else named.get(parameter.name)
            _check_serves(function, parameter, parameter.type, value)
        return code(*given, **named)

    return run


def _check_serves(function: Function, parameter: Any, wanted: Any, given: Any) -> None:
    """Objects of Python's classes and modules serve interfaces by what they have."""
    if wanted.kind() != "InterfaceType":
        inner = wanted.containedTypes()
        items = given.values() if isinstance(given, dict) else given if isinstance(given, (list, tuple)) else [given]
        for i, item in enumerate(items if given is not None else ()):
            _check_serves(function, parameter, inner[i if isinstance(given, tuple) else -1], item)
        return
    held: Any = getattr(given, "_c", None)
    info = None if held is None else class_named(held.type()._name)
    if info is None or not serves(held.type(), wanted):
        shown = type(given).__name__ if held is None else held.type()
        raise RuntimeError(f"{function.name}() takes a {parameter.type} for '{parameter.name}'; a {shown} lacks a "
                           "method of it, or has another form")  # fmt: skip
    for method in info.methods.values():
        code_of(method)


def _is_unspelled(parameter: Any) -> bool:
    """Whether a default is one that no schema spells: a tensor, an object."""
    return not _default_text(parameter)


def _with_defaults(code: Any, names: list[str], defaults: dict[str, Any]) -> Any:
    """The code, given those defaults where a call leaves them out."""

    def run(*args: Any, **kwargs: Any) -> Any:
        left = {k: v for k, v in defaults.items() if k not in kwargs and names.index(k) >= len(args)}
        return code(*args, **kwargs, **left)

    return run


def _with_lists(code: Any, repeats: dict[int, Any]) -> Any:
    """The code, given lists where a call gives one number for them."""

    def run(*args: Any, **kwargs: Any) -> Any:
        given = list(args)
        for place, parameter in repeats.items():
            held: Any = given if place < len(given) else kwargs
            key = place if held is given else parameter.name
            if (held is given or key in kwargs) and isinstance(held[key], (int, float)):
                held[key] = [held[key]] * parameter.repeats
        return code(*given, **kwargs)

    return run


def _may_hold_objects(parameter: Any) -> bool:
    plain = lambda t: t.kind() == "ClassType" and not _C._is_module_class(t)
    return contained_in(parameter.type, lambda t: plain(t) or t.kind() in ("InterfaceType", "AnyType"))
