"""What code generated for nested arguments calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from taeda.utils import _pytree as pytree


def tree_flatten_spec(tree: Any, spec: pytree.TreeSpec) -> list[Any]:
    """The leaves of ``tree``; ValueError unless it is nested as ``spec`` says. A proxy has whatever is asked."""
    from taeda.fx.proxy import Proxy

    leaves, found = pytree.tree_flatten(tree)
    if found != spec and any(isinstance(leaf, Proxy) for leaf in leaves):
        return list(_parts_of(tree, spec))
    if found != spec:
        raise ValueError(f"taeda.fx: the graph was traced for arguments nested as {spec}; got {found}")
    return leaves


def _parts_of(tree: Any, spec: pytree.TreeSpec) -> Iterator[Any]:
    """The leaves where ``spec`` has its own."""
    if spec.is_leaf():
        yield tree
        return
    keys = spec.context if spec.type is dict else range(spec.num_children)
    for key, child in zip(keys, spec.children()):
        yield from _parts_of(tree[key], child)
