"""Nested containers as a list of leaves and a description of the nesting.

A tree is a leaf, or a container of trees: list, tuple, dict, ``OrderedDict``, ``defaultdict``, ``deque``, a named
tuple, a function's named results, or a class that ``register_pytree_node`` told about. None is a leaf.
"""

from __future__ import annotations

import functools
import json
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Any

from taeda import Tensor

__all__ = [
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "PyTree",
    "SequenceKey",
    "TreeSpec",
    "broadcast_prefix",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "key_get",
    "keystr",
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
]

PyTree = Any
Context = Any
IsLeaf = Callable[[Any], bool] | None


# Where a leaf is: one key for each container on the way


@dataclass(frozen=True)
class SequenceKey:
    """The item ``idx`` of a list, tuple or deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """What is there."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """The key ``key`` of a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """What is there."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """The attribute ``name`` of an object."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """What is there."""
        return getattr(obj, self.name)


KeyEntry = SequenceKey | MappingKey | GetAttrKey
KeyPath = tuple[Any, ...]


def keystr(kp: KeyPath) -> str:
    """A path as one would write it: ``['a'][0].x``."""
    return "".join(str(key) for key in kp)


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What is at a path below ``obj``."""
    for key in kp:
        obj = key.get(obj)
    return obj


# Kinds of containers


@dataclass(frozen=True)
class NodeDef:
    """How one kind of container comes apart and together again."""

    flatten_fn: Callable[[Any], tuple[list[Any], Context]]
    unflatten_fn: Callable[[Iterable[Any], Context], Any]
    keys: Callable[[Context, int], list[Any]]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Context]] | None = None
    name: str | None = None  # in texts
    dump_context: Callable[[Context], Any] | None = None
    load_context: Callable[[Any], Context] | None = None


def _indices(context: Context, count: int) -> list[Any]:
    return [SequenceKey(i) for i in range(count)]


def _names(context: Context, count: int) -> list[Any]:
    return [GetAttrKey(name) for name in context._fields]


def _mapping_keys(context: Context, count: int) -> list[Any]:
    return [MappingKey(key) for key in context]


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[tuple[Any, Any]], Context]:
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _dict_unflatten(values: Iterable[Any], context: Context) -> dict[Any, Any]:
    return dict(zip(context, values, strict=True))


def _default_dict_unflatten(values: Iterable[Any], context: Context) -> defaultdict[Any, Any]:
    return defaultdict(context[0], zip(context[1], values, strict=True))


# By class; all classes of named tuples are found under ``namedtuple``.
SUPPORTED_NODES: dict[Any, NodeDef] = {
    list: NodeDef(lambda x: (list(x), None), lambda values, _: list(values), _indices),
    tuple: NodeDef(lambda x: (list(x), None), lambda values, _: tuple(values), _indices),
    dict: NodeDef(_dict_flatten, _dict_unflatten, _mapping_keys),
    OrderedDict: NodeDef(_dict_flatten, lambda *both: OrderedDict(_dict_unflatten(*both)), _mapping_keys),
    defaultdict: NodeDef(
        lambda d: (list(d.values()), [d.default_factory, list(d)]),
        _default_dict_unflatten,
        lambda context, count: _mapping_keys(context[1], count),
    ),
    deque: NodeDef(lambda d: (list(d), d.maxlen), lambda values, maxlen: deque(values, maxlen), _indices),
    namedtuple: NodeDef(lambda x: (list(x), type(x)), lambda values, kind: kind(*values), _names),
}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Context], Any] | None = None,
    from_dumpable_context: Callable[[Any], Context] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Context]] | None = None,
) -> None:
    """Treat instances of ``cls``, not of its subclasses, as containers.

    Args:
        cls: the class.
        flatten_fn: gives an instance's children and whatever else says what it is.
        unflatten_fn: makes an instance from both.
        serialized_type_name: the class's name in texts; its own with its module if it is not said.
        to_dumpable_context: makes what says what an instance is something that JSON has.
        from_dumpable_context: the reverse.
        flatten_with_keys_fn: gives the children with their keys; without it they are numbered.

    Raises:
        ValueError: the class is registered already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"taeda.utils._pytree.register_pytree_node: {cls} is registered already")
    SUPPORTED_NODES[cls] = NodeDef(
        flatten_fn, unflatten_fn, _indices, flatten_with_keys_fn, serialized_type_name, to_dumpable_context,
        from_dumpable_context,
    )  # fmt: skip


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Names a class of named tuples in texts of descriptions."""
    _NAMED_TUPLES[serialized_type_name] = cls


_NAMED_TUPLES: dict[str, type] = {}
_register_pytree_node = register_pytree_node


def is_namedtuple_class(cls: type) -> bool:
    """Whether ``cls`` is a class of named tuples."""
    fields = getattr(cls, "_fields", None)
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(fields, tuple)
        and all(isinstance(field, str) for field in fields)
    )


