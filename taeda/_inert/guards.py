"""Filters that programs hand to ``compile`` as ``options={"guard_filter_fn": ...}``: for each guard, keep it or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def keep_portable_guards_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Keeps those on shapes, on tensors that are not global, and on the grad and autocast modes."""
    return [
        g.guard_type in ("SHAPE_ENV", "GLOBAL_STATE") or (g.guard_type == "TENSOR_MATCH" and not g.is_global)
        for g in guard_entries
    ]


def keep_tensor_guards_unsafe(guard_entries: Sequence[Any], keep_parameters: bool = False) -> list[bool]:
    """Keeps those on tensors, of which on parameters only if told to."""
    from taeda.nn import Parameter

    return [
        g.guard_type == "TENSOR_MATCH" and (keep_parameters or not isinstance(g.value, Parameter))
        for g in guard_entries
    ]


def skip_guard_on_globals_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Keeps those that do not concern globals."""
    return [not g.is_global for g in guard_entries]


def skip_guard_on_inbuilt_nn_modules_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Keeps those that do not concern the library's own modules."""
    return [not g.orig_guard.source.is_unspecialized_builtin_nn_module() for g in guard_entries]


def skip_guard_on_all_nn_modules_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Keeps those that do not concern modules."""
    return [not g.orig_guard.source.is_unspecialized_nn_module() for g in guard_entries]


def skip_all_guards_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Keeps none."""
    return [False for _ in guard_entries]
