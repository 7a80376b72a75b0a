"""Arguments whose type nobody said: tensors, until a call within the program gives something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from taeda.jit.check.emitter import Emitter
from taeda.jit.check.function import Function, type_of_default
from taeda.jit.check.values import Known, TupleOf
from taeda.jit.ir import Value


def fitting(
    emitter: Emitter, function: Function, args: Sequence[Any], kwargs: dict[str, Any], skip: int,
    another: Callable[[dict[str, Any]], Function],
) -> Function:  # fmt: skip
    """The form of a function that takes what a call gives it.

    Args:
        skip: 1 for a method, whose object is not among the arguments.
        another: makes the form for types by parameter, where the function was compiled for others.
    """
    types = {}
    for i, parameter in enumerate(function.parameters()[skip:]):
        unsaid = parameter.name in function.inferred or parameter.name in function.settled
        if unsaid and (i < len(args) or parameter.name in kwargs):
            found = _type_of(emitter, args[i] if i < len(args) else kwargs[parameter.name])
            if found is not None and not found.isSubtypeOf(parameter.type):
                types[parameter.name] = found
    if not types:
        return function
    if function._graph is not None or function._compiling:
        return another(types)
    for parameter in function.parameters():  # the first call decides
        parameter.type = types.get(parameter.name, parameter.type)
    function.inferred -= types.keys()
    function.settled |= types.keys()
    function._inferred_places = None
    return function


def _type_of(emitter: Emitter, what: Any) -> Any:
    if isinstance(what, Value):
        return what.static_type
    if isinstance(what, Known):
        return type_of_default(what.obj)
    return emitter.value(what).static_type if isinstance(what, TupleOf) else None
