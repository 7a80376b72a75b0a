"""Modules of a program: each `nn.Module` has a type made from what it holds; equal ones share it."""

from __future__ import annotations

import ast
import enum
import inspect
import re
import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import taeda
from taeda import _C, nn
from taeda._main import script_marks
from taeda.jit._script_class import PENDING, TYPES
from taeda.jit.check.annotations import type_of_object
from taeda.jit.check.classes import (
    ClassInfo,
    free_name,
    info_of,
)
from taeda.jit.check.emitter import Emitter
from taeda.jit.check.environment import ClosureResolver, is_ours
from taeda.jit.check.function import Function, by_conversions, defaults_of, inline
from taeda.jit.check.inferred import fitting
from taeda.jit.check.types import NONE, TENSOR
from taeda.jit.check.values import BoundMethod, BoundPython, Known, TupleOf
from taeda.jit.ir import Value
from taeda.jit.parse.definition import Definition, definition_of
from taeda.jit.parse.errors import CompileError, fail
from taeda.jit.source import SourceRange
from taeda.nn.modules._hooks import HOOK_TABLES

PLAIN, PARAMETER, BUFFER = range(3)
_TYPES: dict[type, list[tuple[Any, ModuleInfo]]] = {}
_CONSTANT = (bool, int, float, complex, str, taeda.dtype, taeda.device, taeda.layout, taeda.memory_format, enum.Enum,
             taeda.qscheme)  # fmt: skip


class ModuleInfo(ClassInfo):
    """The type of a module with what compiling its methods needs: a module of this type, without tensors."""

    def __init__(self, name: str, module: nn.Module, passing: bool = False) -> None:
        super().__init__(name, type(module), True, passing)
        self.example = _without_tensors(module)
        self.children: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        self.missing: dict[str, str] = {}  # attributes that programs cannot have, and why

    def find(self, emitter: Emitter, owner: Value, name: str, range: SourceRange | None) -> Any:
        """What ``owner.name`` stands for; None if the class itself knows."""
        if name in self.functions:
            return Known(self.functions[name])
        if name in self.missing:
            fail(
                range,
                f"the attribute '{name}' of {self.example._get_name()} is none of a program: {self.missing[name]}",
            )
        if name in self.properties or name in self.attributes() or name in self.constants:
            return None
        if name == "__class__":
            return Known(type(self.example))
        if name in _LISTINGS:
            return BoundMethod(name, lambda e, args, kwargs, place: _listed(e, self, owner, name, place))
        if name in ("items", "keys", "values") and isinstance(self.example, (nn.ModuleDict, nn.ParameterDict)):
            return BoundMethod(name, lambda e, args, kwargs, place: _parts(e, self, owner, name, place))
        forms = overloaded(self, name)
        if forms:
            return BoundMethod(
                name, lambda e, args, kwargs, place: call_form(e, owner, forms, name, args, kwargs, place)
            )
        function = method_of(self, name)
        if function is not None:
            others = _other_forms(self, name)
            function.parameters()
            if not others and (function.inferred or function.settled):
                return BoundMethod(
                    name, lambda e, args, kwargs, place: _call_inferred(e, owner, self, name, args, kwargs, place)
                )
            if not others:
                return None
            return BoundMethod(
                name, lambda e, args, kwargs, place: _call_fitting(e, owner, function, others, args, kwargs, place)
            )
        return self.from_class(emitter, owner, name, range)

    def from_class(self, emitter: Emitter, owner: Value, name: str, range: SourceRange | None) -> Any:
        """What stands in the module's Python class."""
        raw = inspect.getattr_static(type(self.example), name, None)
        if raw is None:
            return None
        if isinstance(raw, staticmethod):
            return Known(raw.__func__)
        if inspect.isfunction(raw):
            return BoundPython(owner, raw)
        if isinstance(raw, classmethod):
            return BoundPython(Known(type(self.example)), raw.__func__)
        if isinstance(raw, property):
            return emitter.call(BoundPython(owner, raw.fget), [], {}, range)
        return Known(raw)


