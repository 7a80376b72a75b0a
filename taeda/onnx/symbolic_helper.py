"""Help for writing symbolic functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import taeda

# What a descriptor wants an argument to be.
_WANTED: dict[str, tuple[type[Any], ...]] = {
    "i": (int,),
    "f": (int, float),
    "b": (bool,),
    "s": (str,),
    "t": (taeda.Tensor,),
}


def _is(value: Any, descriptor: str) -> bool:
    if descriptor in ("is", "fs"):
        return isinstance(value, (list, tuple)) and all(_is(one, descriptor[0]) for one in value)
    return isinstance(value, _WANTED[descriptor])


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Says what the arguments of a symbolic function ``f(g, ...)`` are, one descriptor for each after ``g``.

    ``"v"`` is a value of the graph, passed on as it is; ``"none"`` is None; the others are constants: ``"i"`` an
    integer, ``"f"`` a float, ``"b"`` a bool, ``"s"`` a string, ``"t"`` a tensor, ``"is"`` and ``"fs"`` lists. None
    passes for any of them.

    Raises:
        ValueError: an unknown descriptor; in a call, an argument that is not what its descriptor says.
        AssertionError: in a call, more arguments than descriptors.
    """
    for descriptor in arg_descriptors:
        if descriptor not in ("v", "none", "is", "fs", *_WANTED):
            raise ValueError(f"taeda.onnx.symbolic_helper.parse_args: there is no descriptor '{descriptor}'")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def checked(g: Any, *args: Any, **kwargs: Any) -> Any:
            name = function.__name__
            if len(args) > len(arg_descriptors):
                raise AssertionError(f"{name}: takes {len(arg_descriptors)} arguments; got {len(args)}")
            for index, (value, descriptor) in enumerate(zip(args, arg_descriptors, strict=False)):
                if value is None or descriptor == "v":
                    continue
                if descriptor == "none" or not _is(value, descriptor):
                    raise ValueError(f"{name}: argument {index} must be '{descriptor}'; got {type(value).__name__}")
            return function(g, *(_convert(v, d) for v, d in zip(args, arg_descriptors, strict=False)), **kwargs)

        return checked

    return decorate


def _convert(value: Any, descriptor: str) -> Any:
    if value is None:
        return None
    if descriptor == "f":
        return float(value)
    return [float(one) for one in value] if descriptor == "fs" else value