def is_namedtuple_instance(obj: object) -> bool:
    """Whether ``obj`` is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: object | type) -> bool:
    """Whether ``obj`` is a named tuple or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def _get_node_type(tree: PyTree) -> Any:
    """What `SUPPORTED_NODES` has the kind of ``tree`` under, if it is a container: its class, or ``namedtuple``."""
    kind = type(tree)
    if kind in SUPPORTED_NODES:
        return kind
    if kind.__module__ == "torch.return_types":  # made on first use, by the function that returns them
        SUPPORTED_NODES[kind] = NodeDef(lambda x: (list(x), None), lambda values, _: kind(values), _indices)
    return namedtuple if is_namedtuple_class(kind) else kind


_PLAIN = frozenset([Tensor, int, float, bool, str, complex, type(None)])  # most leaves are one of these


def _node(tree: PyTree) -> NodeDef | None:
    if type(tree) in _PLAIN:
        return None
    return SUPPORTED_NODES.get(_get_node_type(tree))


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``tree`` is no container, or ``is_leaf`` says that it shall not be taken apart."""
    return (is_leaf is not None and is_leaf(tree)) or _node(tree) is None


# Descriptions


class TreeSpec:
    """The nesting of a tree without its leaves: the container's type, what else says what it is, and its children.

    ``type`` is None for a leaf and ``namedtuple`` for a named tuple, whose class is the context.
    """

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_nodes: int = 1 + sum(child.num_nodes for child in children_specs)
        self.num_leaves: int = sum(child.num_leaves for child in children_specs) if type is not None else 1
        self.num_children = len(children_specs)

    def is_leaf(self) -> bool:
        """Whether it describes a leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The descriptions of the children."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """The description of one child."""
        return self.children_specs[index]

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The parts of ``tree`` that stand where this description has leaves.

        Raises:
            ValueError: ``tree`` is nested otherwise above them.
        """
        if self.is_leaf():
            return [tree]
        children = self._children_of(tree)
        pairs = zip(self.children_specs, children, strict=True)
        return [part for spec, child in pairs for part in spec.flatten_up_to(child)]

    def _children_of(self, tree: PyTree) -> list[PyTree]:
        dicts = (dict, OrderedDict, defaultdict)
        if self.type in dicts and type(tree) in dicts:  # the order of the keys may differ
            keys = self.context[1] if self.type is defaultdict else self.context
            if set(keys) != set(tree):
                raise ValueError(f"taeda.utils._pytree: the keys {list(tree)} do not match {list(keys)}")
            return [tree[key] for key in keys]
        node = _node(tree)
        if node is None or _get_node_type(tree) is not self.type:
            raise ValueError(f"taeda.utils._pytree: expected a {self.type.__name__}; got {tree!r}")
        children, context = node.flatten_fn(tree)
        if len(children) != self.num_children or context != self.context:
            raise ValueError(f"taeda.utils._pytree: {tree!r} is not nested as {self}")
        return children

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """A tree of this nesting with the given leaves.

        Raises:
            ValueError: the number of leaves is another.
        """
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(f"taeda.utils._pytree: {self} takes {self.num_leaves} leaves; got {len(leaves)}")
        return self._build(iter(leaves))

    def _build(self, leaves: Iterator[Any]) -> PyTree:
        if self.is_leaf():
            return next(leaves)
        return SUPPORTED_NODES[self.type].unflatten_fn(
            [child._build(leaves) for child in self.children_specs], self.context
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and self.type == other.type
            and self.context == other.context
            and self.children_specs == other.children_specs
        )

    def __hash__(self) -> int:
        return hash((self.type, repr(self.context), tuple(self.children_specs)))

    def __repr__(self, indent: int = 0) -> str:
        if self.is_leaf():
            return "*"
        inner = f",\n{' ' * (indent + 2)}".join(child.__repr__(indent + 2) for child in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inner}])"


class LeafSpec(TreeSpec):
    """The description of a leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, [])


_LEAF = LeafSpec()


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


def broadcast_prefix(prefix: PyTree, spec: TreeSpec) -> list[Any] | None:
    """The leaves of ``prefix``, each repeated for all the leaves of the part of ``spec`` that it stands for.

    None if ``prefix`` is nested otherwise.
    """
    if tree_is_leaf(prefix):
        return [prefix] * spec.num_leaves
    if spec.is_leaf():
        return None
    try:
        children = spec._children_of(prefix)
    except ValueError:
        return None
    parts = [broadcast_prefix(child, part) for child, part in zip(children, spec.children_specs, strict=True)]
    return None if None in parts else [leaf for part in parts if part is not None for leaf in part]


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


# Descriptions as texts, those of PyTorch

_PROTOCOL = 1
_WRITTEN = {cls: f"{cls.__module__}.{cls.__name__}" for cls in (list, tuple, dict, OrderedDict, defaultdict, deque)}
_FACTORIES = {cls.__name__: cls for cls in (list, dict, set, tuple, int, float, str, bool)}


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A description as a text.

    Args:
        treespec: the description.
        protocol: the format, of which there is one: 1.

    Raises:
        ValueError: there is no such format.
        TypeError: something in it is nothing that JSON has.
    """
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"taeda.utils._pytree.treespec_dumps: the protocol is {_PROTOCOL}; got {protocol}")
    return json.dumps([_PROTOCOL, _dumped(treespec)])


