"""``trace``: one call with the example inputs, and then what was called, as it is."""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from taeda import Tensor, nn
from taeda.jit._module import ScriptModule
from taeda.jit._script import ScriptFunction

_depth = 0


class _Eager(ScriptFunction):
    """A function that was traced. It runs eagerly."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.name = getattr(function, "__name__", type(function).__name__)
        self.qualified_name = f"__torch__.{self.name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]


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


class TracerWarning(Warning):
    """A warning about what a trace does not record."""


class TracingCheckError(Exception):
    """A traced function and the original do not agree."""

    def __init__(self, graph_diff_error: Any, tensor_compare_error: Any, extra_msg: str | None = None) -> None:
        parts = [part for part in (extra_msg, graph_diff_error, tensor_compare_error) if part is not None]
        self.message = "\n".join(["the trace and the function do not agree", *map(str, parts)])
        super().__init__(self.message)


class TracedModule(ScriptModule):
    """What ``trace`` makes of a module."""

    original_name: str

    def _get_name(self) -> str:
        return self.original_name

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


class TopLevelTracedModule(TracedModule):
    """What ``trace`` makes of the module that it is called with."""


def is_tracing() -> bool:
    """Whether ``trace`` is making its call."""
    return _depth > 0


def _get_tracing_state() -> int | None:
    """How many calls of ``trace`` are at work one within another; None outside."""
    return _depth or None


_is_tracing = is_tracing


@contextmanager
def _tracing() -> Iterator[None]:
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def _check(value: Any) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            _check(item)
    elif not isinstance(value, Tensor):
        raise RuntimeError(
            f"taeda.jit.trace: example inputs are tensors, in lists, tuples and dicts; got {type(value).__name__}"
        )


def _as_arguments(inputs: Any) -> tuple[Any, ...]:
    if not isinstance(inputs, Iterable):
        raise TypeError(f"taeda.jit.trace: wants example inputs, a tensor or a tuple; got {type(inputs).__name__}")
    arguments = (inputs,) if isinstance(inputs, (Tensor, dict)) else tuple(inputs)
    _check(arguments)
    return arguments


def trace(
    func: Any, example_inputs: Any = None, optimize: None = None, check_trace: bool = True, check_inputs: Any = None,
    check_tolerance: float = 1e-5, strict: bool = True, _force_outplace: bool = False, _module_class: Any = None,
    _compilation_unit: Any = None, example_kwarg_inputs: dict[str, Any] | None = None, _store_inputs: bool = True,
) -> Any:  # fmt: skip
    """Calls ``func`` once with the example inputs and gives what behaves as it does, with the same parameters.

    No graph is recorded: a branch on values is taken anew in every call.

    Raises:
        RuntimeError: an example input that is not made of tensors.
        TypeError: no example inputs at all.
    """
    if isinstance(func, (ScriptModule, ScriptFunction)):
        return func
    _check(example_kwarg_inputs or {})
    arguments = () if example_kwarg_inputs is not None else _as_arguments(example_inputs)
    with _tracing():
        func(*arguments, **(example_kwarg_inputs or {}))
    return twin(func, TopLevelTracedModule) if isinstance(func, nn.Module) else _Eager(func)


def trace_module(
    mod: Any, inputs: dict[str, Any], optimize: None = None, check_trace: bool = True, check_inputs: Any = None,
    check_tolerance: float = 1e-5, strict: bool = True, _force_outplace: bool = False, _module_class: Any = None,
    _compilation_unit: Any = None, example_inputs_is_kwarg: bool = False, _store_inputs: bool = True,
) -> Any:  # fmt: skip
    """As `trace`, for a module and each of the methods that ``inputs`` has example inputs for.

    Raises:
        AttributeError: ``mod`` is no module, ``inputs`` no dict, or there is no such method.
        RuntimeError: an example input that is not made of tensors.
    """
    if not isinstance(mod, nn.Module):
        raise AttributeError(f"taeda.jit.trace_module: wants a module; got {type(mod).__name__}")
    if not isinstance(inputs, dict):
        raise AttributeError(f"taeda.jit.trace_module: inputs must be a dict; got {type(inputs).__name__}")
    for name, examples in inputs.items():
        method = mod if name == "forward" else getattr(mod, name)
        with _tracing():
            if example_inputs_is_kwarg:
                _check(examples)
                method(**examples)
            else:
                method(*_as_arguments(examples))
    return mod if isinstance(mod, ScriptModule) else twin(mod, TopLevelTracedModule)
