"""The classes and functions of an archive, made from its source when they are asked for."""

from __future__ import annotations

import ast
import enum
import functools
import math
import re
import sys
from collections.abc import Callable
from typing import Any

from taeda import _C
from taeda._schema.function_schema import FunctionSchema
from taeda.jit._ir_types import contained_in
from taeda.jit.check.classes import ClassInfo, class_named
from taeda.jit.check.function import MISSING, Function, Parameter, spelled
from taeda.jit.check.types import NONE
from taeda.jit.files.annotations import TypeReader
from taeda.jit.files.archive import FORMAT_VERSION
from taeda.jit.files.importer import Importer
from taeda.jit.files.instructions import Instructions
from taeda.jit.files.sources import Part, Sources
from taeda.jit.ir import Graph
from taeda.jit.parse.errors import CompileError, fail
from taeda.jit.source import SourceRange

_OLD_PACKED = ("_packed_params", "Tensor")  # what files before 2020 say of packed weights
_PREPACK = re.compile(r"ops\.quantized\.(linear|conv2d|conv3d|conv)_prepack\(")
_ATTRIBUTE = re.compile(r'^  (?:(\w+)|__annotations__\["([^"\n]*)"\]) *[:=] *([^=\n]+?)(?: = (.*))?$', re.MULTILINE)
_NAMES = re.compile(r"^  (__\w+__) = (\[.*?\])$", re.MULTILINE | re.DOTALL)
_MODULES = ("Module", "InterfaceModule")
_PLAIN, _PARAMETER, _BUFFER = range(3)
_HOOKS = ("_forward_pre_hooks", "_forward_hooks")


def _packed_type(text: str) -> str:
    """The class of packed weights by what a class's methods pack them with; Tensor if they do not."""
    found = _PREPACK.search(text)
    kind = {"linear": "Linear", "conv3d": "Conv3d"}.get(found[1], "Conv2d") if found else ""
    return f"__torch__.torch.classes.quantized.{kind}PackedParamsBase" if found else "Tensor"


class SourceFunction(Function):
    """A function or method of an archive, whose graph is made from its source when somebody asks for it."""

    is_compiled = True

    def __init__(self, program: ArchiveProgram, part: Part, qualified_name: str, self_type: Any = None) -> None:
        self._program, self._part, self.self_type = program, part, self_type
        self.name, self.qualified_name = part.name, qualified_name
        self._graph: Graph | None = None
        self._compiling = False
        self.inferred: set[str] = set()

    @functools.cached_property
    def _tree(self) -> tuple[ast.FunctionDef, int]:
        return self._part.tree()

    @functools.cached_property
    def schema(self) -> FunctionSchema:  # type: ignore[override]
        """What it takes and gives."""
        tree, _ = self._tree
        return schema_of(tree, self._program, self.self_type)

    def parameters(self) -> list[Parameter]:
        """Its parameters, the object of a method first."""
        return [
            Parameter(a.name, a.type, a.default_value if a.has_default_value() else MISSING, a.kwarg_only, None)
            for a in self.schema.arguments
        ]

    def declared_result(self) -> Any:
        """The type of its result."""
        return self.schema.returns[0].type if self.schema.returns else NONE

    def bring_code(self) -> None:
        """Has the instructions of its archive, if it has any, be the code of its functions."""
        self._program.bring_code()

    def _compiled(self) -> Graph:
        tree, shift = self._tree
        graph = Graph()
        try:
            Importer(graph, _Body(self._program, self._part, shift)).function(tree, self.self_type)
        except CompileError:
            raise
        except (RecursionError, AttributeError, LookupError, TypeError, ValueError) as error:
            fail(self._part.place(), f"taeda.jit.load: the source of '{self.name}' in the archive is damaged ({error})")
        return graph

    def __repr__(self) -> str:
        return f"SourceFunction({self.qualified_name})"


class _Body:
    """What a function of an archive is read with."""

    def __init__(self, program: ArchiveProgram, part: Part, shift: int) -> None:
        self._program, self._part, self._shift = program, part, shift
        self.named, self.constant, self.type_of = program.named, program.constant, program.types.from_tree
        self.version = program.version

    def place(self, tree: ast.AST) -> SourceRange:
        return self._part.range(tree, self._shift)