def _dumped(spec: TreeSpec) -> dict[str, Any]:
    name, context = None, None
    if not spec.is_leaf():
        name, context = _dumped_type(spec)
    return {"type": name, "context": context, "children_spec": [_dumped(child) for child in spec.children_specs]}


def _dumped_type(spec: TreeSpec) -> tuple[str, Any]:
    if spec.type is namedtuple:
        return "collections.namedtuple", name_of_namedtuple(spec.context)
    if spec.type is defaultdict:
        factory, keys = spec.context
        said = {"default_factory_module": factory.__module__, "default_factory_name": factory.__qualname__}
        return _WRITTEN[defaultdict], said | {"dict_context": keys}
    if spec.type in _WRITTEN:
        return _WRITTEN[spec.type], json.dumps(spec.context)
    node = SUPPORTED_NODES[spec.type]
    if node.name is None and is_namedtuple_class(spec.type):
        return "collections.namedtuple", name_of_namedtuple(spec.type)
    name = node.name or f"{spec.type.__module__}.{spec.type.__qualname__}"
    return name, json.dumps(spec.context) if node.dump_context is None else node.dump_context(spec.context)


def name_of_namedtuple(cls: type) -> str:
    """The name of a class of named tuples in texts."""
    known = next((name for name, other in _NAMED_TUPLES.items() if other is cls), None)
    return known or f"{cls.__module__}.{cls.__qualname__}"


def treespec_loads(serialized: str, fields: dict[str, Any] | None = None) -> TreeSpec:
    """The description of a text.

    Args:
        serialized: what `treespec_dumps` gave.
        fields: by the names of classes of named tuples that nobody registered, the names of their fields.

    Raises:
        ValueError: it is no such text.
        NotImplementedError: it names a class that this program has not registered.
    """
    protocol, described = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"taeda.utils._pytree.treespec_loads: the protocol is {_PROTOCOL}; got {protocol}")
    return _loaded(described, fields or {})


def _loaded(described: dict[str, Any], fields: dict[str, Any]) -> TreeSpec:
    name, context = described["type"], described["context"]
    if name is None:
        return LeafSpec()
    children = [_loaded(child, fields) for child in described["children_spec"]]
    if name == "collections.namedtuple":
        cls = _named_tuple(context, fields)
        _check_count(list(cls._fields), children)  # type: ignore[attr-defined]
        return TreeSpec(namedtuple, cls, children)
    if name == _WRITTEN[defaultdict]:
        factory = _FACTORIES.get(context["default_factory_name"])
        if factory is None:
            raise NotImplementedError(
                f"taeda.utils._pytree.treespec_loads: a defaultdict of {context['default_factory_name'][:100]}"
            )
        _check_count(context["dict_context"], children)
        return TreeSpec(defaultdict, [factory, context["dict_context"]], children)
    for builtin, known in _WRITTEN.items():
        if name == known:
            said = json.loads(context)
            if builtin in (dict, OrderedDict):
                _check_count(said, children)
            return TreeSpec(builtin, said, children)
    for cls, node in SUPPORTED_NODES.items():
        if name == (node.name or f"{cls.__module__}.{cls.__qualname__}"):
            load = node.load_context or json.loads
            return TreeSpec(cls, load(context), children)
    raise NotImplementedError(
        f"taeda.utils._pytree.treespec_loads: this program has not registered the class {name[:200]}; see "
        "taeda.export.register_dataclass"
    )


def _check_count(keys: Context, children: list[TreeSpec]) -> None:
    if not isinstance(keys, list) or len(keys) != len(children):
        raise ValueError(f"taeda.utils._pytree.treespec_loads: {len(children)} values have the keys {str(keys)[:100]}")


def _named_tuple(name: str, fields: dict[str, Any]) -> type:
    """The class that the program registered or has, or one of the library's, or a new one with the fields that were
    said."""
    module, _, own = name.rpartition(".")
    found: Any = _NAMED_TUPLES.get(name) or getattr(sys.modules.get(module), own, None)
    if is_namedtuple_class(found):
        return found  # type: ignore[no-any-return]
    said = fields.get(name)
    if said is None:
        raise NotImplementedError(
            f"taeda.utils._pytree.treespec_loads: this program has not registered the named tuple {name[:200]}"
        )
    from taeda import return_types

    names = list(said["field_names"])
    known = getattr(return_types, own, None)
    if known is not None and list(known._fields) == names:
        return known  # type: ignore[no-any-return]
    return namedtuple(own, names)  # type: ignore[misc]
