"""Nested containers as a list of leaves and a description of the nesting.

A tree is a leaf, or a container of trees: list, tuple, dict, ``OrderedDict``, ``defaultdict``, ``deque``, a named
tuple, a function's named results, or a class that ``register_pytree_node`` told about. None is a leaf.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from types import UnionType
from typing import Any

from taeda.utils._pytree_classes import _deregister_pytree_node as _deregister_pytree_node
from taeda.utils._pytree_classes import _private_register_pytree_node as _private_register_pytree_node
from taeda.utils._pytree_classes import _register_pytree_node as _register_pytree_node
from taeda.utils._pytree_classes import is_constant_class, register_constant, register_dataclass
from taeda.utils._pytree_nodes import (
    _LEAF,
    GetAttrKey,
    IsLeaf,
    KeyPath,
    LeafSpec,
    MappingKey,
    PyTree,
    SequenceKey,
    TreeSpec,
    _get_node_type,
    _node,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    key_get,
    keystr,
    register_pytree_node,
    tree_is_leaf,
)  # fmt: skip
from taeda.utils._pytree_nodes import SUPPORTED_NODES as SUPPORTED_NODES
from taeda.utils._pytree_nodes import Context as Context
from taeda.utils._pytree_nodes import KeyEntry as KeyEntry
from taeda.utils._pytree_nodes import NodeDef as NodeDef
from taeda.utils._pytree_nodes import _dict_flatten as _dict_flatten
from taeda.utils._pytree_nodes import _dict_flatten_with_keys as _dict_flatten_with_keys
from taeda.utils._pytree_nodes import _dict_unflatten as _dict_unflatten
from taeda.utils._pytree_nodes import _register_namedtuple as _register_namedtuple
from taeda.utils._pytree_texts import treespec_dumps, treespec_loads

__all__ = [
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "PyTree",
    "SequenceKey",
    "TreeSpec",
    "broadcast_prefix",
    "is_constant_class",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "key_get",
    "keystr",
    "register_constant",
    "register_dataclass",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
]

# Taking apart and putting together


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves, from left to right, and the description of the nesting."""
    leaves: list[Any] = []
    return leaves, _collect(tree, leaves, is_leaf)


def _collect(tree: PyTree, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else _node(tree)
    if node is None:
        leaves.append(tree)
        return _LEAF
    children, context = node.flatten_fn(tree)
    return TreeSpec(_get_node_type(tree), context, [_collect(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree that ``tree_flatten`` took apart, with other leaves.

    Raises:
        TypeError: ``treespec`` is no description.
        ValueError: the number of leaves is another.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"taeda.utils._pytree.tree_unflatten: expected a TreeSpec; got {treespec!r}")
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves one after another."""
    node = None if is_leaf is not None and is_leaf(tree) else _node(tree)
    if node is None:
        yield tree
    else:
        for child in node.flatten_fn(tree)[0]:
            yield from tree_iter(child, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves, from left to right."""
    return list(tree_iter(tree, is_leaf))


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of a call's arguments."""
    return [leaf for value in (*args, *kwargs.values()) for leaf in tree_iter(value)]


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The description of the nesting."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """A tree of the same nesting whose leaves are ``func`` of the leaves of ``tree`` and of ``rests`` there.

    Raises:
        ValueError: one of ``rests`` is nested otherwise.
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests)))


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Calls ``func`` as ``tree_map`` does, for its effects; returns ``tree``."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _predicate(kind: Any) -> Callable[[Any], bool]:
    if isinstance(kind, type | tuple | UnionType):
        return lambda x: isinstance(x, kind)
    if callable(kind):
        return kind
    raise TypeError(f"taeda.utils._pytree: expected a type, a tuple or union of types, or a predicate; got {kind!r}")


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[..., Any]], Callable[[Any], Any]]:
    """Decorates a function so that it leaves values of other types, or that the predicate denies, as they are."""
    matches = _predicate(type_or_types_or_pred)

    def decorate(func: Callable[..., Any]) -> Callable[[Any], Any]:
        @functools.wraps(func)
        def chosen(x: Any) -> Any:
            return func(x) if matches(x) else x

        return chosen

    return decorate


def tree_map_only(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """``tree_map`` of the leaves of some types, or that a predicate chooses; the others stay."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """``tree_map_`` of the leaves of some types, or that a predicate chooses."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` holds for all leaves of some types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` holds for some leaf of some types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def broadcast_prefix(prefix: PyTree, spec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    """The leaves of ``prefix``, each repeated for all the leaves of the part of ``spec`` that it stands for.

    None if ``prefix`` is nested otherwise.
    """
    if tree_is_leaf(prefix, is_leaf):
        return [prefix] * spec.num_leaves
    if spec.is_leaf():
        return None
    try:
        children = spec._children_of(prefix)
    except ValueError:
        return None
    parts = [broadcast_prefix(child, part, is_leaf) for child, part in zip(children, spec.children_specs, strict=True)]
    return None if None in parts else [leaf for part in parts if part is not None for leaf in part]


_broadcast_to_and_flatten = broadcast_prefix


# With paths


def _paths(tree: PyTree, path: KeyPath, is_leaf: IsLeaf) -> Iterator[tuple[KeyPath, Any]]:
    node = None if is_leaf is not None and is_leaf(tree) else _node(tree)
    if node is None:
        yield path, tree
        return
    if node.flatten_with_keys_fn is not None:
        pairs = node.flatten_with_keys_fn(tree)[0]
    else:
        children, context = node.flatten_fn(tree)
        pairs = list(zip(node.keys(context, len(children)), children, strict=True))
    for key, child in pairs:
        yield from _paths(child, (*path, key), is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves, each with its path."""
    return list(_paths(tree, (), is_leaf))


def tree_flatten_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """As ``tree_flatten``, each leaf with its path."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """As ``tree_map``; ``func`` takes the path before the leaves."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    others = (spec.flatten_up_to(rest) for rest in rests)
    return spec.unflatten(map(func, *zip(*pairs, strict=True), *others) if pairs else [])


def treespec_pprint(treespec: TreeSpec) -> str:
    """The tree with ``*`` for each leaf, as ``repr`` gives it."""
    return repr(tree_unflatten([_Star()] * treespec.num_leaves, treespec))


class _Star:
    def __repr__(self) -> str:
        return "*"
