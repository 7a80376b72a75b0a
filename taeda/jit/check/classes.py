"""Classes of a program: their attributes, methods and properties, and what programs do with their objects."""

from __future__ import annotations

import ast
import copy
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from taeda import _C, nn
from taeda._main.annotation_questions import is_optional as is_optional_annotation
from taeda.jit.check.emitter import ATTRIBUTES, Emitter
from taeda.jit.check.environment import ClosureResolver, Resolver
from taeda.jit.check.function import Function, converted, defaults_of, traced_result
from taeda.jit.check.types import NONE
from taeda.jit.check.values import BoundMethod, BoundPython, Known
from taeda.jit.ir import Value
from taeda.jit.parse.definition import Definition, class_definition
from taeda.jit.parse.errors import CompileError, DeclaredOutside, fail
from taeda.jit.source import SourceRange

_BY_NAME: dict[str, ClassInfo] = {}
_PASSING: weakref.WeakValueDictionary[str, ClassInfo] = weakref.WeakValueDictionary()
_BY_CLASS: dict[Any, ClassInfo] = {}
_INTERFACES: dict[Any, Any] = {}
_NUMBERS: dict[str, int] = {}  # behind names that were taken: how many


class ClassInfo:
    """What is known of a class beside its type: its methods' functions and properties.

    Args:
        name: ``__torch__.package.Name``.
        python_class: the Python class it was made from; None for one from a file.
        is_module: whether its objects are modules.
        passing: whether nobody makes objects of it any more when those who have this are gone. Its methods, and the
            tensors that they hold, are then forgotten.
    """

    def __init__(
        self, name: str, python_class: type | None = None, is_module: bool = False, passing: bool = False
    ) -> None:
        self.type = _C._class_type(name, is_module)
        self.name, self.python_class, self.is_module, self.passing = name, python_class, is_module, passing
        self.methods: dict[str, Function] = {}
        self.properties: dict[str, tuple[Function, Function | None]] = {}
        self.static_methods: dict[str, Function] = {}
        self.constants: dict[str, Any] = {}
        self.hooks: dict[str, list[str]] = {}  # names of methods that are hooks of forward, by table
        self.is_open = False  # while __init__ is compiled, which gives it its attributes
        if passing:
            _PASSING[name] = self
            weakref.finalize(self, _C._forget_methods, self.type).atexit = False
        else:
            _BY_NAME[name] = self

    # --- Attributes
    def attributes(self) -> dict[str, Any]:
        """The types of its attributes by name."""
        return {name: type for name, type, _ in _C._class_attributes(self.type)}

    def add_attribute(self, name: str, type: Any, kind: int = 0) -> None:
        """Declares an attribute; ``kind`` is 1 for a parameter, 2 for a buffer."""
        _C._add_class_attribute(self.type, name, type, kind)

    def function(self, name: str) -> Function | None:
        """A method's function, also one that reads or sets a property; None if there is none of this name."""
        found = self.methods.get(name)
        if found is None and name in self.properties:
            return self.properties[name][0]
        if found is None and name.endswith("_setter"):
            return self.properties.get(name.removesuffix("_setter"), (None, None))[1]
        return found

    def all_functions(self) -> dict[str, Function]:
        """Its methods, and what reads and sets its properties, by name."""
        found = dict(self.methods)
        for name, accessors in self.properties.items():
            found |= {f.name: f for f in accessors if f is not None and name not in found}
        return found

    def compile(self) -> None:
        """Compiles all methods."""
        for function in [*self.methods.values(), *self.static_methods.values()]:
            function.compile()
        for getter, setter in self.properties.values():
            getter.compile()
            if setter is not None:
                setter.compile()


def class_named(name: str) -> ClassInfo | None:
    """The class of this full name; None if nobody declared it."""
    return _BY_NAME.get(name) or _PASSING.get(name)