def _without_tensors(module: nn.Module) -> nn.Module:
    """An object of the module's class with its names, hooks, functions and constants: types outlive modules."""
    made: nn.Module = object.__new__(type(module))
    for name, value in vars(module).items():
        if name in ("_parameters", "_buffers", "_modules"):
            value = dict.fromkeys(value)
        elif isinstance(value, types_method) and value.__self__ is module:  # type: ignore[attr-defined]
            value = value.__func__  # type: ignore[attr-defined]
        elif not (name in HOOK_TABLES or name in (PENDING, TYPES) or inspect.isroutine(value) or _is_constant(value)):
            value = None
        vars(made)[name] = value
    return made


def _parts(emitter: Emitter, info: ModuleInfo, owner: Value, what: str, range: SourceRange | None) -> TupleOf:
    """The names, the modules, or both, that a ``ModuleDict`` holds."""
    children = children_of(emitter, owner) or []
    names = [Known(name) for name, _ in children]
    if what == "keys":
        return TupleOf(tuple(names))
    held = [emitter.attribute(owner, name, range) for name, _ in children]
    pairs = [TupleOf(pair) for pair in zip(names, held)]
    return TupleOf(tuple(pairs if what == "items" else held))


_LISTINGS = frozenset([
    "children", "named_children", "modules", "named_modules", "parameters", "named_parameters", "buffers",
    "named_buffers",
])  # fmt: skip


def _listed(emitter: Emitter, info: ModuleInfo, owner: Value, what: str, range: SourceRange | None) -> TupleOf:
    """What a module holds, one by one: those of its own for children, of all modules in it for the others."""
    found: list[tuple[str, Any]] = []
    kind = what.removeprefix("named_")
    if kind == "children":
        found = [(name, emitter.attribute(owner, name, range)) for name in info.children]
    elif kind == "modules":
        found = _all_modules(emitter, owner, "", range)
    else:
        wanted = PARAMETER if kind == "parameters" else BUFFER
        for prefix, module in _all_modules(emitter, owner, "", range):
            for name, type, held_as in _C._class_attributes(module.static_type):
                if held_as == wanted and type is TENSOR:
                    found.append((f"{prefix}.{name}" if prefix else name, emitter.attribute(module, name, range)))
    if what.startswith("named_"):
        return TupleOf(tuple(TupleOf((Known(name), value)) for name, value in found))
    return TupleOf(tuple(value for _, value in found))


def _all_modules(emitter: Emitter, owner: Value, prefix: str, range: SourceRange | None) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = [(prefix, owner)]
    info = info_of(owner)
    for name in info.children if isinstance(info, ModuleInfo) else ():
        path = f"{prefix}.{name}" if prefix else name
        found += _all_modules(emitter, emitter.attribute(owner, name, range), path, range)
    return found


def _modifier(function: Any) -> str:
    return getattr(function, "_script_modifier", "")


def is_left_out(function: Any) -> bool:
    """Whether a function was marked as one that programs do not hold."""
    return _modifier(function) in ("ignore", "unused")


def method_of(info: ModuleInfo, name: str) -> Function | None:
    """The function of a module's method; None if its class has none that a program can hold."""
    found = info.methods.get(name)
    if found is not None:
        return found
    if name == "forward" and _is_plain_sequential(info):
        info.methods[name] = _sequential_forward(info)
        return info.methods[name]
    raw = vars(info.example).get(name) or inspect.getattr_static(type(info.example), name, None)
    raw = getattr(raw, "function", raw) if type(raw).__name__ == "_CompiledMethod" else raw
    if isinstance(raw, types_method):
        raw = raw.__func__  # type: ignore[attr-defined]
    if not inspect.isfunction(raw) or is_left_out(raw) or _takes_anything(raw) or _in_library(raw):
        return None
    made = make_method(info, name, raw)
    info.methods[name] = made
    if name == "__setstate__":
        state = made.parameters()[-1]
        giving = method_of(info, "__getstate__")
        if giving is None:
            fail(made.definition.head(), f"{info.name} has a __setstate__ and no __getstate__ that gives what it takes")
        if state.name in made.inferred and giving is not None:
            state.type = giving.return_type()
            made.inferred.discard(state.name)
    return made


