"""What code generated for nested arguments calls."""

from __future__ import annotations

from typing import Any

from taeda.utils import _pytree as pytree


def tree_flatten_spec(tree: Any, spec: pytree.TreeSpec) -> list[Any]:
    """The leaves of ``tree``; ValueError unless it is nested as ``spec`` says."""
    leaves, found = pytree.tree_flatten(tree)
    if found != spec:
        raise ValueError(f"taeda.fx: the graph was traced for arguments nested as {spec}; got {found}")
    return leaves
