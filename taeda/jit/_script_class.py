"""Classes that derive from `ScriptModule`: once ``__init__`` is through, each object of them is a program."""

from __future__ import annotations

import functools
from typing import Any

from taeda import nn
from taeda._main.script_marks import Attribute
from taeda.jit.check.environment import is_ours, names_of_caller

PENDING = "_pending_definitions"  # texts given to define() while __init__ runs
TYPES = "_attribute_types"  # of what was set as an Attribute meanwhile


def prepare_class(cls: type) -> None:
    """Has the objects of a class compiled when their ``__init__`` is through."""
    if is_ours(cls):
        return
    from taeda.jit import _module

    for name, raw in list(vars(cls).items()):
        if getattr(raw, "_script_modifier", "") == "script_method":
            setattr(cls, name, _module._CompiledMethod(raw))
    begin: Any = cls.__init__  # type: ignore[misc]

    @functools.wraps(begin)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        if type(self) is cls and "_modules" in vars(self):
            become_program(self)

    cls.__init__ = __init__  # type: ignore[misc]


@functools.lru_cache(None)
def _program_class(cls: Any) -> type:
    """The class of compiled objects of a class: they are of both kinds."""
    from taeda.jit._module import RecursiveScriptModule

    kind: Any = type(cls)
    made: type = kind(cls.__name__, (RecursiveScriptModule, cls), {"__module__": cls.__module__, "_is_program": True})
    made.__qualname__ = cls.__qualname__
    return made


def become_program(module: Any) -> None:
    """Compiles a module in its place."""
    from taeda.jit._module import script_module

    cls: Any = type(module)
    plain = cls.__new__(cls)
    plain.__dict__.update(vars(module))
    made = script_module(plain)
    object.__setattr__(module, "__class__", _program_class(cls))
    module.__dict__.clear()
    module.__dict__.update(vars(made))


def add_definitions(info: Any) -> None:
    """Gives a module's class the methods of the texts that its ``__init__`` defined."""
    from taeda.jit._define import functions_of_text

    for text, seen in vars(info.example).get(PENDING, ()):
        for name, function in functions_of_text(text, {}, info.type, info.name, seen=seen).items():
            info.methods.setdefault(name, function)


def keep_attribute(module: nn.Module, name: str, value: Any) -> Any:
    """What ``module.name = value`` sets while ``__init__`` runs: of an `Attribute` the value, whose type is kept."""
    if isinstance(value, Attribute):
        module.__dict__.setdefault(TYPES, {})[name] = value.type
        return value.value
    return value


def keep_definition(module: nn.Module, text: str, depth: int) -> None:
    """Keeps a text for when the module is compiled, with the names that the caller sees."""
    module.__dict__.setdefault(PENDING, []).append((text, names_of_caller(depth + 1)))
