"""``script``: functions and modules that behave as before, and say what a compiled one would have."""

from __future__ import annotations

import copy
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, NoReturn

from taeda import nn

# What only compiled code has.
_ARTEFACTS = frozenset([
    "graph", "inlined_graph", "graph_for", "code", "code_with_constants", "inlined_code", "schema", "save",
    "save_to_buffer", "get_debug_state", "_c", "_save_for_lite_interpreter", "_save_to_buffer_for_lite_interpreter",
    "define",
])  # fmt: skip


class Error(Exception):
    """An error inside TorchScript's interpreter."""


class ScriptWarning(Warning):
    """A warning about scripted code."""


def no_compiler(name: str) -> NoReturn:
    raise RuntimeError(f"{name}: this needs TorchScript's compiler or interpreter, which Taeda does not have yet")


class ScriptFunction:
    """A function that ``script`` or ``trace`` was applied to. It runs eagerly."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.name = getattr(function, "__name__", type(function).__name__)
        self.qualified_name = f"__torch__.{self.name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in _ARTEFACTS:
            no_compiler(f"ScriptFunction.{name}")
        raise AttributeError(f"'ScriptFunction' object has no attribute '{name}'")

    def __reduce__(self) -> str:
        return self.__qualname__  # by name, as functions are


class ScriptModule(nn.Module):
    """A module that ``script`` or ``trace`` was applied to, or whose class derives from this. It runs eagerly."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name in _ARTEFACTS:
                no_compiler(f"ScriptModule.{name}")
            raise


class RecursiveScriptModule(ScriptModule):
    """What ``script`` makes of a module."""

    original_name: str

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


def twin(module: nn.Module, kind: type) -> Any:
    """A module of the classes ``kind`` and ``module``'s, with the same parameters, buffers and submodules."""
    original = type(module)
    names = {"__module__": kind.__module__, "original_name": original.__name__}
    made: Any = object.__new__(
        types.new_class(kind.__name__, (kind, original), exec_body=lambda body: body.update(names))
    )
    # Its own hooks and set of names from now on, as the tables of parameters, buffers and submodules are.
    state = nn.Module.__getstate__(module)
    own = {name: copy.copy(value) for name, value in state.items() if name[0] == "_" and isinstance(value, (dict, set))}
    nn.Module.__setstate__(made, state | own)
    return made


def script(obj: Any, optimize: None = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """``obj`` as something that behaves the same: a function as a `ScriptFunction`, a module as a `ScriptModule` with
    the same parameters; a class, a list or a dict as it is. Nothing is compiled, and nothing of Python is forbidden.

    Raises:
        RuntimeError: a class of modules; it is their objects that are scripted.
        TypeError: anything else that cannot be called.
    """
    if isinstance(obj, (ScriptFunction, ScriptModule, list, dict)):
        return obj
    if isinstance(obj, nn.Module):
        return twin(obj, RecursiveScriptModule)
    if inspect.isclass(obj):
        if issubclass(obj, nn.Module):
            raise RuntimeError(
                f"taeda.jit.script: {obj.__name__} is a class of modules; script an object of it instead"
            )
        return obj
    if not callable(obj) or inspect.isbuiltin(obj):
        raise TypeError(f"taeda.jit.script: wants a function, a module or a class; got {type(obj).__name__}")
    return ScriptFunction(obj)


def script_method(fn: Any) -> Any:
    """Marks a method of a `ScriptModule` class as one to compile."""
    return fn


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function as one that ``trace`` scripts when it meets it."""

    @functools.wraps(fn)
    def plain(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return plain


def interface(obj: Any) -> Any:
    """Marks a class as one that says which methods a module has.

    Raises:
        RuntimeError: ``obj`` is no class.
    """
    if not inspect.isclass(obj):
        raise RuntimeError(f"taeda.jit.interface: wants a class; got {type(obj).__name__}")
    return obj


class CompilationUnit:
    """A collection of functions compiled from text, which needs a compiler."""

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> None:
        no_compiler("taeda.jit.CompilationUnit")


def _scripted_in_eval_mode(name: str, mod: Any) -> ScriptModule:
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(f"{name}: wants what taeda.jit.script or trace returned; got {type(mod).__name__}")
    if mod.training:
        raise RuntimeError(f"{name}: the module must be in eval mode; call its eval() first")
    return mod


def freeze(mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> Any:
    """``mod``, a `ScriptModule` in eval mode; nothing is inlined.

    Raises:
        RuntimeError: another module, or one in training mode.
    """
    return _scripted_in_eval_mode("taeda.jit.freeze", mod)


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """``mod``, a `ScriptModule` in eval mode, as `freeze` gives it.

    Raises:
        RuntimeError: another module, or one in training mode.
    """
    return _scripted_in_eval_mode("taeda.jit.optimize_for_inference", mod)


def run_frozen_optimizations(
    mod: Any, optimize_numerics: bool = True, preserved_methods: list[str] | None = None
) -> None:
    """Raises ``RuntimeError``: it would work on a graph."""
    no_compiler("taeda.jit.run_frozen_optimizations")


def export_opnames(m: Any) -> list[str]:
    """Raises ``RuntimeError``: it would look through a graph."""
    no_compiler("taeda.jit.export_opnames")


def last_executed_optimized_graph() -> Any:
    """Raises ``RuntimeError``: there are no graphs."""
    no_compiler("taeda.jit.last_executed_optimized_graph")
