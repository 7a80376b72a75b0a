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
        self.waiting: list[Function] = []
        self.known: list[Any] = []
        self.taken: list[Function] = []

    def name_of(self, function: Function) -> str:
        if function not in _LINKED:
            self.take(function)
        elif function in _LOADED:
            self.known.append(_LOADED[function])
        return _LINKED[function]

    def need_method(self, type: Any, name: str) -> None:
        info = class_named(type._name) if type.kind() == "ClassType" else None
        function = info.function(name) if info is not None else None
        if function is not None and function not in _LINKED:
            self.take(function)

    def take(self, function: Function) -> None:
        _LINKED[function] = _free(function.qualified_name)
        self.waiting.append(function)
        self.taken.append(function)

    def run(self, function: Function) -> None:
        from taeda.jit.translate.program import Unit

        try:
            self.take(function)
            while self.waiting:
                each = self.waiting.pop()
                owner = each.self_type._name if each.self_type is not None else None
                self.program.add(Unit(_LINKED[each], _prepared(each), _parameters(each), owner))
            loaded = _C._jit.load(self.program.text(), self.program.externals.values, self.known)
        except Exception:
            for each in self.taken:
                _LINKED.pop(each, None)
            raise
        for each in self.taken:
            _LOADED[each] = loaded[_LINKED[each]]


_LINKED: dict[Function, str] = {}
_LOADED: dict[Function, Any] = {}
_NAMES: set[str] = set()


def _free(name: str) -> str:
    found, number = name, 0
    while found in _NAMES:
        head, _, last = name.rpartition(".")
        found = f"{head}.{number}.{last}" if head else f"{number}.{name}"
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
    """What runs a function, made when it is asked for first; of a method, the object is the first argument."""
    found = _LOADED.get(function)
    if found is None:
        _Linker().run(function)
        found = _LOADED[function]
    return found


def implementations(info: ClassInfo) -> None:
    """Loads all methods of a class, for callers that know no more of its objects than an interface."""
    for function in info.methods.values():
        runnable(function)