def free_name(name: str) -> str:
    """The name if it is free, otherwise with a number that nobody has."""
    found, number = name, _NUMBERS.get(name, 0)
    while _C._find_named_type(found) is not None:
        found = f"__torch__.___torch_mangle_{number}{name.removeprefix('__torch__')}"
        number += 1
    _NUMBERS[name] = number
    return found


def info_of(value: Any) -> ClassInfo | None:
    """The class of a value; None if it is no object."""
    if not isinstance(value, Value) or value.static_type.kind() != "ClassType":
        return None
    return class_named(value.static_type._name)


# --- Python classes
def class_of(cls: Any, range: SourceRange | None, name: str | None = None,
             seen: Callable[[str], Any] | None = None) -> ClassInfo:  # fmt: skip
    """The compiled form of a Python class, the same each time; methods are compiled when they are called.

    Args:
        seen: what names mean where the class stands, beside those that its methods see.

    Raises:
        CompileError: it is no class that programs can have.
    """
    found = _BY_CLASS.get(cls)
    if found is not None:
        return found
    if issubclass(cls, BaseException):
        fail(range, f"{cls.__name__} is an exception, which a program can raise but not hold")
    if cls.__module__ == "builtins":
        fail(range, f"{cls.__name__} is no type that programs have")
    info = ClassInfo(free_name(name or _C._program_name(cls)), cls)
    _BY_CLASS[cls] = info
    try:
        _declare_members(info, cls, seen)
    except CompileError:
        del _BY_CLASS[cls]
        raise
    return info


def _declare_members(info: ClassInfo, cls: Any, seen: Callable[[str], Any] | None) -> None:
    for base in reversed(cls.__mro__):
        if base is object:
            continue
        tree, source = class_definition(base)
        resolver = _ClassResolver(base, seen)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                _add_function(info, base, Definition(node, source), resolver)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not _is_dataclass(cls):
                _annotated(info, base, node, Definition(node, source), resolver)  # type: ignore[arg-type]
    for name, value in vars(cls).items():
        declared = name in vars(cls).get("__annotations__", {})
        if not declared and not name.startswith("__") and isinstance(value, (bool, int, float, str, tuple)):
            info.constants[name] = value
    if _is_dataclass(cls):
        _add_dataclass_methods(info, cls)


def _is_dataclass(cls: Any) -> bool:
    return "__dataclass_fields__" in vars(cls)


class _ClassResolver(ClosureResolver):
    """The names that methods of a class see; within the class's own source its name is the class."""

    def __init__(self, cls: Any, seen: Callable[[str], Any] | None = None) -> None:
        members = [f.fget if isinstance(f, property) else getattr(f, "__func__", f) for f in vars(cls).values()]
        functions = [f for f in members if inspect.isfunction(f)]
        super().__init__(functions[0] if functions else None, seen)
        for function in functions[1:]:
            self.closure = {**ClosureResolver(function).closure, **self.closure}
        self.cls = cls
        if not functions:
            import sys

            self.globals = vars(sys.modules.get(cls.__module__, inspect))

    def resolve(self, name: str, range: SourceRange | None) -> Any:
        if name == self.cls.__name__:
            return Known(self.cls)
        return super().resolve(name, range)

    def of_method(self, function: Any) -> Resolver:
        """The same for one of the class's functions, whose annotations Python has."""
        found = copy.copy(self)
        found.function = function
        return found


def _marks(node: ast.FunctionDef) -> set[str]:
    out = set()
    for decorator in node.decorator_list:
        text = ast.unparse(decorator)
        out.add(text.rpartition(".")[2] if not text.endswith((".setter", ".deleter")) else text.rpartition(".")[2])
    return out


