"""``script``: functions, modules and classes as programs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from taeda import Tensor, nn
from taeda.jit._state import _enabled
from taeda.jit.check.function import Function, function_of, type_of_default
from taeda.jit.ir import Graph
from taeda.jit.tracing.state import current, state


class Error(Exception):
    """An error of a running program that is none of Python's own kinds."""


class ScriptWarning(Warning):
    """A warning about scripted code."""


def no_compiler(name: str) -> NoReturn:
    """Raises ``RuntimeError``: ``name`` belongs to a part that is not there."""
    raise RuntimeError(f"{name}: this part of TorchScript is not there yet")


class ScriptFunction:
    """A function as a program: what `script` makes of a Python function.

    An argument whose type nobody said is a tensor, until a call gives it something else: then the function is compiled
    for that, too.
    """

    def __init__(self, function: Function, original: Callable[..., Any] | None = None) -> None:
        if original is not None:
            functools.update_wrapper(self, original)
        self.function = self._script_function = function
        self.original = original
        self.name, self.qualified_name = function.name, function.qualified_name
        self._forms: dict[Any, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.function
        if function.inferred and not function.takes_tensors(args, kwargs):
            function = self._form_for(args, kwargs)
        if function.run is not None and not state.recorders:
            return function.run(*args, **kwargs)
        from taeda.jit._run import runnable

        recorder = current()
        if recorder is not None:
            return recorder.scripted(function, lambda: runnable(function)(*args, **kwargs), args, kwargs)
        return runnable(function)(*args, **kwargs)

    def _form_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Function:
        """The function compiled for the types of these arguments, where nobody said them."""
        types = types_given(self.function, args, kwargs)
        if not types or self.original is None:
            return self.function
        return function_of(self.original, types)

    @property
    def graph(self) -> Graph:
        """The graph, as it was written."""
        return self.function.graph

    @property
    def inlined_graph(self) -> Graph:
        """The graph with those of all functions that it calls in it."""
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

        return source_of(self.name, self.graph, self.schema, False)

    def save(self, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
        """Saves it into a file."""
        from taeda.jit import save

        save(self, f, _extra_files=_extra_files or {})

    def save_to_buffer(self, _extra_files: dict[str, Any] | None = None) -> bytes:
        """Its archive as bytes."""
        import io

        buffer = io.BytesIO()
        self.save(buffer, _extra_files)
        return buffer.getvalue()

    def get_debug_state(self) -> NoReturn:
        """Raises ``RuntimeError``: nothing is observed while a program runs, so that there is no such state."""
        raise RuntimeError("ScriptFunction.get_debug_state: programs run as they are; there are no profiles of them")

    def __reduce__(self) -> Any:
        """By name, as functions are.

        Raises:
            pickle.PicklingError: nobody finds it by its name.
        """
        import pickle

        name = getattr(self, "__qualname__", None)
        if name is None or "<locals>" in name:
            raise pickle.PicklingError(
                f"ScriptFunction {self.name}: pickled by name, which nobody finds; use taeda.jit.save"
            )
        return name

    def __deepcopy__(self, memo: Any) -> ScriptFunction:
        return self

    def __copy__(self) -> ScriptFunction:
        return self


def types_given(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], skip: int = 0) -> dict[str, Any]:
    """The types of arguments that are no tensors, of parameters whose type nobody said."""
    found = {}
    for i, parameter in enumerate(function.parameters()[skip:]):
        if parameter.name in function.inferred and (i < len(args) or parameter.name in kwargs):
            value = args[i] if i < len(args) else kwargs[parameter.name]
            if not isinstance(value, Tensor):
                type = type_of_default(value)
                if type is not None:
                    found[parameter.name] = type
    return found


def inlined(graph: Graph) -> Graph:
    """A copy of a graph with the graphs of what it calls in it."""
    from taeda.jit.optimise.inline import inline_calls

    twin = graph.copy()
    inline_calls(twin)
    return twin


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """``obj`` as a program: a function as a `ScriptFunction`, a module as a `ScriptModule` with the same parameters. A
    class is compiled for functions that use it, and given as it is. A list or dict becomes one that programs share with
    Python, a `ScriptList` or `ScriptDict`. With ``PYTORCH_JIT=0`` in the environment, everything stays as it is.

    Args:
        example_inputs: arguments, in tuples of which each is a call, whose types stand for those that nobody said; for
            a module a dict of such lists by method.

    Raises:
        RuntimeError: it cannot be compiled, and shows where and why.
        TypeError: anything that is no function, module or class.
    """
    if not _enabled:
        return obj
    import taeda.jit.check.front  # noqa: F401

    obj = _prepared(obj, {})
    if isinstance(obj, (ScriptFunction, nn.Module)):
        from taeda.jit import _module

        if isinstance(obj, (ScriptFunction, _module.ScriptModule)):
            return obj
        return _module.script_module(obj)
    if isinstance(obj, (list, dict)):
        from taeda.jit._containers import shared

        return shared(obj)
    if inspect.isclass(obj):
        from taeda.jit.check.environment import names_of_caller

        return _script_class(obj, names_of_caller(0))
    if inspect.ismethod(obj) and isinstance(obj.__self__, nn.Module):
        raise TypeError(f"taeda.jit.script: {obj.__name__} is a method; script the module it belongs to")
    if not callable(obj) or inspect.isbuiltin(obj):
        raise TypeError(f"taeda.jit.script: wants a function, a module or a class; got {type(obj).__name__}")
    if not inspect.isfunction(obj):
        raise TypeError(f"taeda.jit.script: wants a function, a module or a class; got {type(obj).__name__}")
    return script_function(obj, example_inputs)


def _prepared(obj: Any, seen: dict[int, Any]) -> Any:
    """What ``__prepare_scriptable__`` of an object, or of modules in it, gives to be compiled in its place."""
    if id(obj) in seen:
        return seen[id(obj)]
    made = obj.__prepare_scriptable__() if hasattr(type(obj), "__prepare_scriptable__") else obj
    seen[id(obj)] = made
    if isinstance(made, nn.Module) and "_modules" in made.__dict__:
        held = made.__dict__["_modules"]
        children = {name: _prepared(child, seen) for name, child in held.items()}
        if any(children[name] is not child for name, child in held.items()):
            twin = object.__new__(type(made))
            twin.__dict__.update(made.__dict__, _modules=children)
            made = seen[id(obj)] = twin
    return made


def script_function(obj: Callable[..., Any], example_inputs: Any = None) -> ScriptFunction:
    """A Python function as a program."""
    original = getattr(obj, "_script_original", obj)
    known = _SCRIPTED.get(original)
    if known is not None:
        return known
    types = None
    if example_inputs:
        first = example_inputs[0]
        types = types_given(function_of(original), tuple(first) if isinstance(first, (tuple, list)) else (first,), {})
    function = function_of(original, types or None)
    made = ScriptFunction(function, original)
    if not function.inferred:
        function.compile()
    else:
        _try_to_compile(function)
    _SCRIPTED[original] = made
    return made


def _try_to_compile(function: Function) -> None:
    """An argument that nobody said the type of is taken for a tensor; where that cannot be, the first call decides."""
    from taeda.jit.parse.errors import CompileError, NotSupportedError

    try:
        function.compile()
    except NotSupportedError:
        raise
    except CompileError as error:
        names = ", ".join(sorted(function.inferred))
        error.message += f" ({names} was taken for a tensor, since its type is not said)"
        function.compile_error = error  # type: ignore[attr-defined]
        if "no form of" not in error.message and "must be a" not in error.message:
            raise


_SCRIPTED: dict[Any, ScriptFunction] = {}


def _script_class(cls: Any, names: Callable[[str], Any]) -> Any:
    from taeda.jit.check.annotations import type_of_object
    from taeda.jit.check.classes import class_of, compile_init

    if issubclass(cls, nn.Module):
        raise RuntimeError(f"taeda.jit.script: {cls.__name__} is a class of modules; script an object of it instead")
    import enum

    if issubclass(cls, enum.Enum) or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        type_of_object(cls)
        return cls
    present = [names]  # while it is compiled: they hold all that the caller's variables hold
    try:
        info = class_of(cls, None, seen=lambda name: present[0](name) if present else None)
        compile_init(info)
        info.compile()
    finally:
        present.clear()
    return cls


def script_method(fn: Any) -> Any:
    """Marks a method of a `ScriptModule` class as one to compile."""
    fn._script_modifier = "script_method"
    return fn


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function as one that ``trace`` scripts when it meets it."""

    @functools.wraps(fn)
    def plain(*args: Any, **kwargs: Any) -> Any:
        from taeda.jit import is_tracing

        return (script(fn) if is_tracing() else fn)(*args, **kwargs)

    plain._script_original = fn  # type: ignore[attr-defined]
    return plain


def interface(obj: Any) -> Any:
    """Marks a class as one that says which methods an object or module has.

    Raises:
        RuntimeError: ``obj`` is no class.
    """
    from taeda.jit.check.classes import declare_interface

    if not inspect.isclass(obj):
        raise RuntimeError(f"taeda.jit.interface: wants a class; got {type(obj).__name__}")
    declare_interface(obj)
    return obj


class CompilationUnit:
    """Functions compiled from text: ``CompilationUnit("def f(x: int): return x + 1").f(2)``."""

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> None:
        self._functions: dict[str, ScriptFunction] = {}
        if lang is not None:
            self.define(lang, _frames_up=_frames_up + 1)

    def define(self, lang: str, rcb: Any = None, _frames_up: int = 0) -> None:
        """Adds the functions of a text, which may use the names that the caller sees.

        Args:
            rcb: gives what a name means, instead of the caller.

        Raises:
            RuntimeError: it cannot be compiled.
        """
        import taeda.jit.check.front  # noqa: F401
        from taeda.jit._define import functions_of_text
        from taeda.jit.check.environment import names_of_caller

        seen = rcb or names_of_caller(_frames_up)
        found = functions_of_text(lang, {name: f.function for name, f in self._functions.items()}, seen=seen)
        for name, function in found.items():
            self._functions[name] = ScriptFunction(function)
        for function in found.values():
            function.compile()

    def __getattr__(self, name: str) -> ScriptFunction:
        if name.startswith("_") or name not in self._functions:
            raise AttributeError(f"the CompilationUnit has no function '{name}'")
        return self._functions[name]

    def create_function(self, name: str, graph: Graph, shouldMangle: bool = False) -> ScriptFunction:
        """Adds a function that does what a graph says; with ``shouldMangle`` under another name if this one is taken.

        Raises:
            RuntimeError: there is a function of this name.
        """
        from taeda.jit.tracing.function import GraphFunction

        number = 0
        free = name
        while free in self._functions:
            if not shouldMangle:
                raise RuntimeError(f"the CompilationUnit has a function '{name}' already")
            free, number = f"___torch_mangle_{number}.{name}", number + 1
        made = ScriptFunction(GraphFunction(graph.copy(), f"__torch__.{name}"))
        self._functions[free] = made
        return made

    def get_functions(self) -> list[ScriptFunction]:
        """All functions."""
        return list(self._functions.values())

    def find_function(self, name: str) -> ScriptFunction | None:
        """The function of this name; None if there is none."""
        return self._functions.get(name)


def unpackage_script_module(importer: Any, script_module_id: str) -> Any:
    """The compiled module of a package that its importer is loading from; pickles in packages name this function."""
    return importer._loading.program(script_module_id)
