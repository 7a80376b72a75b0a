"""Tables of decompositions by op, as passes over graphs take them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any

from taeda._decompositions.bodies import decomposition_of, names
from taeda._decompositions.core import bodies
from taeda._library.ops import OpOverload, OpOverloadPacket, packet_of

Table = MutableMapping[OpOverload, Callable[..., Any]]


class _All(MutableMapping[OpOverload, Callable[..., Any]]):
    """All that is declared, read when asked for, what programs add, and bodies for ops that are kernels here."""

    def __init__(self) -> None:
        self._added: dict[OpOverload, Callable[..., Any]] = {}

    @functools.cached_property
    def _declared(self) -> dict[OpOverload, Callable[..., Any]]:
        return {op: body for name in names() if (op := _op(name)) and (body := decomposition_of(name))}

    @functools.cached_property
    def _core(self) -> dict[OpOverload, Callable[..., Any]]:
        return dict(bodies())

    def declared(self, op: OpOverload) -> Callable[..., Any] | None:
        """The body that is declared, or that a program added; None where the op is a kernel."""
        return self._added.get(op) or self._declared.get(op)

    def __getitem__(self, op: OpOverload) -> Callable[..., Any]:
        return self.declared(op) or self._core[op]

    def __setitem__(self, op: OpOverload, function: Callable[..., Any]) -> None:
        self._added[op] = function

    def __delitem__(self, op: OpOverload) -> None:
        if op not in self:
            raise KeyError(op)
        for table in (self._added, self._declared, self._core):
            table.pop(op, None)

    def __iter__(self) -> Iterator[OpOverload]:
        return iter({**self._core, **self._declared, **self._added})

    def __len__(self) -> int:
        return len({**self._core, **self._declared, **self._added})


decomposition_table = _All()


def _op(full_name: str) -> OpOverload | None:
    name, _, overload = full_name.partition(".")
    try:
        return getattr(packet_of(name), overload or "default", None)
    except AttributeError:
        return None


def _overloads(ops: Iterable[Any]) -> Iterator[OpOverload]:
    for op in ops:
        if isinstance(op, OpOverloadPacket):
            yield from (getattr(op, name) for name in op.overloads())
        elif isinstance(op, OpOverload):
            yield op
        else:
            raise TypeError(f"decompositions are of ops, such as taeda.ops.aten.mse_loss; got {type(op).__name__}")


def get_decompositions(aten_ops: Iterable[Any], type: str = "post_autograd") -> dict[OpOverload, Callable[..., Any]]:
    """What the given ops are made of; ops that have no decomposition are left out."""
    return {op: decomposition_table[op] for op in _overloads(aten_ops) if op in decomposition_table}


def core_aten_decompositions() -> dict[OpOverload, Callable[..., Any]]:
    """All decompositions."""
    return dict(decomposition_table)


def register_decomposition(aten_op: Any, registry: Table | None = None) -> Callable[[Any], Any]:
    """Makes a function the decomposition of an op, or of several."""
    ops = aten_op if isinstance(aten_op, (list, tuple)) else [aten_op]

    def take(function: Any) -> Any:
        for op in _overloads(ops):
            (decomposition_table if registry is None else registry)[op] = function
        return function

    return take


def remove_decompositions(decompositions: Table, aten_ops: Iterable[Any]) -> None:
    """Takes ops out of a table, where they are in it."""
    for op in _overloads(aten_ops):
        decompositions.pop(op, None)