def _add_function(info: ClassInfo, base: Any, definition: Definition, resolver: _ClassResolver) -> None:
    node = definition.node
    assert isinstance(node, ast.FunctionDef)
    name, marks = node.name, _marks(node)
    if marks & {"unused", "ignore", "ignore()", "_drop"} or (_is_dataclass(base) and name == "__init__"):
        return
    raw = vars(base).get(name)
    plain = raw.fget if isinstance(raw, property) else getattr(raw, "__func__", raw)
    defaults = defaults_of(plain) if callable(plain) else {}
    seen = resolver.of_method(plain)
    make = lambda label, self_type: Function(
        definition, seen, f"{info.name}.{label}", defaults, self_type, owner_class=base
    )
    if "property" in marks:
        info.properties[name] = (make(name, info.type), None)
    elif "setter" in marks and name not in info.properties:
        return
    elif "setter" in marks:
        getter, _ = info.properties[name]
        info.properties[name] = (getter, make(f"{name}_setter", info.type))
    elif "staticmethod" in marks:
        info.static_methods[name] = make(name, None)
    elif "classmethod" in marks:
        return
    else:
        info.methods[name] = make(name, info.type)


def _annotated(info: ClassInfo, base: Any, node: ast.AnnAssign, definition: Definition, resolver: Resolver) -> None:
    from taeda.jit.check.annotations import type_of_annotation
    from taeda.jit.ir import Graph

    reader = Emitter(Graph(), definition, resolver, None)
    hint = vars(base).get("__annotations__", {}).get(node.target.id)  # type: ignore[union-attr]
    type = type_of_annotation(reader, node.annotation, None if isinstance(hint, str) else hint)
    name = node.target.id  # type: ignore[union-attr]
    if type is not None and name not in info.attributes():
        info.add_attribute(name, type)


def _add_dataclass_methods(info: ClassInfo, cls: Any) -> None:
    """The ``__init__`` and ``__eq__`` that a dataclass has without writing them."""
    import dataclasses

    fields = dataclasses.fields(cls)
    # In the order of parameters, with those that only __post_init__ gets.
    taken = [f for f in vars(cls)["__dataclass_fields__"].values() if f in fields or _is_init_var(f)]
    resolver = _ClassResolver(cls)
    hints = {k: v for base in reversed(cls.__mro__) for k, v in vars(base).get("__annotations__", {}).items()}
    hints |= {f.name: _type_of_init_var(hints[f.name]) for f in taken if _is_init_var(f)}
    table = {f"_type_{f.name}": hints[f.name] for f in taken}

    class _Fields(ClosureResolver):
        def resolve(self, name: str, range: SourceRange | None) -> Any:
            if name in table and not isinstance(table[name], str):
                return Known(table[name])
            return resolver.resolve(name, range)

    spelled = {f.name: hints[f.name] if isinstance(hints[f.name], str) else f"_type_{f.name}" for f in taken}
    shown = [f for f in taken if f.init]
    defaults = {f.name: f.default for f in taken if f.default is not dataclasses.MISSING}
    for f in fields:
        if f.default_factory is not dataclasses.MISSING:
            raise NotImplementedError(
                f"taeda.jit.script: {cls.__name__}.{f.name} has a default_factory, which programs do not call"
            )
    parameters = ", ".join(f"{f.name}: {spelled[f.name]}" for f in shown)
    body = [f"    self.{f.name} = {f.name}" for f in shown if not _is_init_var(f)]
    if "__post_init__" in info.methods:
        body.append(f"    self.__post_init__({', '.join(f.name for f in taken if _is_init_var(f))})")
    texts = {"__init__": f"def __init__(self, {parameters}):\n" + "\n".join(body or ["    pass"])}
    if vars(cls)["__dataclass_params__"].eq and "__eq__" not in info.methods:
        same = " and ".join(f"self.{f.name} == other.{f.name}" for f in fields if f.compare) or "True"
        texts["__eq__"] = f"def __eq__(self, other: {cls.__name__}) -> bool:\n    return {same}"
    if vars(cls)["__dataclass_params__"].order:
        texts |= _orders(cls.__name__, {f.name: _may_be_none(hints[f.name]) for f in fields if f.compare})
    from taeda.jit.parse.definition import parse_text

    for name, text in texts.items():
        tree, source = parse_text(text, f"<{name} of {cls.__name__}>")
        definition = Definition(tree.body[0], source)  # type: ignore[arg-type]
        info.methods[name] = Function(definition, _Fields(None), f"{info.name}.{name}",
                                      defaults if name == "__init__" else {}, info.type, owner_class=cls)  # fmt: skip


