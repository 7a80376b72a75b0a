"""``trace`` and ``trace_module``."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from taeda import Tensor, nn
from taeda._schema.types import Type
from taeda.jit._graph import ScriptObject
from taeda.jit._state import _enabled
from taeda.jit.tracing.checking import check_trace as checked
from taeda.jit.tracing.methods import Attributes
from taeda.jit.tracing.recorder import Fixed, Recorder
from taeda.jit.tracing.state import current
from taeda.jit.tracing.structure import add_input, add_output, as_arguments, check_examples


class Recorded:
    """A graph with what the trace fixed, and the calls of modules that are marked in it."""

    def __init__(self, recorder: Recorder, result: Any) -> None:
        self.graph, self.fixed, self.result = recorder.graph, recorder.fixed, result
        self.calls, self.attributes = recorder.calls, recorder.attributes


def record(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], module: nn.Module | None = None,
    type_of_module: Any = None, strict: bool = True, names: Sequence[str] | None = None, outplace: bool = False,
    methods: Mapping[int, tuple[str, ...]] | None = None,
) -> Recorded:  # fmt: skip
    """Calls a function on example inputs and records its graph.

    Args:
        module: whose parameters and buffers become attributes of the graph's first input, of type ``type_of_module``.
        names: of the positional arguments; those of the function unless given.
        outplace: whether ops that write into tensors are recorded as those that give new ones.
        methods: the paths of the modules whose calls are to become methods, by their ids.
    """
    paths = _paths(module)
    recorder = Recorder(lambda held: paths.get(_identity(held)), strict)
    recorder.outplace = outplace
    if module is not None:
        recorder.attributes = Attributes(recorder.graph.addInput("self", type_of_module), _attribute_type)
    names = list(names if names is not None else _names(function, len(args)))
    seen: set[int] = set()
    with recorder, _scopes(recorder, module, methods or {}):
        with recorder.quiet():
            fresh = [add_input(recorder, _plain(n), value, seen) for n, value in zip(names, args, strict=True)]
            fresh_kwargs = {key: add_input(recorder, key, value, seen) for key, value in kwargs.items()}
        result = function(*fresh, **fresh_kwargs)
        with recorder.quiet():
            add_output(recorder, result)
    recorder.drop_unused_sizes()
    recorder.graph.lint()
    return Recorded(recorder, result)


def _plain(name: str) -> str:
    return "input" if name == "self" else name


def _names(function: Callable[..., Any], count: int) -> list[str]:
    """The names of the first parameters; those of ``*args`` are numbered."""
    target = function.forward if isinstance(function, nn.Module) else function
    found: list[str] = []
    with contextlib.suppress(TypeError, ValueError):
        for parameter in inspect.signature(target).parameters.values():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                found.append(parameter.name)
            elif parameter.kind == parameter.VAR_POSITIONAL:
                found += [f"{parameter.name}_{i}" for i in range(len(found), count)]
    return [*found[:count], *(f"argument_{i}" for i in range(len(found[:count]), count))]


def _identity(held: Any) -> Any:
    """What is equal of the same tensor or object only: objects get a new face in each call."""
    return held._c if isinstance(held, ScriptObject) else id(held)


def _paths(module: nn.Module | None) -> dict[Any, tuple[str, ...]]:
    """Where tensors, modules and objects of C++ classes stand in a module."""
    if module is None:
        return {}
    found: dict[Any, tuple[str, ...]] = {}
    for name, part in module.named_modules(remove_duplicate=False):
        path = tuple(name.split(".")) if name else ()
        found.setdefault(id(part), path)
        for table in (part._parameters, part._buffers, vars(part)):
            for key, value in dict(table).items():
                if isinstance(value, (Tensor, ScriptObject)):
                    found.setdefault(_identity(value), (*path, key))
    return found


def _attribute_type(type: Type, name: str) -> Type:
    from taeda.jit.check.classes import class_named

    info = class_named(type._name)
    found = info.attributes().get(name) if info is not None else None
    if found is None:
        raise RuntimeError(f"taeda.jit.trace: the module has no attribute '{name}' that a program can hold")
    return found


def _scopes(
    recorder: Recorder, module: nn.Module | None, methods: Mapping[int, tuple[str, ...]]
) -> contextlib.AbstractContextManager[None]:
    """The nodes' scopes are the modules that are being called; calls of those in ``methods`` are noted."""
    from taeda.nn.modules._hooks import forward_called_by

    if module is None:
        return contextlib.nullcontext()
    names = {id(part): name for name, part in module.named_modules()}
    parameters: dict[Any, list[str]] = {}

    def around(part: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = names.get(id(part), type(part).__name__)
        recorder.scopes.append(f"__module.{name}" if name else f"{type(part).__name__}::")
        run = functools.partial(part.forward, *args, **kwargs)
        try:
            if current() is not recorder or id(part) not in methods:
                return run()
            kind = type(part), vars(part).get("forward"), len(args)
            if kind not in parameters:
                parameters[kind] = _names(part, len(args))
            return recorder.module_call(methods[id(part)], parameters[kind], args, kwargs, run)
        finally:
            recorder.scopes.pop()

    return forward_called_by(around)


# --- The public functions
def trace(
    func: Any, example_inputs: Any = None, optimize: None = None, check_trace: bool = True, check_inputs: Any = None,
    check_tolerance: float = 1e-5, strict: bool = True, _force_outplace: bool = False, _module_class: Any = None,
    _compilation_unit: Any = None, example_kwarg_inputs: dict[str, Any] | None = None, _store_inputs: bool = True,
) -> Any:  # fmt: skip
    """Calls ``func`` once with the example inputs and gives the program that was recorded, with sizes as values.

    Branches and loops of Python are gone: the trace goes the example's way always. What it fixed for good (numbers
    taken out of tensors, branches on them) is warned of with its line, and named where ``check_trace`` finds that
    results differ.

    Args:
        func: a function or a module.
        example_inputs: a tensor, or a tuple of tensors and of tuples, lists and dicts of them.
        check_trace: whether program and ``func`` are compared, on the example, on inputs of another size where it has
            dimensions that can vary, and on ``check_inputs``.
        check_inputs: more examples, each as ``example_inputs``.
        check_tolerance: relative tolerance of the comparison.
        strict: whether lists and dicts as results are refused, as the caller could change them unseen.
        example_kwarg_inputs: arguments by name, instead of ``example_inputs``.

    Raises:
        RuntimeError: an example input or a result that is not made of tensors.
        TypeError: no example inputs at all.
        AttributeError: a method of a module that is not its ``forward``.
        ValueError: a module has backward hooks.
        TracingCheckError: the program and ``func`` differ on an example.
    """
    from taeda.jit._module import ScriptModule
    from taeda.jit._script import ScriptFunction

    if not _enabled or isinstance(func, (ScriptModule, ScriptFunction)):
        return func
    check_examples(tuple((example_kwarg_inputs or {}).values()))
    args = () if example_kwarg_inputs is not None else as_arguments(example_inputs)
    kwargs = example_kwarg_inputs or {}
    if isinstance(func, nn.Module):
        made = _trace_methods(func, {"forward": (args, kwargs)}, strict, _force_outplace)
    elif inspect.ismethod(func) and isinstance(func.__self__, nn.Module):
        if func.__name__ != "forward":
            raise AttributeError(f"taeda.jit.trace: of a module's methods takes forward; got {func.__name__}, which "
                                 "trace_module takes")  # fmt: skip
        made = _trace_methods(func.__self__, {"forward": (args, kwargs)}, strict, _force_outplace).forward
    else:
        made = _trace_function(func, args, kwargs, strict, _force_outplace)
    if check_trace:
        examples = [((), example) if isinstance(example, dict) and not args else (as_arguments(example), {})
                    for example in check_inputs or ()]  # fmt: skip
        checked(func, made, [(args, kwargs), *examples], check_tolerance, made.__dict__.get("_fixed", []))
    return made


def _trace_function(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], strict: bool,
                    outplace: bool) -> Any:  # fmt: skip
    from taeda.jit._script import ScriptFunction
    from taeda.jit.tracing.function import GraphFunction

    recorded = record(func, args, kwargs, strict=strict, outplace=outplace)
    name = getattr(func, "__name__", type(func).__name__).replace("<lambda>", "lambda_")
    made = ScriptFunction(GraphFunction(recorded.graph, f"__torch__.{name}"), func)
    made.__dict__["_fixed"] = recorded.fixed
    return made