def overloaded(info: ModuleInfo, name: str) -> list[Function]:
    """The forms of a method that `_overload_method` declared; none if it has one form."""
    raw = inspect.getattr_static(type(info.example), name, None)
    if not inspect.isfunction(raw):
        return []
    declared = script_marks.overloads_of(raw)
    for i, form in enumerate(declared):
        label = f"{name}__{i}"
        if label not in info.methods:
            reader = Function(definition_of(form), ClosureResolver(form), label, defaults_of(form), info.type)
            types = {p.name: p.type for p in reader.parameters()[1:]}
            made = make_method(info, name, raw, types)
            made.name, made.qualified_name = label, f"{info.name}.{label}"
            made.parameters()
            made._declared_result = reader.declared_result()
            info.methods[label] = made
    return [info.methods[f"{name}__{i}"] for i in range(len(declared))]


def call_form(emitter: Emitter, owner: Value, forms: list[Function], name: str, args: Any, kwargs: dict[str, Any],
              place: SourceRange | None) -> Any:  # fmt: skip
    """Calls the first form of a method that takes the arguments."""
    from taeda.jit.check.classes import call_method

    why = []
    for form in by_conversions(forms, args, kwargs, skip=1):
        try:
            return call_method(emitter, owner, form, form.name, args, kwargs, place)
        except CompileError as error:
            if error.calls:
                raise
            why.append(error.message)
    fail(place, f"{name}: none of its {len(forms)} declared forms takes these arguments:\n    " + "\n    ".join(why))


def _other_forms(info: ModuleInfo, name: str) -> list[Function]:
    """What the library's classes have beside a method, for arguments of other types: ``forward__packed``."""
    labels = [label for label in getattr(type(info.example), "_script_types", {}) if label.startswith(f"{name}__")]
    raw = getattr(type(info.example), name, None)
    for label in labels if is_ours(raw) else ():
        if label not in info.methods:
            made = make_method(info, name, raw, _library_types(type(info.example), label))
            made.name, made.qualified_name = label, f"{info.name}.{label}"
            info.methods[label] = made
    return [info.methods[label] for label in labels if label in info.methods]


def _call_fitting(emitter: Emitter, owner: Value, function: Function, others: list[Function], args: Any, kwargs: Any,
                  place: SourceRange | None) -> Any:  # fmt: skip
    """Calls the form whose first argument has the type of what is given, or else the plain one."""
    from taeda.jit.check.classes import call_method

    given = args[0].static_type if args and isinstance(args[0], Value) else None
    fitting = [form for form in others if form.parameters()[1].type is given]
    form = fitting[0] if fitting else function
    return call_method(emitter, owner, form, form.name, args, kwargs, place)


def _call_inferred(emitter: Emitter, owner: Value, info: ModuleInfo, name: str, args: Any, kwargs: dict[str, Any],
                   place: SourceRange | None) -> Any:  # fmt: skip
    """Calls a method with arguments whose type nobody said, in the form for those of this call."""
    from taeda.jit.check.classes import call_method

    def another(types: dict[str, Any]) -> Function:
        label = f"{name}__for_{'_'.join(re.sub(r'[^A-Za-z0-9]+', '_', str(t)) for t in types.values())}"
        if label not in info.methods:
            made = make_method(info, name, inspect.getattr_static(type(info.example), name), types)
            made.name, made.qualified_name = label, f"{info.name}.{label}"
            info.methods[label] = made
        return info.methods[label]

    form = fitting(emitter, info.methods[name], args, kwargs, 1, another)
    return call_method(emitter, owner, form, form.name, args, kwargs, place)


types_method = type(nn.Module().forward)


def _takes_anything(function: Any) -> bool:
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    return inspect.Parameter.VAR_POSITIONAL in kinds or inspect.Parameter.VAR_KEYWORD in kinds


def _in_library(function: Any) -> bool:
    """The library's own methods are compiled into their callers, but for forward and those that are exported."""
    exported = getattr(function, "_script_modifier", "") == "export"
    return is_ours(function) and function.__name__ != "forward" and not exported


def make_method(info: ModuleInfo, name: str, raw: Any, types: dict[str, Any] | None = None) -> Function:
    """A method's function."""
    owner = next((c for c in type(info.example).__mro__ if name in vars(c)), type(info.example))
    soft = _library_types(type(info.example), name) if is_ours(raw) else {}
    return Function(
        definition_of(raw), ClosureResolver(raw), f"{info.name}.{name}", defaults_of(raw), info.type,
        {**soft, **(types or {})}, owner,
    )  # fmt: skip