def _may_be_none(hint: Any) -> bool:
    return "Optional" in hint or "None" in hint if isinstance(hint, str) else is_optional_annotation(hint)


def _orders(owner: str, fields: dict[str, bool]) -> dict[str, str]:
    """What compares two objects of a dataclass, field by field; those that may be None where both are not."""
    texts = {}
    for method, sign in (("__lt__", "<"), ("__le__", "<="), ("__gt__", ">"), ("__ge__", ">=")):
        lines = []
        for i, (name, may_be_none) in enumerate(fields.items()):
            lines.append(f"    a{i}, b{i} = self.{name}, other.{name}")
            asked = f"a{i} is not None and b{i} is not None and " if may_be_none else ""
            lines.append(f"    if {asked}bool(a{i} != b{i}):\n        return bool(a{i} {sign} b{i})")
        lines.append(f"    return {'=' in sign}")
        texts[method] = f"def {method}(self, other: {owner}) -> bool:\n" + "\n".join(lines)
    return texts


def _is_init_var(field: Any) -> bool:
    return field._field_type.name == "_FIELD_INITVAR"


def _type_of_init_var(hint: Any) -> Any:
    """``int`` of ``InitVar[int]``."""
    if isinstance(hint, str):
        return hint.partition("[")[2].rpartition("]")[0] or hint
    return hint.type


def method_graph(type: Any, name: str) -> Any:
    """The graph of a class's method; None if the class, or its method, is not known."""
    info = class_named(type._name) if type.kind() == "ClassType" else None
    function = info.function(name) if info is not None else None
    return None if function is None else function.graph


# --- Interfaces
def declare_interface(cls: Any) -> None:
    """Enters a Python class as an interface.

    Raises:
        RuntimeError: it derives from another.
    """
    if cls.__bases__ not in ((object,), (nn.Module,)):
        raise RuntimeError(
            f"taeda.jit.interface: {cls.__name__} derives from {cls.__bases__[0].__name__}; an interface says all "
            "of its methods itself, and derives from nn.Module if modules serve it"
        )
    _INTERFACES[cls] = None


def interface_of(cls: Any) -> Any:
    """The type of an interface that a Python class stands for; None if it is none."""
    if cls not in _INTERFACES:
        return None
    if _INTERFACES[cls] is None:
        tree, source = class_definition(cls)
        schemas = []
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                raw = vars(cls)[node.name]
                function = Function(Definition(node, source), ClosureResolver(raw), f"{cls.__name__}.{node.name}",
                                    defaults_of(raw), _C._parse_type("Any"))  # fmt: skip
                if function.declared_result() is None:
                    fail(Definition(node, source).head(), f"a method of an interface says what it returns: {node.name}")
                schemas.append(str(function.schema))
        _INTERFACES[cls] = _C._interface_type(free_name(_C._program_name(cls)), schemas)
    return _INTERFACES[cls]


SERVING: weakref.WeakSet[ClassInfo] = (
    weakref.WeakSet()
)  # classes whose objects are called through interfaces: all their methods run
RUNNABLE: weakref.WeakSet[Function] = weakref.WeakSet()  # what is known to run, with all that it calls


def serves(type: Any, interface: Any) -> bool:
    """Whether objects of a class have the methods of an interface, which take and give what it says."""
    from taeda._schema.function_schema import FunctionSchema
    from taeda.jit.check.modules import ModuleInfo, method_of

    info = class_named(type._name)
    if info is None:
        return False
    for wanted in map(FunctionSchema, _C._interface_methods(interface)):
        function = method_of(info, wanted.name) if isinstance(info, ModuleInfo) else info.function(wanted.name)
        if function is None or not _fits(function, wanted):
            return False
    if info not in SERVING:
        SERVING.add(info)
        for function in RUNNABLE:  # they may call it now
            function.run = None
        RUNNABLE.clear()
    return True


