"""What code generated for nested arguments calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from taeda.utils import _pytree as pytree

_parts: dict[type, Callable[[Any, pytree.TreeSpec], list[Any]]] = {}


def register_pytree_flatten_spec(
    cls: type, flatten_fn_spec: Callable[[Any, pytree.TreeSpec], list[Any]],
    flatten_fn_exact_match_spec: Callable[[Any, pytree.TreeSpec], bool] | None = None,
) -> None:  # fmt: skip
    """Says what the parts of a proxy are that stands for an object of ``cls``, a class that the pytrees know.

    Args:
        cls: the class.
        flatten_fn_spec: takes the object and how it is nested; returns its parts.
        flatten_fn_exact_match_spec: accepted; objects are always compared with how they must be nested.
    """
    _parts[cls] = flatten_fn_spec


def tree_flatten_spec(tree: Any, spec: pytree.TreeSpec) -> list[Any]:
    """The leaves of ``tree``; ValueError unless it is nested as ``spec`` says. A proxy has whatever is asked."""
    from taeda.fx.proxy import Proxy

    if isinstance(tree, tuple) and len(tree) == 2 and type(tree[0]) is list and spec.type is tuple:
        tree = (tuple(tree[0]), tree[1])  # arguments and keywords, as generated code gives them
    leaves, found = pytree.tree_flatten(tree)
    if found != spec and any(isinstance(leaf, Proxy) for leaf in leaves):
        return list(_parts_of(tree, spec))
    if found != spec:
        raise ValueError(f"taeda.fx: the graph takes arguments nested as {spec}; got {found}")
    return leaves


def _parts_of(tree: Any, spec: pytree.TreeSpec) -> Iterator[Any]:
    """The leaves where ``spec`` has its own."""
    if spec.is_leaf():
        yield tree
        return
    if spec.type in _parts:
        for part, child in zip(_parts[spec.type](tree, spec), spec.children()):
            yield from _parts_of(part, child)
        return
    keys = spec.context if spec.type is dict else range(spec.num_children)
    for key, child in zip(keys, spec.children()):
        yield from _parts_of(tree[key], child)
