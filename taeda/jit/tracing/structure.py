"""Arguments and results of traces: tensors in tuples, lists and dicts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from taeda import _C, SymInt, Tensor
from taeda._schema.types import DictType, ListType, TensorType, Type
from taeda.jit.ir import Value
from taeda.jit.tracing.recorder import Recorder, TracerWarning


def check_examples(value: Any) -> None:
    """Example inputs are made of tensors.

    Raises:
        RuntimeError: they are not.
    """
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            check_examples(item)
        if isinstance(value, list) and len({type_of_example(item) for item in value}) > 1:
            raise RuntimeError(
                "taeda.jit.trace: the items of a list are of one type; these are of several: use a tuple"
            )
    elif not isinstance(value, Tensor):
        raise RuntimeError(
            f"taeda.jit.trace: example inputs are tensors, in lists, tuples and dicts; got {type(value).__name__}"
        )


def as_arguments(inputs: Any) -> tuple[Any, ...]:
    """The positional arguments that example inputs stand for.

    Raises:
        TypeError: nothing that could be arguments.
        RuntimeError: they are not made of tensors.
    """
    if not isinstance(inputs, Iterable):
        raise TypeError(f"taeda.jit.trace: wants example inputs, a tensor or a tuple; got {type(inputs).__name__}")
    arguments = (inputs,) if isinstance(inputs, (Tensor, dict)) else tuple(inputs)
    check_examples(arguments)
    return arguments


def type_of_example(value: Any) -> Type:
    """The type of an example input."""
    if isinstance(value, Tensor):
        return TensorType.get()
    if isinstance(value, dict):
        held = [type_of_example(item) for item in value.values()]
        return DictType(_C._type_of(next(iter(value), "")), held[0] if held else TensorType.get())
    if isinstance(value, list):
        return ListType(type_of_example(value[0]) if value else TensorType.get())
    return _C._make_type("TupleType", tuple(type_of_example(item) for item in value))


def add_input(recorder: Recorder, name: str, value: Any, seen: set[int]) -> Any:
    """A parameter of the graph for an example input; what the program gets for it."""
    graph = recorder.graph
    made = graph.addInput("", type_of_example(value))
    made.setDebugName(name)
    fresh = _distinct(recorder, value, seen)
    _enter(recorder, fresh, made)
    return fresh


def _distinct(recorder: Recorder, value: Any, seen: set[int]) -> Any:
    """The value, with another tensor of the same memory where one is given twice."""
    if isinstance(value, Tensor):
        if id(value) in seen or recorder.owner(value) is not None:
            import taeda

            with recorder.quiet():
                value = taeda.ops.aten.alias(value)
        seen.add(id(value))
        return value
    if isinstance(value, dict):
        return {key: _distinct(recorder, item, seen) for key, item in value.items()}
    items = [_distinct(recorder, item, seen) for item in value]
    if isinstance(value, list):
        return items
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)


def _enter(recorder: Recorder, value: Any, made: Value) -> None:
    if isinstance(value, Tensor) or not len(value):
        if isinstance(value, Tensor):
            recorder.track(value, made)
        return
    recorder._result(value, made)


def add_output(recorder: Recorder, result: Any) -> None:
    """The graph gives what the program gave.

    Raises:
        RuntimeError: it holds something else than tensors, or with ``strict`` a list or dict.
    """
    value = _output(recorder, result, "the traced program's result")
    recorder.graph.registerOutput(value)


def _output(recorder: Recorder, result: Any, where: str) -> Value:
    if isinstance(result, Tensor):
        return recorder.value_of(result)
    if result is None:
        return recorder.value_of(None)
    if isinstance(result, tuple):
        items = [_output(recorder, item, f"{where}[{i}]") for i, item in enumerate(result)]
        made = _C._make_type("TupleType", tuple(item.static_type for item in items))
        return recorder.emit("prim::TupleConstruct", items, [made]).output()
    if isinstance(result, SymInt):
        number = recorder.value_of(result)
        return recorder.emit("prim::NumToTensor", [number], [TensorType.get()]).output()
    if isinstance(result, list) and recorder.strict:
        warnings.warn(f"taeda.jit.trace: {where} is a list, whose length is the example's for good; return a tuple to "
                      "say that it is fixed", TracerWarning, stacklevel=2)  # fmt: skip
    if isinstance(result, list) and not any(isinstance(item, list) for item in result):
        items = [_output(recorder, item, f"{where}[{i}]") for i, item in enumerate(result)]
        made = ListType(items[0].static_type if items else TensorType.get())
        return recorder.emit("prim::ListConstruct", items, [made]).output()
    if isinstance(result, dict) and not recorder.strict:
        return recorder._dict(result, lambda item: _output(recorder, item, where))
    if isinstance(result, dict):
        raise RuntimeError(
            f"taeda.jit.trace: {where} is a {type(result).__name__}, which the caller could change unseen; return a "
            "tuple, or pass strict=False"
        )
    raise RuntimeError(
        f"taeda.jit.trace: {where} must be made of tensors, in tuples; got {type(result).__name__}"
        + (" (a number that tensors or sizes gave is no part of a trace)" if isinstance(result, (int, float)) else "")
    )


def map_tensors(value: Any, function: Callable[[Tensor], Any]) -> Any:
    """The same structure with each tensor replaced."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, dict):
        return {key: map_tensors(item, function) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [map_tensors(item, function) for item in value]
        if isinstance(value, list):
            return items
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def tensors_in(value: Any) -> list[Tensor]:
    """All tensors of a structure, in order."""
    found: list[Tensor] = []
    map_tensors(value, found.append)
    return found