def _library_types(cls: type, name: str) -> dict[str, Any]:
    """What the library's classes say of methods whose annotations say too little for a program."""
    said = getattr(cls, "_script_types", {}).get(name, {})
    return {parameter: type_of_object(hint) for parameter, hint in said.items()}


# --- From a module to its type
def module_info(module: nn.Module, share: bool = True) -> ModuleInfo:
    """The type of a module. Modules of one class that hold the same share it.

    Raises:
        CompileError: the module was not set up: ``super().__init__()`` was not called.
    """
    if "_parameters" not in vars(module):
        raise CompileError(f"{type(module).__name__} is not set up: its __init__ must call super().__init__() first")
    facts = _facts(module)
    key = _key(facts)
    if share:
        for known, info in _TYPES.get(type(module), []):
            if known == key:
                return info
    passing = any(child.passing for child in facts.children.values())
    info = ModuleInfo(free_name(_C._program_name(type(module))), module, passing)
    _fill(info, facts)
    if not passing:
        _TYPES.setdefault(type(module), []).append((key, info))
    return info


class _Facts:
    def __init__(self) -> None:
        self.attributes: dict[str, tuple[Any, int]] = {}
        self.constants: dict[str, Any] = {}
        self.children: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        self.missing: dict[str, str] = {}
        self.hooks: tuple[Any, ...] = ()


def _key(facts: _Facts) -> Any:
    return (
        {k: (id(t), n) for k, (t, n) in facts.attributes.items()},
        {k: (type(v), repr(v)) for k, v in facts.constants.items()},
        {k: id(v) for k, v in facts.children.items()},
        {k: id(v) for k, v in facts.functions.items()},
        facts.hooks,
    )


def annotations_of(module: nn.Module) -> dict[str, Any]:
    """The annotations of a module's class and its bases, as objects where their names are known."""
    found: dict[str, Any] = {}
    for cls in reversed(type(module).__mro__):
        if issubclass(cls, nn.Module) and cls is not nn.Module:
            for name, hint in vars(cls).get("__annotations__", {}).items():
                if isinstance(hint, str):
                    hint = _evaluated(hint, cls)
                found[name] = hint
    return found


def _evaluated(hint: str, cls: type) -> Any:
    import sys
    import typing

    try:
        return eval(hint, dict(vars(sys.modules[cls.__module__])), vars(typing))
    except Exception:
        return None


def _is_final(hint: Any) -> bool:
    import typing

    return hint is typing.Final or typing.get_origin(hint) is typing.Final


def _facts(module: nn.Module, made: Mapping[str, Any] = MappingProxyType({})) -> _Facts:
    """What a module holds; the children in ``made`` have a type already."""
    facts = _Facts()
    hints = annotations_of(module) | vars(module).get(TYPES, {})
    constants = set(getattr(module, "__constants__", ()))
    constants |= {name for name, hint in hints.items() if _is_final(hint)}
    library = is_ours(type(module), "nn")
    ignored = set(getattr(module, "__jit_unused_properties__", ())) | set(
        getattr(module, "__jit_ignored_attributes__", ())
    )
    for name, parameter in module._parameters.items():
        facts.attributes[name] = (NONE if parameter is None else TENSOR, PARAMETER)
    for name, buffer in module._buffers.items():
        facts.attributes[name] = (_tensor_type(buffer, hints.get(name)), BUFFER)
    for name, child in module._modules.items():
        if name in ignored:
            continue
        if child is None:
            facts.attributes[name] = (NONE, PLAIN)
        else:
            _child(facts, name, made.get(name, child), None if name in made else hints.get(name))
    facts.attributes["training"] = (taeda._C._parse_type("bool"), PLAIN)
    for name, value in vars(module).items():
        if name in _OWN or name in facts.attributes or name in ignored or name == "training":
            continue
        hint = hints.get(name)
        if name in constants or (library and _is_constant(value)) or isinstance(value, taeda.qscheme):
            facts.constants[name] = value
            continue
        _attribute(facts, name, value, hint)
    for name in constants:
        if name not in facts.attributes and name not in facts.constants and hasattr(type(module), name):
            value = getattr(module, name)
            if not isinstance(value, property):
                facts.constants[name] = value
    facts.hooks = tuple(tuple(map(id, hooks_of(module, table).values())) for table in _FORWARD_HOOKS)
    facts.hooks += tuple(text for text, _ in vars(module).get(PENDING, ()))
    return facts


