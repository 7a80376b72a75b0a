"""Samples made from an op's schema and kind: shapes that broadcast, one optional parameter changed at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from taedagen.opdef.samples import Fill, Interval, Sample, b, f, i

if TYPE_CHECKING:
    from taedagen.opdef import Op
    from taedagen.opdef.schema import Argument

_SHAPES: dict[int, list[list[tuple[int, ...]]]] = {
    1: [[(2, 3)], [()], [(67,)], [(0,)], [(2, 0, 3)], [(3, 5, 4)]],
    2: [[(2, 3), (2, 3)], [(2, 3), (3,)], [(2, 1), (1, 3)], [(), (2, 3)], [(), ()], [(0, 3), (1, 3)], [(67,), (67,)],
        [(2, 3), (4,)]],
    3: [[(2, 3)] * 3, [(2, 3), (3,), ()], [(2, 1), (1, 3), (2, 3)], [(0, 3), (1, 3), (3,)], [(67,)] * 3],
}  # fmt: skip
_INTS = {"dim": 0, "dim0": 0, "dim1": 1, "axis0": 0, "axis1": 1, "n": 2, "p": 2, "source": 0, "destination": 1}
_SILENT = {"dtype", "layout", "device", "pin_memory", "memory_format", "generator", "non_blocking", "copy", "driver"}


def automatic(op: Op, domain: dict[str, Interval]) -> list[Sample]:
    """Samples that a schema and the kind of op tell; empty where they do not tell enough."""
    schema = op.declaration.schema
    required = [a for a in schema.arguments if a.default is None]
    tensors = [a for a in required if a.type.is_tensor and not a.type.is_list and not a.type.optional]
    shapes = _SHAPES.get(len(tensors), [[(2, 3)] * len(tensors)])
    if op.declaration.kind == "reduction":
        shapes = [[(2, 3)], [(2, 3, 4)], [()], [(67,)], [(0,)], [(3, 0, 2)]]
    made = []
    for pattern in shapes:
        values = _required(required, tensors, pattern, domain, op)
        if values is None:
            return []
        made.append(values)
    found = [_sample(required, values) for values in made]
    return found + list(_variations(op, required, made[: 2 if op.declaration.kind == "reduction" else 1]))


def _required(required: list[Argument], tensors: list[Argument], pattern: list[tuple[int, ...]],
              domain: dict[str, Interval], op: Op) -> dict[str, Any] | None:  # fmt: skip
    values: dict[str, Any] = {}
    for argument in required:
        kind, name = argument.type, argument.name
        low, high = domain.get(name, (-2.0, 2.0))
        if kind.is_tensor and kind.is_list:
            values[name] = [f(2, 3, low=low, high=high), f(2, 3, low=low, high=high)]
        elif kind.is_tensor and not kind.optional:
            values[name] = _tensor(name, pattern[tensors.index(argument)], (low, high), op)
        elif kind.optional:
            values[name] = None
        elif kind.is_list and kind.base == "Scalar":
            values[name] = [1.5, 2.0]
        elif kind.base == "Scalar":
            values[name] = 1.5
        elif kind.base in ("int", "SymInt") and name in _INTS:
            values[name] = [_INTS[name]] if kind.is_list and kind.list_size != 1 else _INTS[name]
        elif kind.base == "float":
            values[name] = 0.5
        elif kind.base == "bool":
            values[name] = True
        else:
            return None
    return values


def _tensor(name: str, shape: tuple[int, ...], domain: tuple[float, float], op: Op) -> Fill:
    if name in ("index", "indices"):
        return i(*shape, high=2)
    if name in ("mask", "condition"):
        return b(*shape)
    dtypes = op.declaration.dtypes
    dtype = "float64" if "float64" in dtypes or op.declaration.kind != "pointwise" else "int64"
    if not {"float64", "int64"} & set(dtypes):
        dtype = "complex128"
    return Fill(shape, dtype, *domain)


def _sample(required: list[Argument], values: dict[str, Any]) -> Sample:
    return Sample(tuple(values[a.name] for a in required if not a.keyword_only),
                  {a.name: values[a.name] for a in required if a.keyword_only})  # fmt: skip


def _variations(op: Op, required: list[Argument], bases: list[dict[str, Any]]) -> Iterator[Sample] | list[Sample]:
    """One optional parameter changed at a time; dimensions named from both ends."""
    found = []
    choices = op.declaration.options.get("choices") or {}
    for base in bases:
        plain = _sample(required, base)
        for argument in op.declaration.schema.arguments:
            for value in _others(argument, choices.get(argument.name, ())):
                if argument.name in base:
                    found.append(_sample(required, {**base, argument.name: value}))
                elif argument.default is not None:
                    found.append(Sample(plain.args, {**plain.kwargs, argument.name: value}))
    return found


def _others(argument: Argument, choices: tuple[Any, ...]) -> list[Any]:
    name, kind, default = argument.name, argument.type, argument.default
    if choices:
        return list(choices)
    if name in _SILENT or kind.is_tensor:
        return []
    if name == "dim" and kind.base in ("int", "SymInt"):
        return [-1, 0, 5] + ([[0, 1], [-1]] if kind.is_list else [])
    if kind.base == "bool" and not kind.is_list:
        return [default != "True"]
    if kind.base == "Scalar" and not kind.is_list and default is not None:
        return [0.5]
    return []