def trace_module(
    mod: Any, inputs: dict[str, Any], optimize: None = None, check_trace: bool = True, check_inputs: Any = None,
    check_tolerance: float = 1e-5, strict: bool = True, _force_outplace: bool = False, _module_class: Any = None,
    _compilation_unit: Any = None, example_inputs_is_kwarg: bool = False, _store_inputs: bool = True,
) -> Any:  # fmt: skip
    """As `trace`, for a module and each of the methods that ``inputs`` has example inputs for.

    Raises:
        AttributeError: ``mod`` is no module, ``inputs`` no dict, or there is no such method.
        RuntimeError: an example input that is not made of tensors.
        TracingCheckError: a method's program and the method differ on an example.
    """
    from taeda.jit._module import ScriptModule

    if not isinstance(mod, nn.Module):
        raise AttributeError(f"taeda.jit.trace_module: wants a module; got {type(mod).__name__}")
    if not isinstance(inputs, dict):
        raise AttributeError(f"taeda.jit.trace_module: inputs must be a dict; got {type(inputs).__name__}")
    examples = {}
    for name, given in inputs.items():
        getattr(mod, name)
        if example_inputs_is_kwarg:
            check_examples(tuple(given.values()))
        examples[name] = ((), given) if example_inputs_is_kwarg else (as_arguments(given), {})
    if not _enabled or isinstance(mod, ScriptModule):
        return mod
    made = _trace_methods(mod, examples, strict, _force_outplace)
    if check_trace:
        more = [check_inputs] if isinstance(check_inputs, dict) else list(check_inputs or ())
        for name, example in examples.items():
            calls = [example, *((as_arguments(given[name]), {}) for given in more if name in given)]
            method = mod if name == "forward" else getattr(mod, name)
            checked(method, getattr(made, name), calls, check_tolerance, made.__dict__["_fixed"])
    return made