def _fits(function: Function, wanted: Any) -> bool:
    mine, its = function.parameters()[1:], wanted.arguments[1:]
    if len(mine) != len(its) or any(not i.type.isSubtypeOf(m.type) for m, i in zip(mine, its)):
        return False
    result = wanted.returns[0].type if wanted.returns else NONE
    return function.return_type().isSubtypeOf(result)


def interface_schema(type: Any, name: str) -> Any:
    """The schema of an interface's method; None if it has none of this name."""
    from taeda._schema.function_schema import FunctionSchema

    for text in _C._interface_methods(type):
        schema = FunctionSchema(text)
        if schema.name == name:
            return schema
    return None


# --- What programs do with objects
def construct(emitter: Emitter, info: ClassInfo, args: Sequence[Any], kwargs: dict[str, Any],
              range: SourceRange | None) -> Value:  # fmt: skip
    """A new object: ``Name(...)``."""
    made = emitter.graph.emit("prim::CreateObject", [], [info.type], range).output()
    function = info.function("__init__")
    if function is None:
        if args or kwargs:
            fail(range, f"{info.name.rpartition('.')[2]} has no __init__ that takes arguments")
        return made
    compile_init(info, range)
    call_method(emitter, made, function, "__init__", args, kwargs, range)
    return made


def compile_init(info: ClassInfo, range: SourceRange | None = None) -> None:
    """Compiles ``__init__``, which declares the attributes that it sets."""
    function = info.function("__init__")
    if function is None or function._graph is not None or function._compiling:
        return
    info.is_open = True
    try:
        function.compile()
    except CompileError as error:
        if range is not None:
            error.calls.append((f"{info.name.rpartition('.')[2]}.__init__", range))
        raise
    finally:
        info.is_open = False


def call_method(emitter: Emitter, owner: Value, function: Function, name: str, args: Sequence[Any],
                kwargs: dict[str, Any], range: SourceRange | None) -> Value:  # fmt: skip
    """Calls a method of an object: ``prim::CallMethod``."""
    inputs = converted(emitter, function, [owner, *args], kwargs, range)
    result = traced_result(function, emitter, range)
    emitter.frame.forget("self.")
    node = emitter.graph.emit("prim::CallMethod", inputs, [result], range, None, name=("s", name))
    return node.output()


def method_named(value: Value, name: str) -> Function:
    """The function of an object's method."""
    info = info_of(value)
    function = info.function(name) if info is not None else None
    assert function is not None
    return function


def has_method(value: Value, name: str) -> bool:
    """Whether an object has a method."""
    info = info_of(value)
    return info is not None and info.function(name) is not None


def call_magic(emitter: Emitter, value: Value, name: str, args: Sequence[Any], range: SourceRange | None) -> Any:
    """What an operator does with an object; None if its class does not say."""
    info = info_of(value)
    function = info.function(name) if info is not None else None
    if function is None:
        return None
    return call_method(emitter, value, function, name, args, {}, range)


def attribute_type(owner: Value, name: str) -> Any:
    """The type of an object's attribute; None if it has none of this name."""
    info = info_of(owner)
    return info.attributes().get(name) if info is not None else None


def declare_attribute(emitter: Emitter, owner: Value, name: str, type: Any, range: SourceRange | None) -> None:
    """``self.name: type``, in ``__init__``."""
    info = info_of(owner)
    if info is None or not info.is_open:
        raise DeclaredOutside("attributes are declared in __init__", range)
    if name not in info.attributes():
        info.add_attribute(name, type)


