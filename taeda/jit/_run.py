"""From a compiled function to one that runs: its graph and those of all that it calls become one program."""

from __future__ import annotations

from typing import Any

from taeda import _C
from taeda.jit.check.classes import ClassInfo, class_named
from taeda.jit.check.function import MISSING, Function


class _Linker:
    """Collects what a function calls, as far as it has not been loaded yet."""

    def __init__(self) -> None:
        from taeda.jit.translate.program import Program

        self.program = Program(self.name_of, self.need_method)
        self.waiting: list[tuple[Function, str, str | None]] = []
        self.known: list[Any] = []
        self.taken: list[Function] = []

    def name_of(self, function: Function) -> str:
        if function not in _LINKED:
            name = _free(function.qualified_name)
            _LINKED[function] = name
            self.waiting.append((function, name, None))
        elif function in _LOADED:
            self.known.append(_LOADED[function])
        return _LINKED[function]

    def need_method(self, type: Any, name: str) -> None:
        if type.kind() == "InterfaceType":
            return
        info = class_named(type._name)
        function = info.function(name) if info is not None else None
        if function is not None and function not in _LINKED:
            _LINKED[function] = name
            self.waiting.append((function, name, type._name))

    def run(self, function: Function, owner: str | None) -> Any:
        from taeda.jit.translate.program import Unit

        name = function.name if owner else _free(function.qualified_name)
        _LINKED[function] = name
        self.waiting.append((function, name, owner))
        try:
            while self.waiting:
                each, label, of = self.waiting.pop()
                self.taken.append(each)
                self.program.add(Unit(label, _prepared(each), _parameters(each), of))
            loaded = _C._jit.load(self.program.text(), self.program.externals.values, self.known)
        except Exception:
            for each in self.taken + [w[0] for w in self.waiting]:
                _LINKED.pop(each, None)
            raise
        for each in self.taken:
            key = _LINKED[each]
            if key in loaded:
                _LOADED[each] = loaded[key]
        return loaded.get(name)


_LINKED: dict[Function, str] = {}
_LOADED: dict[Function, Any] = {}
_NAMES: set[str] = set()


def _free(name: str) -> str:
    found, number = name, 0
    while found in _NAMES:
        found = f"{name}__{number}"
        number += 1
    _NAMES.add(found)
    return found


def _prepared(function: Function) -> Any:
    """The graph as it is run: a copy, with passes applied where there are any."""
    graph = function.graph.copy()
    try:
        from taeda.jit.optimise import optimise
    except ImportError:
        return graph
    optimise(graph)
    return graph


def _parameters(function: Function) -> list[tuple[str, tuple[Any] | None, bool]]:
    return [(p.name, None if p.default is MISSING else (p.default,), p.keyword_only) for p in function.parameters()]


def runnable(function: Function) -> Any:
    """What runs a function, made when it is asked for first."""
    found = _LOADED.get(function)
    if found is None:
        found = _Linker().run(function, None)
        _LOADED[function] = found
    return found


def link_methods(info: ClassInfo) -> None:
    """Lets objects of a class run its methods."""
    for function in [*info.methods.values(), *(f for pair in info.properties.values() for f in pair if f is not None)]:
        if function not in _LINKED:
            _Linker().run(function, info.name)