def _trace_methods(module: nn.Module, examples: dict[str, tuple[tuple[Any, ...], dict[str, Any]]], strict: bool,
                   outplace: bool) -> Any:  # fmt: skip
    """The module with a recorded graph for each method, and one for each call of a module in it."""
    from taeda.jit._module import ScriptMethod, compile_exported
    from taeda.jit.tracing.module import TracedTree

    tree = TracedTree(module)
    made = tree.top
    info = made._info
    fixed: list[Fixed] = []
    for name, (args, kwargs) in examples.items():
        method = module if name == "forward" else getattr(module, name)
        recorded = record(method, args, kwargs, module, info.type, strict, outplace=outplace, methods=tree.paths)
        function = tree.keep(name, recorded)
        fixed += recorded.fixed
        if name != "forward":  # which may also be the name of something that every module has, as double
            made.__dict__[name] = ScriptMethod(made, function)
    made.__dict__["_fixed"] = fixed
    compile_exported(info, apart_from=examples)
    for path in tree.paths.values():
        compile_exported(made.get_submodule(".".join(path))._info, apart_from=("forward",))
    return made


def _get_trace_graph(
    f: Any, args: Any = (), kwargs: dict[str, Any] | None = None, strict: bool = True, _force_outplace: bool = False,
    return_inputs: bool = False, _return_inputs_states: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The graph of one call, whose inputs are the arguments and then the parameters and buffers; and the call's result.

    With ``return_inputs`` also all of the graph's inputs. Raises as `trace`.
    """
    arguments = args if isinstance(args, tuple) else (args,)
    check_examples(arguments)
    recorded = record_flat(f, arguments, kwargs or {}, strict, _force_outplace)
    state = f.state_dict(keep_vars=True).values() if isinstance(f, nn.Module) else ()
    inputs = (*arguments, *(kwargs or {}).values(), *state)
    return (recorded.graph, recorded.result, inputs) if return_inputs else (recorded.graph, recorded.result)


def record_flat(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], strict: bool = True, outplace: bool = False
) -> Recorded:
    """A graph that takes the state of a module as inputs, behind the arguments. ``outplace`` is as `record` has it."""
    state = dict(f.state_dict(keep_vars=True)) if isinstance(f, nn.Module) else {}
    recorder = Recorder(lambda tensor: None, strict)
    recorder.outplace = outplace
    seen: set[int] = set()
    with recorder, _scopes(recorder, f if isinstance(f, nn.Module) else None, {}):
        with recorder.quiet():
            names = _names(f, len(args))
            fresh = [add_input(recorder, _plain(n), value, seen) for n, value in zip(names, args, strict=True)]
            fresh_kwargs = {key: add_input(recorder, key, value, seen) for key, value in kwargs.items()}
            for name, tensor in state.items():
                if id(tensor) not in recorder._tensors:
                    value = recorder.graph.addInput("")
                    value.setDebugName(name)
                    recorder.track(tensor, value)
        result = f(*fresh, **fresh_kwargs)
        with recorder.quiet():
            add_output(recorder, result)
    return Recorded(recorder, result)
