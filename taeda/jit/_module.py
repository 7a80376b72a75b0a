"""Modules as programs: what `script` makes of an `nn.Module`."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import itertools
import re
import types
from collections import OrderedDict
from collections.abc import Container, Iterator
from typing import Any, NoReturn

import taeda
from taeda import _C, nn
from taeda.jit import _object_names as _object_names
from taeda.jit._graph import as_object_deep
from taeda.jit._run import runnable
from taeda.jit._script_class import (
    PENDING,
    add_definitions,
    become_program,
    keep_attribute,
    keep_definition,
    prepare_class,
)
from taeda.jit._slots import share
from taeda.jit.check.classes import ClassInfo, class_named, serves
from taeda.jit.check.function import Function
from taeda.jit.ir import Graph
from taeda.jit.tracing.state import current, state
from taeda.nn.modules._hooks import CALL_TABLES

_OWN = frozenset(["_c", "_info", "_children", "training", "original_name", "_python"])


class _Slots(dict):  # type: ignore[type-arg]
    """The parameters or buffers of a compiled module by name: a view of the object's slots."""

    def __init__(self, owner: RecursiveScriptModule, names: list[str]) -> None:
        super().__init__(dict.fromkeys(names))
        self.owner = owner

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        return self.owner._c.getattr(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if dict.__contains__(self, name) else default

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self:
            raise RuntimeError(f"a compiled module takes no new parameters or buffers; there is no '{name}'")
        self.owner._c.setattr(name, value)

    def __delitem__(self, name: str) -> NoReturn:
        raise RuntimeError("parameters and buffers of a compiled module cannot be removed")

    def values(self) -> Any:
        return [self[name] for name in self]

    def items(self) -> Any:
        return [(name, self[name]) for name in self]

    def copy(self) -> dict[str, Any]:
        return dict(self.items())

    def __reduce__(self) -> Any:
        return dict, (list(self.items()),)


class ScriptMethod:
    """A method of a compiled module, with the module it belongs to."""

    def __init__(self, owner: RecursiveScriptModule, function: Function) -> None:
        self.owner, self.function, self.name = owner, function, function.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.function
        if function.inferred and not function.takes_tensors(args, kwargs, 1):
            function = _form_for(self.owner, function, args, kwargs)
        recorder = current()
        if recorder is not None:
            run = functools.partial(runnable(function), self.owner._c, *args, **kwargs)
            return recorder.scripted_method(self.owner, function, run, args, kwargs)
        return runnable(function)(self.owner._c, *args, **kwargs)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        node = getattr(getattr(self.function, "definition", None), "node", None)
        return ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None

    @property
    def graph(self) -> Graph:
        """The graph, as it was written."""
        return self.function.graph

    @property
    def inlined_graph(self) -> Graph:
        """The graph with those of all that it calls in it."""
        from taeda.jit._script import inlined

        return inlined(self.function.graph)

    def graph_for(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph as it is run; it is the same for all arguments."""
        from taeda.jit.translate.build import _prepared

        return _prepared(self.function.graph)

    @property
    def schema(self) -> Any:
        """What it takes and gives."""
        return self.function.schema

    @property
    def code(self) -> str:
        """Its source, printed from the graph."""
        return self.code_with_constants[0]

    @property
    def code_with_constants(self) -> tuple[str, Any]:
        """Its source, and the constants that the source names."""
        from taeda.jit.files.printer import source_of

        text, constants = source_of(self.name, self.function.graph, self.function.schema, True)
        return re.sub(r"\A(def \w+\(self): [\w.]+", r"\1", text), constants


def _form_for(
    owner: RecursiveScriptModule, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Function:
    """The method compiled for the types of these arguments, where nobody said them."""
    from taeda.jit._script import types_given
    from taeda.jit.check.modules import ModuleInfo, make_method

    given = types_given(function, args, kwargs, 1)
    info = owner._info
    if not given or not isinstance(info, ModuleInfo):
        return function
    key = (function.name, tuple(sorted((k, id(t)) for k, t in given.items())))
    forms = info.__dict__.setdefault("_forms", {})
    if key not in forms:
        raw = inspect.getattr_static(type(info.example), function.name)
        forms[key] = make_method(info, f"{function.name}", raw, given)
    return forms[key]


class _CompiledMethod:
    """A method marked with `script_method`: what the program of an object has of this name."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __get__(self, module: Any, cls: Any) -> Any:
        if module is None or "_info" not in vars(module):
            return self.function if module is None else types.MethodType(self.function, module)
        return ScriptMethod(module, module._info.function(self.function.__name__))


class ScriptModule(nn.Module):
    """A module that ``script`` or ``trace`` made a program of."""

    forward: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_is_program" not in vars(cls):
            prepare_class(cls)

    def __init__(self) -> None:
        super().__init__()
        if type(self) is ScriptModule:
            become_program(self)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, keep_attribute(self, name, value))

    def define(self, src: str, _seen: Any = None) -> None:
        """Adds the methods of a text, whose first parameter is the module.

        Raises:
            RuntimeError: it cannot be compiled.
        """
        keep_definition(self, src, 0)

    @property
    def graph(self) -> Graph:
        """The graph of ``forward``, as it was written."""
        return self.forward.graph

    @property
    def inlined_graph(self) -> Graph:
        """The graph of ``forward`` with those of all that it calls in it."""
        return self.forward.inlined_graph

    def graph_for(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph of ``forward`` as it is run; it is the same for all arguments."""
        return self.forward.graph_for(*args, **kwargs)

    @property
    def code(self) -> str:
        """The source of ``forward``, printed from its graph."""
        return self.forward.code

    @property
    def code_with_constants(self) -> tuple[str, Any]:
        """The source of ``forward`` and the constants that it names."""
        return self.forward.code_with_constants

    def save(self, f: Any, **kwargs: Any) -> None:
        """Saves it into a file."""
        from taeda.jit import save

        save(self, f, **kwargs)

    def _save_for_lite_interpreter(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises ``RuntimeError``: PyTorch's mobile format is not written; `save` writes what runs without Python."""
        raise RuntimeError(
            "taeda.jit: the format of PyTorch's mobile interpreter is not written; save() writes an archive that runs "
            "without Python"
        )

    _save_to_buffer_for_lite_interpreter = _save_for_lite_interpreter

    def save_to_buffer(self, _extra_files: dict[str, Any] | None = None, **kwargs: Any) -> bytes:
        """Its archive as bytes."""
        import io

        from taeda.jit import save

        buffer = io.BytesIO()
        save(self, buffer, _extra_files=_extra_files, **kwargs)
        return buffer.getvalue()


class RecursiveScriptModule(ScriptModule):
    """What ``script`` makes of a module: an object of a compiled class, whose slots are its attributes."""

    original_name: str

    def __init__(self, object: Any, info: ClassInfo, children: dict[str, Any], python: dict[str, Any]) -> None:
        nn.Module.__init__(self)
        attributes = self.__dict__
        attributes["_c"], attributes["_info"], attributes["_python"] = object, info, python
        # Also for those who take the object alone: its class, and those of the modules in it.
        attributes["_kept"] = info, *(child.__dict__.get("_kept") for child in children.values() if child is not None)
        object._keep(attributes["_kept"])
        del attributes["training"]
        kinds: dict[int, list[str]] = {1: [], 2: []}
        for name, _, kind in _C._class_attributes(info.type):
            if kind:
                kinds[kind].append(name)
        attributes["_parameters"] = _Slots(self, kinds[1])
        attributes["_buffers"] = _Slots(self, kinds[2])
        attributes["_modules"] = dict(children)
        attributes["_children"] = frozenset(children)
        attributes["original_name"] = info.name.rpartition(".")[2]
        attributes["_script_type"] = info.type

    # --- Attributes
    def __getattr__(self, name: str) -> Any:
        attributes = self.__dict__
        if name.startswith("__") or "_info" not in attributes:
            return self._magic(name)
        if name in attributes["_children"]:
            return attributes["_modules"][name]
        info = attributes["_info"]
        if attributes["_c"].hasattr(name):
            return attributes["_c"].getattr(name)
        if name in info.properties:
            return runnable(info.properties[name][0])(attributes["_c"])
        function = info.function(name)
        if function is not None:
            return ScriptMethod(self, function)
        for table in (info.constants, attributes["_python"]):
            if name in table:
                found = table[name]
                return types.MethodType(found, self) if inspect.isfunction(found) else found
        return super().__getattr__(name)

    def _magic(self, name: str) -> Any:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if "_info" not in attributes or name in ("_c", "_info", "_children", "_python", "original_name"):
            object.__setattr__(self, name, value)
        elif name in attributes["_modules"] and isinstance(value, nn.Module):
            if not isinstance(value, RecursiveScriptModule) or value._info.type is not self._info.attributes().get(
                name
            ):
                value = script_module(value)
            declared = self._info.attributes()[name]
            fits = declared.kind() == "InterfaceType" and serves(value._info.type, declared)
            if not fits and not value._info.type.isSubtypeOf(declared):
                raise RuntimeError(f"'{name}' must stay a {self._info.attributes()[name]}; got a {value._info.type}")
            attributes["_modules"][name] = value
            attributes["_c"].setattr(name, value._c)
        elif attributes["_c"].hasattr(name):
            attributes["_c"].setattr(name, value)
        elif name in attributes["_info"].properties and attributes["_info"].properties[name][1] is not None:
            runnable(attributes["_info"].properties[name][1])(attributes["_c"], value)
        elif name in attributes["_info"].constants:
            raise RuntimeError(f"'{name}' is a constant of this compiled module and cannot be set")
        else:
            super().__setattr__(name, value)

    def hasattr(self, name: str) -> bool:
        """Whether the object of the program has an attribute of this name."""
        return bool(self._c.hasattr(name))

    def _has_method(self, name: str) -> bool:
        return self._info.function(name) is not None

    def _get_methods(self) -> list[str]:
        return list(self._info.methods)

    def __dir__(self) -> list[str]:
        ours = dir(self._info.python_class) if self._info.python_class is not None else ()
        return sorted({*super().__dir__(), *ours, *self._info.methods, *self._info.attributes(), *self._info.constants})

    def forward_magic_method(self, method_name: str, *args: Any, **kwargs: Any) -> Any:
        """Calls a method whose name is a word of Python's: ``__len__``.

        Raises:
            NotImplementedError: the module has none of this name.
        """
        if self._info.function(method_name) is None:
            raise NotImplementedError(f"{self.original_name} has no {method_name}")
        return getattr(self, method_name)(*args, **kwargs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._container())

    def __len__(self) -> int:
        own = self._info.function("__len__")
        return len(self._container()) if own is None else getattr(self, "__len__")()  # noqa: B009

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: Any) -> Any:
        held = self._container()
        if isinstance(held, dict):
            return held[index]
        return held[index]

    def __contains__(self, key: Any) -> bool:
        return key in self._container()

    def keys(self) -> Any:
        """The names of what it holds, of a ``ModuleDict``."""
        return self._modules.keys()

    def items(self) -> Any:
        """Names and modules, of a ``ModuleDict``."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules, of a ``ModuleDict``."""
        return self._modules.values()

    def _container(self) -> Any:
        python = self._info.python_class
        if python is not None and issubclass(python, nn.ModuleDict):
            return self._modules
        if python is not None and issubclass(python, (nn.ModuleList, nn.Sequential)):
            return list(self._modules.values())
        raise NotImplementedError(f"{self.original_name} has no items")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise RuntimeError(f"a compiled module ({self.original_name}) is not pickled; taeda.jit.save keeps it")

    def __reduce_package__(self, exporter: Any) -> tuple[Any, tuple[str]]:
        """How a package keeps the module: as a program, of which pickles say the number."""
        from taeda.jit._script import unpackage_script_module

        return unpackage_script_module, (exporter._save_program(self),)

    # --- Methods
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._instrumented:
            return super().__call__(*args, **kwargs)
        attributes = self.__dict__
        function = attributes["_info"].methods.get("forward")
        if function is None or function.run is None or state.recorders:
            return self.forward(*args, **kwargs)
        if function.inferred and not function.takes_tensors(args, kwargs, 1):
            function = _form_for(self, function, args, kwargs)
        return runnable(function)(attributes["_c"], *args, **kwargs)

    @property
    def forward(self) -> Any:  # type: ignore[override]
        """The compiled ``forward``.

        Raises:
            AttributeError: the module has none.
        """
        function = self._info.function("forward")
        if function is None:
            raise AttributeError(f"{self.original_name} has no forward")
        return ScriptMethod(self, function)

    def define(self, src: str, _seen: Any = None) -> None:
        """Adds the methods of a text, whose first parameter is the module.

        Raises:
            RuntimeError: it cannot be compiled.
        """
        import taeda.jit.check.front  # noqa: F401
        from taeda.jit._define import functions_of_text
        from taeda.jit.check.environment import names_of_caller

        found = functions_of_text(src, {}, self._info.type, self._info.name, seen=_seen or names_of_caller(0))
        self._info.methods.update(found)
        for name, function in found.items():
            function.compile()
            self.__dict__[name] = ScriptMethod(self, function)

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"

    # --- Copies
    def __copy__(self) -> RecursiveScriptModule:
        twin = _twin(self, {}, lambda value, memo: value)
        for mine, other in zip(self.modules(), twin.modules(), strict=True):
            share(mine._c, other._c, mine._info.attributes())  # type: ignore[operator, union-attr]
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> RecursiveScriptModule:
        return _twin(self, memo, copy.deepcopy)

    def copy(self) -> RecursiveScriptModule:
        """A module of the same class with the same tensors."""
        return self.__copy__()


def _twin(module: RecursiveScriptModule, memo: dict[int, Any], copied: Any) -> RecursiveScriptModule:
    if id(module) in memo:
        return memo[id(module)]
    children: dict[str, Any] = {}
    for name, child in module._modules.items():
        children[name] = child if child is None else _twin(child, memo, copied)
    made = _C._jit.Object(module._info.type)
    for name in module._info.attributes():
        if name in children and children[name] is not None:
            made.setattr(name, children[name]._c)
        else:
            made.setattr(name, copied(module._c.getattr(name), memo))
    twin = RecursiveScriptModule(made, module._info, children, module._python)
    memo[id(module)] = twin
    for table in ("_forward_hooks", "_forward_pre_hooks"):
        held = vars(module).get(table)
        if held:
            _set_hooks(twin, table, held)
    return twin


def _set_hooks(module: RecursiveScriptModule, table: str, hooks: Any) -> None:
    module.__dict__[table] = copy.copy(hooks)
    if table in CALL_TABLES:
        module.__dict__["_instrumented"] = True


# --- From a module
def script_module(module: nn.Module) -> RecursiveScriptModule:
    """A module as a program: its class is compiled with all that ``forward`` and exported methods call.

    Raises:
        RuntimeError: it cannot be compiled; shows where and why.
    """
    import taeda.jit.check.front

    if "_parameters" not in module.__dict__:
        raise RuntimeError(
            f"taeda.jit.script: {type(module).__name__} was not initialised; its __init__ must call super().__init__()"
        )
    for name, value in itertools.chain(module.named_parameters(), module.named_buffers()):
        if taeda.nn.parameter.is_lazy(value):
            raise RuntimeError(f"taeda.jit.script: {name} has no shape yet; a forward pass gives it one")
    new: dict[int, RecursiveScriptModule] = {}
    made = wrapped(module, new)
    for info in dict.fromkeys(each._info for each in new.values()):
        compile_entries(info)
    for module_made in made.modules():
        each: Any = module_made
        info = each._info
        bind_hooks(each)
        for name in exported(info.python_class) if info.python_class is not None else ():
            if name != "forward" and info.function(name) is not None:
                each.__dict__[name] = ScriptMethod(each, info.function(name))
    return made


def bind_hooks(module: Any) -> None:
    """Has calls of a compiled module run those hooks of its that are compiled, in the place of Python's."""
    for table, names in module._info.hooks.items():
        if names:
            functions = [module._info.methods[name] for name in names]
            _set_hooks(module, table, OrderedDict((i, _Hook(function)) for i, function in enumerate(functions)))


class _Hook:
    """A compiled hook, called as hooks are: with the module first."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.__name__ = function.name

    def __call__(self, module: Any, *args: Any) -> Any:
        return runnable(self.function)(module._c, *args)


def compile_entries(info: Any) -> None:
    """Compiles what can be called from outside: ``forward``, exported methods, properties."""
    from taeda.jit.check.hooks import compile_hooks
    from taeda.jit.check.modules import ModuleInfo, entry_point, method_of

    if not isinstance(info, ModuleInfo):
        return
    add_definitions(info)
    defined = list(info.methods.values()) if PENDING in vars(info.example) else []
    forward = entry_point(info)
    for name in exported(type(info.example)):
        method_of(info, name)
    if forward is not None:
        _compile(info, forward)
        compile_hooks(info, forward)
    compile_exported(info)
    for function in defined:
        function.compile()
    for getter, setter in info.properties.values():
        getter.compile()
        if setter is not None:
            setter.compile()


def compile_exported(info: Any, apart_from: Container[str] = ()) -> None:
    """Compiles the methods of a module that are marked as exported."""
    from taeda.jit.check.modules import method_of

    names = [name for name in exported(type(info.example)) if name not in apart_from]
    for function in [method_of(info, name) for name in names]:
        if function is not None:
            _compile(info, function)


def _compile(info: Any, function: Function) -> None:
    from taeda.jit._script import _try_to_compile

    function.parameters()  # says which are inferred
    if function.inferred:
        _try_to_compile(function)
    else:
        function.compile()


def exported(cls: type) -> list[str]:
    """The names of methods that are compiled although ``forward`` does not call them."""
    found = []
    for base in reversed(cls.__mro__):
        for name, raw in vars(base).items():
            if isinstance(raw, _CompiledMethod) or getattr(raw, "_script_modifier", "") == "export":
                found.append(name)
    return list(dict.fromkeys(found))


def wrapped(module: nn.Module, memo: dict[int, RecursiveScriptModule]) -> RecursiveScriptModule:
    """The object that stands for a module, with those of the modules in it; nothing is compiled yet."""
    from taeda.jit.check.modules import ModuleInfo, module_info

    if isinstance(module, RecursiveScriptModule):
        return module
    if id(module) in memo:
        return memo[id(module)]
    ignored = getattr(module, "__jit_ignored_attributes__", ())
    children = {name: None if child is None else wrapped(child, memo)
                for name, child in module._modules.items() if name not in ignored}  # fmt: skip
    info: ModuleInfo = module_info(module)
    made = _C._jit.Object(info.type)
    for name, type in info.attributes().items():
        child = children.get(name)
        held = child if child is not None else _held(module, name, type)
        if type.kind() == "InterfaceType" and not (hasattr(held, "_c") and serves(held._c.type(), type)):
            raise RuntimeError(f"{info.name}: '{name}' lacks a method of the interface {type}, or has another form")
        made.setattr(name, held if child is None else child._c)
    python = {name: raw for base in reversed(_bases(module)) for name, raw in vars(base).items() if _stays(raw)}
    python |= {name: held.__func__ for name, held in vars(module).items()
               if isinstance(held, types.MethodType) and _stays(held.__func__)}  # fmt: skip
    python |= {name: getattr(module, name) for name in ignored if name in vars(module) or name in module._modules}
    shown = {name: child for name, child in children.items()}
    twin = RecursiveScriptModule(made, info, shown, python)
    memo[id(module)] = twin
    for table in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_forward_hooks_with_kwargs",
                  "_forward_pre_hooks_with_kwargs", "_state_dict_hooks", "_load_state_dict_pre_hooks"):  # fmt: skip
        held = module.__dict__.get(table)
        if held:
            _set_hooks(twin, table, held)
    return twin


def face_of_module(object: Any) -> RecursiveScriptModule:
    """The module that stands for an object of a module's class, with those of the modules in it."""
    info = class_named(object.type()._name)
    if info is None:
        raise RuntimeError(f"the class {object.type()} is not known")
    children = {}
    for name, type in info.attributes().items():
        if type.kind() in ("ClassType", "InterfaceType") and (
            type.kind() == "InterfaceType" or _C._is_module_class(type)
        ):
            children[name] = object.getattr(name)
    python = {}
    if info.python_class is not None:
        bases = [c for c in info.python_class.__mro__ if c not in nn.Module.__mro__]
        python = {name: raw for base in reversed(bases) for name, raw in vars(base).items() if _stays(raw)}
    return RecursiveScriptModule(object, info, children, python)


def _bases(module: nn.Module) -> list[type]:
    return [c for c in type(module).__mro__ if c not in nn.Module.__mro__]


def _stays(raw: Any) -> bool:
    return getattr(raw, "_script_modifier", "") in ("ignore", "unused") or getattr(raw, "_script_copied", False)


def _held(module: nn.Module, name: str, type: Any) -> Any:
    from taeda._main.script_marks import Attribute
    from taeda.jit._ir_types import number_of

    value = getattr(module, name)
    if isinstance(value, Attribute):
        value = value.value
    if isinstance(value, (taeda.dtype, taeda.layout, taeda.memory_format)):
        return number_of(value)
    if type.kind() in ("ClassType", "ListType", "DictType", "TupleType", "OptionalType", "InterfaceType"):
        return as_object_deep(value)
    return value
