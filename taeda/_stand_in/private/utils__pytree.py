"""Leaves, and how containers come apart."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any

from taeda.utils._pytree import SUPPORTED_NODES, is_namedtuple_instance, tree_is_leaf
from taeda.utils._pytree_nodes import NodeDef

__all__ = ["_is_leaf", "_is_namedtuple_instance", "is_structseq_instance"]


def _with_keys(node: NodeDef) -> Callable[[Any], tuple[list[tuple[Any, Any]], Any]]:
    def flatten_with_keys(tree: Any) -> tuple[list[tuple[Any, Any]], Any]:
        """The children of a container with their keys, and what else makes it up."""
        children, context = node.flatten_fn(tree)
        return list(zip(node.keys(context, len(children)), children, strict=True)), context

    return flatten_with_keys


_KINDS: dict[str, Any] = {
    "list": list, "tuple": tuple, "dict": dict, "ordereddict": OrderedDict, "defaultdict": defaultdict, "deque": deque,
    "namedtuple": namedtuple,
}  # fmt: skip
for _name, _kind in _KINDS.items():
    _node = SUPPORTED_NODES[_kind]
    _functions = {"flatten": _node.flatten_fn, "unflatten": _node.unflatten_fn, "flatten_with_keys": _with_keys(_node)}
    globals().update({f"_{_name}_{what}": function for what, function in _functions.items()})
    __all__ += [f"_{_name}_{what}" for what in _functions]


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