_OWN = (frozenset(vars(nn.Module())) | frozenset(HOOK_TABLES) | {PENDING, TYPES, "_instrumented"}) - {"training"}


def _tensor_type(value: Any, hint: Any) -> Any:
    if hint is not None:
        try:
            found = type_of_object(hint)
        except CompileError:
            found = None
        if found is not None and TENSOR.isSubtypeOf(found) and found.kind() == "OptionalType":
            return found
    return NONE if value is None else TENSOR


def _child(facts: _Facts, name: str, child: nn.Module, hint: Any) -> None:
    from taeda.jit.check.classes import interface_of

    interface = interface_of(hint) if inspect.isclass(hint) else None
    info = existing_info(child) or module_info(child)
    facts.children[name] = info
    facts.attributes[name] = (interface if interface is not None else info.type, PLAIN)


def existing_info(module: Any) -> Any:
    """The type of a module that is compiled already; None otherwise."""
    return getattr(module, "_info", None) if isinstance(getattr(module, "_info", None), ClassInfo) else None


_FORWARD_HOOKS = ("_forward_hooks", "_forward_pre_hooks")


def hooks_of(module: nn.Module, table: str) -> dict[int, Any]:
    """A module's hooks of a kind, without making a table for them."""
    return vars(module).get(table) or {}


def _is_constant(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_constant, value))
    return value is None or isinstance(value, _CONSTANT)


def _attribute(facts: _Facts, name: str, value: Any, hint: Any) -> None:
    if isinstance(value, script_marks.Attribute):
        hint, value = value.type, value.value
    if hint is not None and not _is_final(hint) and not (inspect.isclass(hint) and hint in _UNFIT):
        try:
            found = type_of_object(hint)
            if found.kind() == "ClassType" and isinstance(value, hint):  # of a class derived from it
                hint = type(value)
                found = type_of_object(hint)
            if type(value) is not hint or found.kind() != "ClassType" or _type_of_instance(value) is not None:
                facts.attributes[name] = (found, PLAIN)
                return
        except CompileError as error:
            if value is None:
                facts.missing[name] = error.message
                return
    if (
        isinstance(value, Function)
        or hasattr(value, "_script_function")
        or inspect.isroutine(value)
        or inspect.isclass(value)
        or inspect.isfunction(value)
    ):
        facts.functions[name] = value
    elif isinstance(value, (list, dict)) and not value:
        facts.missing[name] = f"of what the empty {type(value).__name__} is made is not said: annotate it in the class"
    elif value is None:
        facts.attributes[name] = (NONE, PLAIN)
    elif isinstance(value, (taeda.dtype, taeda.layout, taeda.memory_format)):
        facts.attributes[name] = (taeda._C._parse_type("int"), PLAIN)
    elif isinstance(value, (list, tuple)) and value and all(isinstance(item, nn.Module) for item in value):
        facts.missing[name] = "modules in a list are not part of it: use nn.ModuleList"
    else:
        found = _type_of(value) or _type_of_instance(value)
        if found is None:
            facts.missing[name] = f"a {type(value).__name__} is nothing that programs have"
        else:
            facts.attributes[name] = (found, PLAIN)


def _type_of(value: Any) -> Any:
    from taeda.jit.check.classes import _BY_CLASS

    if type(value) in _BY_CLASS:
        return _BY_CLASS[type(value)].type
    held = getattr(value, "_script_type", None)
    if held is not None:
        return held
    try:
        found = _C._type_of(value)
    except (RuntimeError, TypeError, ValueError):
        return None
    from taeda.jit._ir_types import contained_in

    return None if contained_in(found, lambda t: t.kind() in ("PyObjectType", "AnyType", "CapsuleType")) else found


def _type_of_instance(value: Any) -> Any:
    """The type of an object of a class that nobody scripted, but that can be; None of others."""
    from taeda.jit._graph import as_object
    from taeda.jit.check.classes import _BY_CLASS, class_of

    cls = type(value)
    if cls in _UNFIT or cls.__module__ == "builtins" or is_ours(cls) or hasattr(cls, "__slots__"):
        return None
    try:
        info = class_of(cls, None)
        as_object(value)
    except (RuntimeError, OSError, TypeError, AttributeError):
        _BY_CLASS.pop(cls, None)
        _UNFIT.add(cls)
        return None
    return info.type


