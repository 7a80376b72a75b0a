"""Ops that write to their arguments as ops that do not: they take what is written to, and return it as it is then.

A graph without writes calls an op of a program's own so, ``taeda.ops.higher_order.auto_functionalized_v2(op, ...)``.
"""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._control_flow.higher_order import HigherOrderOperator

__all__ = ["auto_functionalized", "auto_functionalized_v2", "written"]


def written(op: Any) -> list[Any]:
    """The parameters that an op writes to."""
    return [p for p in op._schema.arguments if p.alias_info is not None and p.alias_info.is_write]


def _clone(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_clone(item) for item in value]
    return None if value is None else value.clone()


def _results(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _auto_functionalized(op: Any, **kwargs: Any) -> tuple[Any, ...]:
    """What ``op(**kwargs)`` returns, and then what it writes to, as new tensors."""
    new = {p.name: _clone(kwargs[p.name]) for p in written(op)}
    return (*_results(op(**{**kwargs, **new})), *new.values())


def _auto_functionalized_v2(op: Any, **kwargs: Any) -> tuple[Any, ...]:
    """What ``op`` returns, and then the tensors of ``_all_bases`` as it leaves them.

    Args:
        op: the op.
        kwargs: its other arguments by name. For each ``x`` that it writes to ``_x_base_index`` says which of the bases
            it is; ``_x_slice_dim``, ``_x_slice_start`` and ``_x_slice_end``, or ``_x_size``, ``_x_stride`` and
            ``_x_storage_offset``, which view of it. Of a list ``_x_length`` items are ``_x_0``, ``_x_1`` and so on.
    """
    bases = [base.clone() for base in kwargs.pop("_all_bases")]
    given = {p.name: kwargs[p.name] for p in op._schema.arguments if p.name in kwargs}
    for parameter in written(op):
        prefix = f"_{parameter.name}"
        if f"{prefix}_length" not in kwargs:
            given[parameter.name] = _part(bases, kwargs, prefix)
            continue
        length = kwargs[f"{prefix}_length"]
        given[parameter.name] = (
            None if length is None else [_part(bases, kwargs, f"{prefix}_{i}") for i in range(length)]
        )
    return (*_results(op(**given)), *bases)


def _part(bases: list[Tensor], kwargs: dict[str, Any], prefix: str) -> Tensor | None:
    """What of which base an argument is."""
    index = kwargs[f"{prefix}_base_index"]
    if index is None:
        return None
    base = bases[index]
    if f"{prefix}_slice_dim" in kwargs:
        dim, start, end = (kwargs[f"{prefix}_slice_{word}"] for word in ("dim", "start", "end"))
        return base[(slice(None),) * (dim % base.dim()) + (slice(start, end),)]
    if f"{prefix}_size" in kwargs:
        size, stride, offset = (kwargs[f"{prefix}_{word}"] for word in ("size", "stride", "storage_offset"))
        return base.as_strided(size, stride, offset)
    return base


auto_functionalized = HigherOrderOperator("auto_functionalized", _auto_functionalized)
auto_functionalized_v2 = HigherOrderOperator("auto_functionalized_v2", _auto_functionalized_v2)
