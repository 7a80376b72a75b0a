"""A program: functions with the classes, constants and sources that they need, as one text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from taeda import _C
from taeda._schema.types import Type
from taeda.jit.translate.function import FunctionTranslator
from taeda.jit.translate.text import Externals, literal, quoted, type_text

if TYPE_CHECKING:
    from taeda.jit.ir import Graph, Node
    from taeda.jit.source import Source

VERSION = 1


class Unit(NamedTuple):
    """A function of a program: its name there, its graph, and its parameters: (name, (default,) or None, keyword-only).

    ``owner`` is the class that it is a method of.
    """

    name: str
    graph: Graph
    parameters: Sequence[tuple[str, tuple[Any] | None, bool]]
    owner: str | None = None


class Program:
    """Collects functions; ``text`` is what ``_C._jit.load`` and archives take, ``externals`` what it refers to."""

    def __init__(self, name_of: Any = None, need_method: Any = None) -> None:
        self.externals = Externals()
        self.sources: list[Source] = []
        self.classes: dict[str, Type] = {}
        self._source_places: dict[int, int] = {}
        self._names: dict[tuple[str, str | None], str] = {}
        self._functions: list[str] = []
        self._name_of, self._need_method = name_of, need_method

    # --- What translators ask
    def place_of(self, node: Node) -> str:
        """Where a node stands in the source: ``; 0 12 17``."""
        place = node.range
        if place is None:
            return ""
        number = self._source_places.setdefault(id(place.source), len(self.sources))
        if number == len(self.sources):
            self.sources.append(place.source)
        return f"; {number} {place.start} {place.end}"

    def function_of(self, node: Node) -> str:
        """The op or function that a node calls: ``aten::add.Tensor``."""
        kind = node.kind()
        overload = node.overload
        if overload is None and kind not in _ANY_ARGUMENTS:
            schema = node.op_schema()
            overload = schema.overload_name if schema is not None else ""
        return f"{kind}.{overload}" if overload else kind

    def is_op(self, name: str) -> bool:
        """Whether it is of the op table; otherwise it is one of the language's own functions."""
        kind, _, overload = name.partition(".")
        return overload in _C._overloads_of(kind)

    def need_function(self, function: Any) -> str:
        """The name by which the program calls another function."""
        if self._name_of is None:
            raise RuntimeError(f"the function {function} is not part of the program")
        name: str = self._name_of(function)
        return name

    def need_class(self, type: Type) -> None:
        """The program speaks of a class."""
        if type.kind() == "ClassType" and type._name not in self.classes:
            self.classes[type._name] = type
            for _, attribute, _ in _C._class_attributes(type):
                self._need_inner(attribute)

    def _need_inner(self, type: Type) -> None:
        if type.kind() == "ClassType":
            self.need_class(type)
        elif type.kind() == "EnumType":
            self.externals.enumerations[type._name] = type
        for part in type.containedTypes():
            if part is not type:
                self._need_inner(part)

    def need_method(self, type: Type, name: str) -> None:
        """The program calls a method of a class or interface."""
        if self._need_method is not None:
            self._need_method(type, name)

    # --- Building
    def add(self, function: Unit) -> None:
        """Adds a function.

        Raises:
            RuntimeError: the graph has a node that no instruction stands for.
        """
        for value in function.graph._all_values():  # type: ignore[attr-defined]
            self._need_inner(value.static_type)
        translator = FunctionTranslator(function.graph, self)
        translator.translate()
        self._functions += translator.text(function.name, function.owner, function.parameters)

    def text(self) -> str:
        """The whole program."""
        lines = [f"taeda-program {VERSION}"]
        lines += [f"source {quoted(s.filename)} {s.first_line} {quoted(s.text)}" for s in self.sources]
        for name, type in self.externals.enumerations.items():
            lines += [self._enumeration(name, type)]
        for type in self.classes.values():
            lines += _class_lines(type)
        return "\n".join([*lines, *self._functions, ""])

    def _enumeration(self, name: str, type: Type) -> str:
        held, members = type.containedTypes()[0], _C._enum_members(type)
        parts = [f"{quoted(member)} {literal(value, held, self.externals)}" for member, value in members]
        return " ".join(["enum", quoted(name), type_text(held), str(len(parts)), *parts])


_KINDS = ("plain", "parameter", "buffer")


def _class_lines(type: Type) -> list[str]:
    lines = [f"class {quoted(type._name)} {'module' if _C._is_module_class(type) else 'plain'}"]
    for name, attribute, kind in _C._class_attributes(type):
        lines.append(f"attribute {quoted(name)} {_KINDS[kind]} {type_text(attribute)}")
    return lines


# Which take arguments of any number and type, and have no overloads.
_ANY_ARGUMENTS = frozenset([
    "prim::Print", "aten::format", "aten::percentFormat", "prim::tolist", "aten::has_torch_function",
])  # fmt: skip