_UNFIT: weakref.WeakSet[type] = weakref.WeakSet()  # classes whose objects are nothing that programs have


def _fill(info: ModuleInfo, facts: _Facts) -> None:
    for name, (declared, kind) in facts.attributes.items():
        info.add_attribute(name, declared, kind)
    info.constants, info.functions, info.missing = facts.constants, facts.functions, facts.missing
    info.children = facts.children
    for name, value in facts.constants.items():
        if _is_constant(value):
            _C._add_class_constant(info.type, name, _plain(value))
    ignored = set(getattr(info.example, "__jit_unused_properties__", ()))
    for cls in reversed(type(info.example).__mro__):
        if is_ours(cls):
            continue
        for name, raw in vars(cls).items():
            if isinstance(raw, property) and name not in ignored and not is_left_out(raw.fget):
                info.properties[name] = _property(info, name, raw, cls)


def _plain(value: Any) -> Any:
    from taeda.jit._ir_types import number_of

    if isinstance(value, (taeda.dtype, taeda.layout, taeda.memory_format)):
        return number_of(value)
    if isinstance(value, (tuple, list)):
        return type(value)(map(_plain, value))
    return value


def _property(info: ModuleInfo, name: str, raw: property, cls: type) -> tuple[Function, Function | None]:
    def function(of: Any, label: str) -> Function:
        return Function(definition_of(of), ClosureResolver(of), f"{info.name}.{label}", defaults_of(of), info.type,
                        owner_class=cls)  # fmt: skip

    setter = raw.fset
    return function(raw.fget, name), None if setter is None or is_left_out(setter) else function(
        setter, f"{name}_setter"
    )


# --- Modules that hold modules
def children_of(emitter: Emitter, value: Value) -> list[tuple[str, Any]] | None:
    """The names and types of what a container of modules or parameters holds; None for any other object."""
    info = info_of(value)
    if not isinstance(info, ModuleInfo):
        return None
    if isinstance(info.example, (nn.ParameterList, nn.ParameterDict)):
        names = [name for name, _, kind in _C._class_attributes(info.type) if kind == PARAMETER]
        return [(name, None) for name in names]
    if not isinstance(info.example, (nn.ModuleList, nn.Sequential, nn.ModuleDict)):
        return None
    return list(info.children.items())


def is_keyed(value: Value) -> bool:
    """Whether a container holds things by name, so that its names are what loops go over."""
    info = info_of(value)
    return isinstance(info, ModuleInfo) and isinstance(info.example, (nn.ModuleDict, nn.ParameterDict))


def own_method(value: Value, name: str) -> Any:
    """What a class that derives from a container says itself of an operator: ``__len__``; None if it says nothing."""
    info = info_of(value)
    if not isinstance(info, ModuleInfo):
        return None
    raw = inspect.getattr_static(type(info.example), name, None)
    return BoundPython(value, raw) if inspect.isfunction(raw) and not is_ours(raw) else None


def _as_interface(emitter: Emitter, module: Any, wanted: Any, range: SourceRange) -> Value:
    value = emitter.convert(module, wanted, range, "the module")
    if value.static_type is wanted:
        return value
    return emitter.graph.emit("prim::unchecked_cast", [value], [wanted], range).output()


def item_by_value(emitter: Emitter, owner: Value, index: Any, wanted: Any, range: SourceRange) -> Any:
    """``modules[name]`` of a name or number that only a run knows, as an interface that all of them serve."""
    from taeda.jit.check.conditions import truth
    from taeda.jit.check.expressions import compare, either
    from taeda.jit.check.statements import raise_exception

    children = children_of(emitter, owner)
    assert children is not None
    keyed = is_keyed(owner)

    def rest(i: int) -> Any:
        if i == len(children):
            error = KeyError if keyed else IndexError
            raise_exception(emitter, Known("no module has this name or number"), error, range)
            return emitter.graph.emit("prim::Uninitialized", [], [wanted], range).output()
        name = children[i][0]
        same = compare(emitter, ast.Eq(), index, Known(name if keyed else i), range)
        found = lambda: _as_interface(emitter, emitter.attribute(owner, name, range), wanted, range)
        return either(emitter, truth(emitter, same, range), found, lambda: rest(i + 1), range, wanted)

    if not keyed:
        index = emitter.value(index, range)
        count = Known(len(children))
        below = truth(emitter, emitter.op("aten::lt", [index, Known(0)], None, range), range)
        index = either(emitter, below, lambda: emitter.op("aten::add", [index, count], None, range), lambda: index,
                       range)  # fmt: skip
    return rest(0)


