"""Ops as the functions of ``taeda.library`` take them: op objects, custom ops, and names."""

from __future__ import annotations

from typing import Any

from taeda._library.custom_ops import CustomOpDef
from taeda._library.ops import OpOverload, find_overload


def name_of(op: Any) -> str:
    """``namespace::name.overload``, as far as it is given; ValueError for what is no op."""
    if isinstance(op, (OpOverload, CustomOpDef)):
        op = op.name() if isinstance(op, OpOverload) else op._qualname
    if not isinstance(op, str):
        raise ValueError(f"taeda.library: an op is an op object or a str; got {type(op).__name__}")
    return op


def overload_of(op: Any) -> OpOverload:
    """The op object; AttributeError if there is none."""
    qualified, _, overload = name_of(op).partition(".")
    return find_overload(qualified, overload)


def existing(op: Any) -> OpOverload:
    """The op object; RuntimeError if there is none."""
    try:
        return overload_of(op)
    except AttributeError as error:
        raise RuntimeError(f"taeda.library: {error}") from None
