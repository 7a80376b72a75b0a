"""Hooks of modules around ``forward``: methods of the module's class, which calls of the module run."""

from __future__ import annotations

import inspect
from typing import Any

from taeda.jit.check.environment import ClosureResolver
from taeda.jit.check.function import Function, defaults_of
from taeda.jit.check.modules import ModuleInfo, hooks_of
from taeda.jit.check.types import NONE, tuple_of
from taeda.jit.parse.definition import definition_of
from taeda.jit.parse.errors import fail


def compile_hooks(info: ModuleInfo, forward: Function) -> None:
    """Makes the hooks of a module methods of its class, and compiles them.

    Raises:
        CompileError: a hook has the name of something else, or takes or gives what ``forward`` does not.
    """
    takes = wanted = tuple_of([p.type for p in forward.parameters()[1:]])
    for hook in _plain_hooks(info, "_forward_pre_hooks"):
        gives = _hook(info, hook, [takes], "_forward_pre_hooks")
        if gives is not NONE:
            takes = gives if gives.kind() == "TupleType" else tuple_of([gives])
    if not takes.isSubtypeOf(wanted):
        fail(forward.definition.head(), f"the hooks before forward must give a {wanted}; they give a {takes}")
    result = forward.return_type()
    for hook in _plain_hooks(info, "_forward_hooks"):
        gives = _hook(info, hook, [wanted, result], "_forward_hooks")
        result = result if gives is NONE else gives


def _plain_hooks(info: ModuleInfo, table: str) -> list[Any]:
    hooks = [hook for hook in hooks_of(info.example, table).values() if inspect.isfunction(hook)]
    info.hooks[table] = [hook.__name__ for hook in hooks]
    return hooks


def _hook(info: ModuleInfo, hook: Any, given: list[Any], table: str) -> Any:
    """Compiles a hook for what it is given; the type of its result."""
    name = hook.__name__
    known = info.methods.get(name)
    if known is not None and getattr(known, "hook", None) is hook:
        return known.return_type()
    definition = definition_of(hook)
    if known is not None or name in info.attributes() or hasattr(type(info.example), name):
        fail(definition.head(), f"the hook '{name}' has the name of something else that {info.name} holds; rename it")
    named = list(inspect.signature(hook).parameters)[1:]
    if len(named) != len(given):
        fail(definition.head(), f"the hook '{name}' takes the module and {len(given)} more; got {len(named)}")
    types = dict(zip(named, given))
    make = lambda types: Function(
        definition, ClosureResolver(hook), f"{info.name}.{name}", defaults_of(hook), info.type, types
    )
    declared, made = make({}), make(types)
    for parameter, held in zip(declared.parameters()[1:], given):
        if parameter.name not in declared.inferred and not held.isSubtypeOf(parameter.type):
            fail(definition.head(), f"the hook '{name}': '{parameter.name}' is a {held}; it says {parameter.type}")
    made.hook = hook  # type: ignore[attr-defined]
    made.compile()
    info.methods[name] = made
    return made.return_type()