def item_of_container(emitter: Emitter, owner: Value, index: Any, node: ast.expr, range: SourceRange) -> Any:
    """``modules[i]``, ``modules[1:]`` or ``modules["name"]``."""
    children = children_of(emitter, owner)
    assert children is not None
    names = [name for name, _ in children]
    if isinstance(index, slice):
        return TupleOf(tuple(emitter.attribute(owner, name, range) for name in names[index]))
    if isinstance(index, int) and not isinstance(index, bool):
        if not -len(names) <= index < len(names):
            fail(range, f"the index {index} is out of range for {len(names)} modules")
        return emitter.attribute(owner, names[index], range)
    if isinstance(index, str):
        if index not in names:
            fail(range, f"there is no module '{index}'; there are {', '.join(names)}")
        return emitter.attribute(owner, index, range)
    fail(range, "which module is meant must be known while the program is compiled: loop over the modules")


def call_module(
    emitter: Emitter, owner: Value, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None
) -> Any:
    """Calls a module: its hooks and its forward."""
    info = info_of(owner)
    if not isinstance(info, ModuleInfo):
        method = emitter.attribute(owner, "forward", range)
        return emitter.call(method, args, kwargs, range)
    example = info.example
    for hook in hooks_of(example, "_forward_pre_hooks").values():
        changed = _call_hook(emitter, hook, owner, [TupleOf(tuple(args))], range)
        if not (isinstance(changed, Known) and changed.obj is None) and not (
            isinstance(changed, Value) and changed.static_type is NONE
        ):
            from taeda.jit.check.statements import items_of

            is_tuple = (
                isinstance(changed, TupleOf)
                or (isinstance(changed, Known) and isinstance(changed.obj, tuple))
                or (isinstance(changed, Value) and changed.static_type.kind() == "TupleType")
            )
            args = items_of(emitter, changed, None, range) if is_tuple else [changed]
    result = _forward(emitter, info, owner, args, kwargs, range)
    for hook in hooks_of(example, "_forward_hooks").values():
        changed = _call_hook(emitter, hook, owner, [TupleOf(tuple(args)), result], range)
        none = isinstance(changed, Known) and changed.obj is None
        if not none and not (isinstance(changed, Value) and changed.static_type is NONE):
            result = changed
    return result


def _call_hook(emitter: Emitter, hook: Any, owner: Value, args: list[Any], range: SourceRange | None) -> Any:
    definition = definition_of(hook)
    return inline(emitter, definition, ClosureResolver(hook), defaults_of(hook), [owner, *args], {}, range)


def _forward(emitter: Emitter, info: ModuleInfo, owner: Value, args: list[Any], kwargs: dict[str, Any],
             range: SourceRange | None) -> Any:  # fmt: skip
    forward = emitter.attribute(owner, "forward", range)
    return emitter.call(forward, args, kwargs, range)


def _is_plain_sequential(info: ModuleInfo) -> bool:
    return isinstance(info.example, nn.Sequential) and type(info.example).forward is nn.Sequential.forward


def _sequential_forward(info: ModuleInfo) -> Function:
    """One module after the other."""
    from taeda.jit.parse.definition import parse_text

    first = next((c for c in info.children.values()), None)
    type = TENSOR
    if isinstance(first, ModuleInfo):
        function = entry_point(first)
        if function is not None and len(function.parameters()) > 1:
            type = function.parameters()[1].type
    text = "def forward(self, input):\n    for module in self:\n        input = module(input)\n    return input\n"
    tree, source = parse_text(text, "<Sequential>")
    written: Any = tree.body[0]
    return Function(Definition(written, source), ClosureResolver(None), f"{info.name}.forward", {}, info.type,
                    {"input": type})  # type: ignore[arg-type]  # fmt: skip


def entry_point(info: ModuleInfo) -> Function | None:
    """The function of a module's forward; None if it has none."""
    if type(info.example).forward is nn.Module.forward and "forward" not in vars(info.example):
        return None
    return method_of(info, "forward")