class ArchiveProgram:
    """The classes, functions and constants of an archive.

    A class that has the name of another, which this process knows already, is given a number.

    Args:
        sources: the archive's source.
        constants: its table of constants.
        instructions: those that it has beside the source.
        version: that of its format, which says what ops mean.
    """

    def __init__(
        self, sources: Sources, constants: tuple[Any, ...], instructions: Instructions | None = None,
        version: int = FORMAT_VERSION,
    ) -> None:  # fmt: skip
        self._sources, self._constants, self._instructions = sources, constants, instructions
        self.version = version
        self._known: dict[str, Any] = {}
        self._classes: list[ClassInfo] = []
        self.types = TypeReader(self._type_named)
        self.members: dict[Any, type[enum.Enum]] = {}  # Python's classes of the enumerations, by type

    def bring_code(self) -> None:
        """Brings the instructions in, once."""
        instructions, self._instructions = self._instructions, None
        if instructions is not None:
            instructions.bring(self)

    def function(self, name: str) -> Any:
        """The function or method that the archive calls ``__torch__.…``; None if there is none."""
        owner, _, method = name.rpartition(".")
        part = self._sources.find(owner)
        if part is None:
            return self.named(name) if self._sources.find(name) is not None else None
        info = class_named(self.named(owner)._name)
        return None if info is None else info.function(method)

    def constant(self, name: str) -> Any:
        """``CONSTANTS.c3``."""
        place = name.removeprefix("c")
        if not place.isdigit() or int(place) >= len(self._constants):
            raise CompileError(f"taeda.jit.load: the archive has no constant '{name}'")
        return self._constants[int(place)]

    def _type_named(self, name: str) -> Any:
        found = self.named(name)
        if isinstance(found, (SourceFunction, tuple)):
            raise CompileError(f"taeda.jit.load: '{name}' is no type")
        return found

    def named(self, name: str) -> Any:
        """The class, function or member of an enumeration that the archive calls ``__torch__.…``.

        Raises:
            RuntimeError: the archive has none of that name.
        """
        found = self._known.get(name)
        if found is None and name.startswith("__torch__.torch.classes."):  # the process's own, if it has one
            from taeda.jit._packed import declare

            found = self._known[name] = _C._find_named_type(name) or declare(name)
        if found is None:
            part = self._sources.find(name)
            if part is None:
                return self._member(name)
            if part.kind == "def":
                found = self._known[name] = SourceFunction(self, part, name)
            else:
                found = _KINDS.get(part.base(), ArchiveProgram._class)(self, name, part)
        return found

    def _member(self, name: str) -> Any:
        owner, _, last = name.rpartition(".")
        part = self._sources.find(owner)
        if part is not None and part.kind == "class" and part.base() == "Enum":
            type = self.named(owner)
            if last in self.members[type].__members__:
                return self.members[type][last], type
        raise CompileError(f"taeda.jit.load: the archive's source names '{name}', which it does not define")

    def _free_name(self, name: str) -> str:
        free, number = name, 0
        module, _, last = name.rpartition(".")
        while _C._find_named_type(free) is not None:
            free = f"{module}.___torch_mangle_{number}.{last}"
            number += 1
        return free

    # --- Kinds of classes
    def _class(self, name: str, part: Part) -> Any:
        info = ClassInfo(self._free_name(name), None, part.base() in _MODULES, passing=True)
        self._classes.append(info)
        type = self._known[name] = info.type
        header = part.header()
        lists = {match[1]: _texts(match[2]) for match in _NAMES.finditer(header)}
        info.hooks = {table: lists[f"_{table}__"] for table in _HOOKS if f"_{table}__" in lists}
        kinds = dict.fromkeys(lists.get("__parameters__", ()), _PARAMETER)
        kinds |= dict.fromkeys(lists.get("__buffers__", ()), _BUFFER)
        for match in _ATTRIBUTE.finditer(_NAMES.sub("", header)):
            attribute = match[1] or match[2]
            if match[4] is not None:
                info.constants[attribute] = value = self._literal(match[4], part)
                _C._add_class_constant(type, attribute, value)
            else:
                declared = _packed_type(part.text) if (attribute, match[3]) == _OLD_PACKED else match[3]
                _C._add_class_attribute(type, attribute, self.types.read(declared), kinds.get(attribute, _PLAIN))
        for method, each in part.methods().items():
            info.methods[method] = SourceFunction(self, each, f"{info.name}.{method}", type)
        return type

    def _named_tuple(self, name: str, part: Part) -> Any:
        fields = [(match[1] or match[2], self.types.read(match[3])) for match in _ATTRIBUTE.finditer(part.header())]
        own = self._free_name(name)
        type = self._known[name] = _C._named_tuple_type(own, [n for n, _ in fields], [t for _, t in fields])
        return type

    def _enum(self, name: str, part: Part) -> Any:
        members = [(match[1], self._literal(match[3], part)) for match in _ATTRIBUTE.finditer(part.header())]
        module, _, last = name.removeprefix("__torch__.").rpartition(".")
        try:
            made = _enum_class(module or "__main__", last, members)
            type = _C._enum_type(made)
        except (TypeError, ValueError, RuntimeError) as error:
            fail(part.place(), f"taeda.jit.load: '{name}' is no enumeration ({error})")
        self._known[name], self.members[type] = type, made
        return type

    def _interface(self, name: str, part: Part) -> Any:
        own = self._free_name(name)
        any_type = _C._parse_type("Any")
        methods = [str(schema_of(method.tree()[0], self, any_type)) for method in part.methods().values()]
        type = self._known[name] = _C._interface_type(own, methods)
        return type

    def _literal(self, text: str, part: Part) -> Any:
        """A constant of a class: a number, a text, a list or dict of them."""
        text = text.strip()
        if text in _PLAIN_LITERALS or text.isdigit():
            return _PLAIN_LITERALS[text] if text in _PLAIN_LITERALS else int(text)
        try:
            tree = ast.parse(text, mode="eval").body
            if isinstance(tree, ast.Attribute):
                return self.constant(tree.attr)
            if isinstance(tree, ast.Call):
                called = ast.unparse(tree.func)
                if called == "torch.device":
                    from taeda import device

                    return device(ast.literal_eval(tree.args[0]))
                if called == "annotate":
                    tree = tree.args[1]
            if isinstance(tree, ast.Name) or (isinstance(tree, ast.UnaryOp) and isinstance(tree.operand, ast.Name)):
                return _UNSPELLED[text]
            return ast.literal_eval(tree)
        except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError, LookupError) as error:
            fail(part.place(), f"taeda.jit.load: '{text[:50]}' is no constant ({error})")


