"""Ops that archives of older versions mean otherwise than they do now; such a call becomes what it meant."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from taeda.jit.check.types import FLOAT, INT, NONE, TENSOR
from taeda.jit.ir import Graph, Value

if TYPE_CHECKING:
    from taeda.jit.files.importer import Importer

# The first versions of archives in which each has its present meaning.
_PRESENT = {
    "aten::div": 4, "aten::div_": 4, "aten::full": 5, "aten::linspace": 8, "aten::logspace": 9,
}  # fmt: skip

# Of integers, division rounded towards zero.
_DIVISION = """
def divided(self: Tensor, other: {type}{more}) -> Tensor:
    if self.is_floating_point() or {floating}:
        return {module}true_divide{end}({first}other{given})
    return {module}divide{end}({first}other, rounding_mode="trunc"{given})
"""
_IS_FLOATING = {"TensorType": "other.is_floating_point()", "NumberType": "isinstance(other, float)"}
_STEPS = """
def steps(n: Optional[int]) -> int:
    return 100 if n is None else n
"""


def is_other(kind: str, version: int) -> bool:
    """Whether an op means something else in archives of a version."""
    return version < _PRESENT.get(kind, 0)


def as_meant(importer: Importer, kind: str, args: list[Value], kwargs: dict[str, Value]) -> Any:
    """The value of such a call, or the arguments ``(args, kwargs)`` that make the op of today mean the same."""
    plain = kind.removeprefix("aten::")
    if plain in ("div", "div_"):
        return _divided(importer, plain, args, kwargs)
    if plain == "full":
        dtype = kwargs.get("dtype")
        if (dtype is None or dtype.static_type is NONE) and "out" not in kwargs and args[1].static_type is INT:
            value = importer.graph.emit("aten::Float", [args[1]], [FLOAT], importer.here, "int").output()
            args = [args[0], value, *args[2:]]
        return args, kwargs
    return _with_steps(importer, args, kwargs)


def _divided(importer: Importer, plain: str, args: list[Value], kwargs: dict[str, Value]) -> Any:
    if len(args) != 2 or args[0].static_type is not TENSOR or kwargs.keys() - {"out"}:
        return args, kwargs  # of two numbers, or told how to round
    if args[1].static_type is FLOAT:
        return args, kwargs
    end = plain.removeprefix("div")
    graph = _compiled("divided", _DIVISION.format(
        type={"TensorType": "Tensor", "IntType": "int"}.get(args[1].static_type.kind(), "number"),
        floating=_IS_FLOATING.get(args[1].static_type.kind(), "False"), end=end,
        module="self." if end else "torch.", first="" if end else "self, ",
        more=", out: Tensor" if kwargs else "", given=", out=out" if kwargs else "",
    ))  # fmt: skip
    return importer.graph.insertGraph(graph, [*args, *kwargs.values()])[0]


def _with_steps(importer: Importer, args: list[Value], kwargs: dict[str, Value]) -> Any:
    """``linspace`` and ``logspace``, whose number of steps could be left out."""
    given = args[2] if len(args) > 2 else kwargs.get("steps")
    if given is not None and given.static_type is INT:
        return args, kwargs
    if given is None or given.static_type is NONE:
        steps = importer.constant(100)
    else:
        (steps,) = importer.graph.insertGraph(_compiled("steps", _STEPS), [given])
    return [*args[:2], steps, *args[3:]], {name: value for name, value in kwargs.items() if name != "steps"}


@functools.cache
def _compiled(name: str, source: str) -> Graph:
    from taeda.jit import CompilationUnit

    return getattr(CompilationUnit(source), name).function.graph  # type: ignore[no-any-return]
