"""From compiled functions to code: a function with all that it calls becomes one program, built once."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Protocol

from taeda import _C
from taeda.jit.translate.apart import run_in_place
from taeda.jit.translate.modes import enter_modes
from taeda.jit.translate.program import Program, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taeda._schema.function_schema import FunctionSchema
    from taeda._schema.types import Type
    from taeda.jit.ir import Graph


class Compiled(Protocol):
    """A function or method that the checker made."""

    qualified_name: str

    run: Any  # what runs it when Python calls it; None before it is asked for

    @property
    def graph(self) -> Graph:
        """What it does."""

    @property
    def run_graph(self) -> Graph:
        """What it does, as it is run."""

    @property
    def schema(self) -> FunctionSchema:
        """What it takes and gives."""


_code: weakref.WeakKeyDictionary[Any, _C._jit.Function] = weakref.WeakKeyDictionary()
_names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
_counts: dict[str, int] = {}


def code_of(function: Compiled) -> _C._jit.Function:
    """The code of a function, which is built, with that of all functions and methods that it calls, when first asked.

    Raises:
        RuntimeError: a graph holds what no instruction stands for.
    """
    if function not in _code:
        _bring(function)
    if function not in _code:
        build([function])
    return _code[function]


def adopt(function: Compiled, code: _C._jit.Function) -> None:
    """Makes code that an archive brought that of a function."""
    _code[function] = code


def _bring(function: Any) -> None:
    """A function of an archive has the code that came with it."""
    bring = getattr(function, "bring_code", None)
    if bring is not None:
        bring()


def build(functions: Iterable[Compiled], methods: Iterable[tuple[Type, str]] = ()) -> None:
    """Builds the code of several functions, and of methods of classes, as one program."""
    builder = _Builder()
    for function in functions:
        _bring(function)
        if function not in _code:
            builder.want(function, None)
    for type, name in methods:
        _bring(_method(type, name))
        builder.want_method(type, name)
    builder.run()


def forget(function: Compiled) -> None:
    """The function's graph has changed: its code is built anew when next asked for."""
    _code.pop(function, None)
    function.run = None


def program_of(functions: Iterable[Compiled], methods: Iterable[tuple[Type, str]] = ()) -> tuple[str, list[Any]]:
    """The text of a program that holds the functions, the methods and all that they call, whether built or not, and the
    values that it refers to by number: what an archive keeps."""
    builder = _Builder(alone=True)
    for function in functions:
        builder.want(function, None)
    for type, name in methods:
        builder.want_method(type, name)
    builder.translate()
    return builder.program.text(), builder.program.externals.values


def unit_of(name: str, function: Compiled, owner: str | None) -> Unit:
    """A function as `Program.add` takes it."""
    arguments = function.schema.arguments
    parameters = [
        (a.name, (a.default_value,) if a.has_default_value() else None, a.kwarg_only)
        for a in arguments
    ]  # fmt: skip
    graph = function.run_graph
    if len(parameters) != graph.param_node().outputsSize():
        parameters = [(value.debugName(), None, False) for value in graph.inputs()]
    return Unit(name, _prepared(graph), parameters, owner)


def _prepared(graph: Graph) -> Graph:
    """The graph as it is run: what is forked or awaited runs in its place, and passes have worked on it. A copy."""
    from taeda.jit.optimise import optimise

    twin = graph.copy()
    run_in_place(twin)
    enter_modes(twin)
    optimise(twin)
    return twin


def name_of(function: Compiled) -> str:
    """A name that no other function has."""
    if function not in _names:
        plain = function.qualified_name
        count = _counts[plain] = _counts.get(plain, 0) + 1
        _names[function] = plain if count == 1 else f"{plain}${count}"
    return _names[function]


class _Builder:
    def __init__(self, alone: bool = False) -> None:
        self.program = Program(self._callee, self.want_method)
        self.alone = alone  # what is built already is translated again
        self.waiting: list[tuple[Compiled, str | None]] = []
        self.made: dict[int, Compiled] = {}
        self.others: list[_C._jit.Function] = []
        self.asked: set[tuple[str, str]] = set()

    def want(self, function: Compiled, owner: str | None) -> None:
        own = getattr(function, "self_type", None)
        if owner is None and own is not None and own.kind() == "ClassType":
            owner = own._name
        if id(function) not in self.made:
            self.made[id(function)] = function
            self.waiting.append((function, owner))

    def _callee(self, function: Compiled) -> str:
        if function in _code and not self.alone:
            self.others.append(_code[function])
        else:
            self.want(function, None)
        return name_of(function)

    def want_method(self, type: Type, name: str) -> None:
        if type.kind() != "ClassType" or (type._name, name) in self.asked:
            return  # of an interface: whoever makes the object brings its methods
        self.asked.add((type._name, name))
        self.program.need_class(type)
        method = _method(type, name)
        if method is not None and (self.alone or method not in _code):
            self.want(method, type._name)

    def translate(self) -> None:
        while self.waiting:
            function, owner = self.waiting.pop()
            self.program.add(unit_of(name_of(function), function, owner))

    def run(self) -> None:
        if not self.waiting:
            return
        self.translate()
        made = _C._jit.load(self.program.text(), self.program.externals.values, self.others)
        for function in self.made.values():
            _code[function] = made[name_of(function)]


def _method(type: Type, name: str) -> Any:
    """The compiled method of a class; None if it has no code in Python, as those of classes from C++."""
    from taeda.jit.check.classes import class_named

    found = class_named(type._name)
    return found.function(name) if found is not None else None