def assign_attribute(emitter: Emitter, owner: Value, name: str, what: Any, range: SourceRange | None) -> None:
    """``owner.name = what``."""
    info = info_of(owner)
    if info is None:
        fail(range, f"attributes of a {owner.static_type} cannot be set")
    setter = info.properties.get(name)
    if setter is not None:
        if setter[1] is None:
            fail(range, f"the property '{name}' of {info.name.rpartition('.')[2]} has no setter")
        call_method(emitter, owner, setter[1], setter[1].name, [what], {}, range)
        return
    types = info.attributes()
    if name not in types:
        if name in info.constants:
            fail(range, f"'{name}' is a constant of {info.name.rpartition('.')[2]}")
        if not info.is_open:
            fail(range, f"{info.name.rpartition('.')[2]} has no attribute '{name}'; attributes begin in __init__")
        value = emitter.value(what, range)
        types[name] = value.static_type
        info.add_attribute(name, value.static_type)
    value = emitter.convert(what, types[name], range, f"the attribute '{name}'")
    emitter.graph.emit("prim::SetAttr", [owner, value], [], range, None, name=("s", name))


def _object_attribute(emitter: Emitter, owner: Any, name: str, range: SourceRange | None) -> Any:
    info = info_of(owner)
    if info is None:
        return None
    extra: Callable[..., Any] | None = getattr(info, "find", None)
    if extra is not None:
        found = extra(emitter, owner, name, range)
        if found is not None:
            return found
    compile_init(info, range) if not info.is_module else None
    types = info.attributes()
    if name in types:
        return get_attribute(emitter, owner, name, types[name], range)
    if name in info.constants:
        return Known(info.constants[name])
    if name in info.properties:
        return call_method(emitter, owner, info.properties[name][0], name, [], {}, range)
    function = info.function(name)
    if function is not None:
        return BoundMethod(
            name, lambda e, args, named, place: call_method(e, owner, function, name, args, named, place)
        )
    if name in info.static_methods:
        return Known(info.static_methods[name])
    return _left_to_python(owner, info, name)


def static_method(cls: type, name: str) -> Function | None:
    """The function of a class that is compiled, or is being compiled: its annotations may name the class."""
    info = _BY_CLASS.get(cls)
    return info.static_methods.get(name) if info is not None else None


def _left_to_python(owner: Value, info: ClassInfo, name: str) -> Any:
    """A class method, or a method that was marked as one that programs do not hold."""
    raw = inspect.getattr_static(info.python_class, name, None) if info.python_class is not None else None
    if isinstance(raw, classmethod):
        return BoundPython(Known(info.python_class), raw.__func__)
    if inspect.isfunction(raw) and getattr(raw, "_script_modifier", "") in ("ignore", "unused"):
        return BoundPython(owner, raw)
    return None


def get_attribute(emitter: Emitter, owner: Value, name: str, type: Any, range: SourceRange | None) -> Any:
    """``prim::GetAttr``; None needs no value."""
    if type is NONE:
        return Known(None)
    out = emitter.graph.emit("prim::GetAttr", [owner], [type], range, None, name=("s", name)).output()
    return out if name.isdigit() else out.setDebugName(name)


def _interface_attribute(emitter: Emitter, owner: Any, name: str, range: SourceRange | None) -> Any:
    if not isinstance(owner, Value) or owner.static_type.kind() != "InterfaceType":
        return None
    schema = interface_schema(owner.static_type, name)
    if schema is None:
        return None

    def run(e: Emitter, args: Sequence[Any], kwargs: dict[str, Any], place: SourceRange | None) -> Any:
        from taeda.jit.check.function import MISSING, Parameter, place_arguments

        parameters = [
            Parameter(a.name, a.type, a.default_value if a.has_default_value() else MISSING, a.kwarg_only, None)
            for a in schema.arguments[1:]
        ]
        placed = place_arguments(parameters, args, kwargs, name, place)
        inputs = [owner, *(e.convert(w, p.type, place, f"{name}: '{p.name}'") for p, w in zip(parameters, placed))]
        types = [r.type for r in schema.returns]
        return e.graph.emit("prim::CallMethod", inputs, types or [NONE], place, None, name=("s", name)).output()

    return BoundMethod(name, run)


ATTRIBUTES.append(_object_attribute)
ATTRIBUTES.append(_interface_attribute)