_PLAIN_LITERALS = {"True": True, "False": False, "None": None}
_UNSPELLED = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_KINDS: dict[str, Callable[[ArchiveProgram, str, Part], Any]] = {
    "NamedTuple": ArchiveProgram._named_tuple,
    "Enum": ArchiveProgram._enum,
    "Interface": ArchiveProgram._interface,
    "ModuleInterface": ArchiveProgram._interface,
}


def _enum_class(module: str, name: str, members: list[tuple[str, Any]]) -> Any:
    """The process's own enumeration of this name if its members are the same, so that they are taken and given."""
    found = getattr(sys.modules.get(module), name, None)
    if isinstance(found, enum.EnumMeta):
        held: list[Any] = list(found)
        if repr([(member.name, member.value) for member in held]) == repr(members):
            return found
    return enum.Enum(name, members, module=module)  # type: ignore[misc]


def _texts(text: str) -> list[str]:
    return [item for item in ast.literal_eval(text) if isinstance(item, str)]


def schema_of(tree: ast.FunctionDef, program: ArchiveProgram, self_type: Any) -> FunctionSchema:
    """The schema that a definition's annotations and defaults say."""
    takes = tree.args.args
    defaults = [None] * (len(takes) - len(tree.args.defaults)) + list(tree.args.defaults)
    types = [self_type if a.annotation is None else program.types.from_tree(a.annotation) for a in takes]
    parts = []
    for argument, type, default in zip(takes, types, defaults, strict=True):
        text = f"{spelled(type)} {argument.arg}"
        parts.append(text if default is None else f"{text}={_default_text(default)}")
    result = program.types.from_tree(tree.returns) if tree.returns is not None else NONE
    schema = FunctionSchema(f"{tree.name}({', '.join(parts)}) -> ({spelled(result)})")
    for said, type in zip([*schema.arguments, *schema.returns], [*types, result]):
        if _names_tuple(type):  # a text names it as it names a class
            said.type = said.real_type = type
    return schema


def _names_tuple(type: Any) -> bool:
    return contained_in(type, lambda t: t.kind() == "TupleType" and bool(t._name))


def _default_text(tree: ast.expr) -> str:
    if isinstance(tree, ast.Call) and tree.args:  # annotate(List[int], []), torch.device("cpu")
        tree = tree.args[-1]
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        return '"' + tree.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return ast.unparse(tree)
