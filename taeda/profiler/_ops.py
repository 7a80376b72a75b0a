"""``record_function`` as ops, for programs that mark stretches by calling them: ``taeda.ops.profiler``."""

from __future__ import annotations

import taeda
from taeda import _C, Tensor
from taeda.library import Library


def _enter(name: str, args: str | None = None) -> Tensor:
    """Begins a mark in the profile; what it gives ends it."""
    return taeda.tensor(_C._profiler_enter(name, args))


def _exit(handle: Tensor) -> None:
    """Ends the mark."""
    _C._profiler_leave(int(handle.item()))


library = Library("profiler", "DEF")
for _name, _schema, _function in (
    ("_record_function_enter", "(str name, str? args=None) -> Tensor", _enter),
    ("_record_function_enter_new", "(str name, str? args=None) -> Tensor", _enter),
    ("_record_function_exit", "(Tensor handle) -> ()", _exit),
):
    library.define(_name + _schema)
    library.impl(_name, _function, "CompositeExplicitAutograd")
