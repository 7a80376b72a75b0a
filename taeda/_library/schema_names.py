"""What programs ask ``torch._C`` about ops: their schemas, and which kernels they have."""

from __future__ import annotations

from typing import Any

from taeda import _C
from taeda._library.ops import OpOverload, find_overload


def _overloads(name: str) -> list[OpOverload]:
    return [find_overload(name, overload) for overload in _C._overloads_of(name)]


def _get_schema(op_name: str, overload_name: str) -> Any:
    """The schema of ``"aten::add"`` and an overload; RuntimeError if there is none."""
    if overload_name not in _C._overloads_of(op_name):
        raise RuntimeError(f"taeda._C._get_schema: there is no op {op_name} with the overload {overload_name!r}")
    return find_overload(op_name, overload_name)._schema


def _jit_get_schemas_for_operator(op_name: str) -> list[Any]:
    """The schemas of all overloads of ``"aten::add"``; none for an unknown name."""
    return [op._schema for op in _overloads(op_name)]


def _jit_get_all_schemas() -> list[Any]:
    """The schemas of all ops."""
    found = (full.partition(".") for full in _C._all_op_names())
    return [find_overload(name, overload)._schema for name, _, overload in found]


def _named(op_name: str) -> OpOverload | None:
    name, _, overload = op_name.partition(".")
    return find_overload(name, overload) if overload in _C._overloads_of(name) else None


def _dispatch_has_kernel(op_name: str) -> bool:
    """Whether there is an op ``"aten::add.Tensor"``."""
    return _named(op_name) is not None


def _dispatch_has_kernel_for_dispatch_key(op_name: str, dispatch_key: str) -> bool:
    """Whether an op has a kernel for a key; RuntimeError if there is no such op."""
    op = _named(op_name)
    if op is None:
        raise RuntimeError(f"taeda._C._dispatch_has_kernel_for_dispatch_key: there is no op {op_name}")
    return bool(op.has_kernel_for_dispatch_key(dispatch_key))
