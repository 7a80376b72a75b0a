"""What counts as a container in a tree, how it is taken apart and put together, and the description of a tree."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from taeda import Tensor

PyTree = Any
Context = Any
IsLeaf = Callable[[Any], bool] | None


# Where a leaf is: one key for each container on the way


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The item ``idx`` of a list, tuple or deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """What is there."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The key ``key`` of a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """What is there."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
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


@dataclasses.dataclass(frozen=True)
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
        ValueError: the class is registered already, or its contexts could be written but not read, or the reverse.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"taeda.utils._pytree.register_pytree_node: {cls} is registered already")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            "taeda.utils._pytree.register_pytree_node: to_dumpable_context and from_dumpable_context go together; got "
            f"one of them for {cls}"
        )
    SUPPORTED_NODES[cls] = NodeDef(
        flatten_fn, unflatten_fn, _indices, flatten_with_keys_fn, serialized_type_name, to_dumpable_context,
        from_dumpable_context,
    )  # fmt: skip


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Names a class of named tuples in texts of descriptions."""
    _NAMED_TUPLES[serialized_type_name] = cls


_NAMED_TUPLES: dict[str, type] = {}


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
