"""Leaves, and how lists and tuples come apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.utils._pytree import SUPPORTED_NODES, is_namedtuple_instance, tree_is_leaf

__all__ = ["_is_leaf", "_is_namedtuple_instance", "_list_flatten", "_list_unflatten", "_tuple_flatten"]
__all__ += ["_tuple_unflatten", "is_structseq_instance"]

_list_flatten, _list_unflatten = SUPPORTED_NODES[list].flatten_fn, SUPPORTED_NODES[list].unflatten_fn
_tuple_flatten, _tuple_unflatten = SUPPORTED_NODES[tuple].flatten_fn, SUPPORTED_NODES[tuple].unflatten_fn


def _is_namedtuple_instance(tree: Any) -> bool:
    """Whether it is a tuple with names, not of a class derived from one."""
    return is_namedtuple_instance(tree)


def _is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether nothing is inside of ``tree``."""
    return tree_is_leaf(tree, is_leaf)


def is_structseq_instance(obj: Any) -> bool:
    """Whether it is a tuple with names from C, as `taeda.return_types` are."""
    kind = type(obj)
    names = ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    return isinstance(obj, tuple) and all(isinstance(getattr(kind, name, None), int) for name in names)
