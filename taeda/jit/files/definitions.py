"""The source of a program: all classes and functions that its objects need, as the records of an archive."""

from __future__ import annotations

import keyword
import re
from typing import Any

from taeda import _C
from taeda._schema.types import Type
from taeda.jit.check.classes import class_named
from taeda.jit.check.types import INT
from taeda.jit.files.debug import Places, write_places
from taeda.jit.files.literals import ConstantTable, literal, type_text
from taeda.jit.files.printer import FunctionPrinter
from taeda.jit.ir import Graph, Node

_ROOT = "__torch__."
_PARAMETER, _BUFFER = 1, 2
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class Definitions:
    """Collects classes and functions, with all that these speak of, and writes their source."""

    def __init__(self) -> None:
        self.constants = ConstantTable()
        self._types: dict[str, Any] = {}
        self._met: set[Any] = set()
        self._functions: dict[Any, str] = {}
        self._methods: dict[str, dict[str, Any]] = {}
        self._extra: dict[str, dict[str, tuple[Graph, Any]]] = {}
        self._taken: set[str] = set()

    # --- What is needed
    def need_type(self, type: Any) -> None:
        """The program speaks of a type."""
        if type in self._met:
            return
        self._met.add(type)
        name = getattr(type, "_name", "")
        if name.startswith(_ROOT) and name not in self._types:
            self._types[name] = type
            self._taken.add(name)
            if type.kind() == "ClassType":
                self._need_class(type)
            elif type.kind() == "InterfaceType":
                for schema in _interface_schemas(type):
                    for argument in (*schema.arguments, *schema.returns):
                        self.need_type(argument.type)
        for inner in type.containedTypes():
            if inner is not type:
                self.need_type(inner)

    def _need_class(self, type: Any) -> None:
        for _, held, _ in _C._class_attributes(type):
            self.need_type(held)
        info = class_named(type._name)
        self._methods[type._name] = {}
        for name, function in (info.all_functions() if info is not None else {}).items():
            if function.is_compiled:  # one of a file or a trace is, of Python's what something calls
                self._methods[type._name][name] = function
                self._need_result(function)
                self._need_graph(function.graph)

    def add_method(self, type: Any, name: str, graph: Graph, schema: Any) -> None:
        """Gives a class a method that it has in the archive only."""
        self._extra.setdefault(type._name, {})[name] = (graph, schema)
        self._need_graph(graph)

    def _need_function(self, function: Any) -> None:
        if function not in self._functions:
            self._functions[function] = self._free(_sound(function.qualified_name))
            self._need_graph(function.graph)

    def _free(self, name: str) -> str:
        found, number = name, 0
        while found in self._taken:
            module, _, last = name.rpartition(".")
            found = f"{module}.___torch_mangle_{number}.{last}"
            number += 1
        self._taken.add(found)
        return found

    def _need_result(self, function: Any) -> None:
        result = function.declared_result()
        if result is not None:
            self.need_type(result)

    def _need_graph(self, graph: Graph) -> None:
        for value in graph.inputs():
            self.need_type(value.static_type)
        for node in graph.all_nodes():
            self._need_node(node)

    def _need_node(self, node: Node) -> None:
        for value in node._outputs:
            if (function := getattr(value.static_type, "function", None)) is not None:
                self._need_function(function)
            else:
                self.need_type(value.static_type)
        for block in node.blocks():
            for value in block.inputs():
                self.need_type(value.static_type)
        if node.kind() == "prim::isinstance":
            for type in node.attribute("types"):
                self.need_type(type)
        if node.hasAttribute("Subgraph"):
            self._need_graph(node.attribute("Subgraph"))

    def functions(self) -> dict[str, Any]:
        """The functions by the names that they have in the archive."""
        return {name: function for function, name in self._functions.items()}

    def methods(self) -> list[tuple[Any, str]]:
        """The methods of classes, as (type, name)."""
        return [(self._types[owner], name) for owner, methods in self._methods.items() for name in methods]

    def types(self) -> list[Any]:
        """All types that have a name."""
        return list(self._types.values())

    def all_functions(self) -> list[Any]:
        """All functions and methods of classes."""
        return [*self._functions, *(each for methods in self._methods.values() for each in methods.values())]

    # --- Text
    def records(self) -> dict[str, bytes]:
        """The records of source, with the places that it comes from, by name."""
        files: dict[str, _File] = {}
        for name, type in self._types.items():
            self._write_type(files.setdefault(_module(name), _File()), name, type)
        for function, name in self._functions.items():
            file = files.setdefault(_module(name), _File())
            self._write_function(file, name.rpartition(".")[2], function.graph, function.schema, 0)
        records = {}
        for module, file in files.items():
            path = f"code/{module.replace('.', '/')}.py"
            records[path] = "".join(file.pieces).encode()
            records[f"{path}.debug_pkl"] = write_places(file.places)
        return records

    def _write_function(self, file: _File, name: str, graph: Graph, schema: Any, level: int) -> None:
        printer = FunctionPrinter(graph, self.constants, level, file.numbers, lambda f: self._functions[f])
        source = printer.write(name, schema, level > 0)
        file.places += [(file.length + offset, place) for offset, place in source.places]
        file.add(source.text)

    def _write_type(self, file: _File, name: str, type: Any) -> None:
        kind, last = type.kind(), name.rpartition(".")[2]
        if kind == "ClassType":
            self._write_class(file, last, type)
        elif kind == "TupleType":
            inner = zip(type._fields, type.containedTypes(), strict=True)
            file.add(f"class {last}(NamedTuple):\n" + "".join(_declared(field, held) for field, held in inner))
        elif kind == "EnumType":
            file.add(f"class {last}(Enum):\n")
            for member, value in _C._enum_members(type):
                file.add(f"  {member} = {literal(value, _held_type(type), self.constants)}\n")
        elif kind == "InterfaceType":
            self._write_interface(file, last, type)

    def _write_class(self, file: _File, name: str, type: Any) -> None:
        is_module = _C._is_module_class(type)
        file.add(f"class {name}{'(Module)' if is_module else ''}:\n")
        attributes = _C._class_attributes(type)
        for word, wanted in (("__parameters__", _PARAMETER), ("__buffers__", _BUFFER)) if is_module else ():
            names = [n for n, held, kind in attributes if kind == wanted and held.kind() != "NoneType"]
            file.add(f"  {word} = [{''.join(f'{literal(n, None, self.constants)}, ' for n in names)}]\n")
        info = class_named(type._name)
        for table, names in (info.hooks if info is not None else {}).items():
            if names:
                file.add(f"  _{table}__ = [{''.join(f'{literal(n, None, self.constants)}, ' for n in names)}]\n")
        for attribute, held, _ in attributes:
            file.add(_declared(attribute, held))
        for constant, value in _C._class_constants(type):
            self._write_constant(file, constant, value)
        methods = self._methods.get(type._name, {})
        for method, function in methods.items():
            self._write_function(file, method, function.graph, function.schema, 1)
        for method, (graph, schema) in self._extra.get(type._name, {}).items():
            self._write_function(file, method, graph, schema, 1)
        if not attributes and not methods and not is_module:
            file.add("  pass\n")

    def _write_constant(self, file: _File, name: str, value: Any) -> None:
        """A constant, unless it is one that archives do not spell: its uses have it themselves."""
        plain = value is None or isinstance(value, (bool, int, float, str, complex)) or _is_plain_list(value)
        if plain and _NAME.fullmatch(name) and not keyword.iskeyword(name):
            type = _C._type_of(value)
            text = literal(value, type, self.constants)
            if not text.startswith("CONSTANTS"):
                file.add(f"  {name} : Final[{type_text(type)}] = {text}\n")

    def _write_interface(self, file: _File, name: str, type: Any) -> None:
        modules = [t for t in self._types.values() if t.kind() == "ClassType" and _C._is_module_class(t)]
        base = "ModuleInterface" if any(each.isSubtypeOf(type) for each in modules) else "Interface"
        file.add(f"class {name}({base}):\n")
        for schema in _interface_schemas(type):
            parts = ["self", *(self._interface_argument(a) for a in schema.arguments[1:])]
            result = type_text(schema.returns[0].type) if schema.returns else "NoneType"
            file.add(f"  def {schema.name}({', '.join(parts)}) -> {result}:\n    pass\n")

    def _interface_argument(self, argument: Any) -> str:
        text = f"{argument.name}: {type_text(argument.type)}"
        if not argument.has_default_value():
            return text
        return f"{text}={literal(argument.default_value, argument.type, self.constants)}"


class _File:
    """One record of source while it is written."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.places: Places = [(0, None)]
        self.numbers: dict[str, int] = {}

    def add(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)


def _held_type(type: Type) -> Any:
    inner = type.containedTypes()
    return inner[0] if inner else INT


def _is_plain_list(value: Any) -> bool:
    items = value if isinstance(value, (list, tuple)) else []
    return bool(items) and all(
        item.__class__ is items[0].__class__ and isinstance(item, (bool, int, float, str)) for item in items
    )


def _interface_schemas(type: Any) -> list[Any]:
    from taeda._schema.function_schema import FunctionSchema

    return [FunctionSchema(text) for text in _C._interface_methods(type)]


def _declared(name: str, type: Any) -> str:
    if _NAME.fullmatch(name) and not keyword.iskeyword(name):
        return f"  {name} : {type_text(type)}\n"
    return f'  __annotations__["{name}"] = {type_text(type)}\n'


def _module(name: str) -> str:
    return name.rpartition(".")[0]


def _sound(name: str) -> str:
    """A function's name with what names in archives may have only."""
    parts = [part if _NAME.fullmatch(part) else re.sub(r"\W", "_", part) or "_" for part in name.split(".")]
    parts = [f"{part}_" if keyword.iskeyword(part) else part for part in parts]
    return ".".join(parts if parts[0] == _ROOT[:-1] else [_ROOT[:-1], *parts])
