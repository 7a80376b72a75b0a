"""`Node`: one step of a graph."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import taeda
from taeda.fx._naming import qualified_name
from taeda.fx.immutable_collections import immutable_dict, immutable_list

if TYPE_CHECKING:
    from taeda.fx.graph import Graph

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

# A callable (call_function) or a name (everything else).
Target: TypeAlias = Callable[..., Any] | str
# A Node, a constant, or a tuple, list, dict or slice of such.
Argument: TypeAlias = Any
_F = TypeVar("_F", bound=Callable[..., Any])

OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")
_CONTAINERS = (tuple, list, dict, slice)
_impure_functions: set[Callable[..., Any]] = set()


def has_side_effect(fn: _F) -> _F:
    """Marks a function whose calls `Graph.eliminate_dead_code` must keep even if nobody uses the result."""
    _impure_functions.add(fn)
    return fn


def map_aggregate(a: Argument, fn: Callable[[Any], Any]) -> Any:
    """``a`` with ``fn`` applied to every leaf; lists and dicts become immutable ones."""
    if not isinstance(a, _CONTAINERS):
        return fn(a)
    if isinstance(a, tuple):
        items = [map_aggregate(item, fn) if isinstance(item, _CONTAINERS) else fn(item) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(item, fn) for item in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))


def map_arg(a: Argument, fn: Callable[[Node], Argument]) -> Argument:
    """``a`` with ``fn`` applied to every Node in it; TypeError if ``fn`` cannot be called."""
    if not callable(fn):
        raise TypeError(f"taeda.fx.map_arg: fn must be callable; got {type(fn).__name__}")
    return map_aggregate(a, lambda leaf: fn(leaf) if isinstance(leaf, Node) else leaf)


def nodes_in(*arguments: Argument) -> list[Node]:
    """The nodes among the arguments, each once, in order."""
    found: dict[Node, None] = {}
    _collect(arguments, found)
    return list(found)


def _collect(a: Any, found: dict[Node, None]) -> None:
    if isinstance(a, Node):
        found[a] = None
    elif isinstance(a, (tuple, list)):
        for item in a:
            if isinstance(item, Node):
                found[item] = None
            elif isinstance(item, _CONTAINERS):
                _collect(item, found)
    elif isinstance(a, dict):
        _collect(tuple(a.values()), found)
    elif isinstance(a, slice):
        _collect((a.start, a.stop, a.step), found)


class Node:
    """One step of a `Graph`: a call, an input, an attribute or the result. Graphs make them.

    Attributes:
        op: 'placeholder', 'get_attr', 'call_function', 'call_method', 'call_module' or 'output'.
        target: the function of a call_function; else the name of the argument, attribute, method or module.
        args, kwargs: what the call gets; nodes among them stand for their results. Assign to change them.
        users: the nodes that take this one's result, as the keys of a dict.
        meta: a dict for whoever works on the graph.
        type: the annotation of the result, or None.

    Raises:
        AssertionError: there is no such ``op``.
        ValueError: ``target`` is not callable though ``op`` is 'call_function', or no str though it is another.
    """

    def __init__(
        self, graph: Graph, name: str, op: str, target: Target, args: tuple[Argument, ...],
        kwargs: dict[str, Argument], return_type: Any = None,
    ) -> None:  # fmt: skip
        if op not in OPS and op != "root":
            raise AssertionError(f"taeda.fx.Node: op must be one of {', '.join(OPS)}; got {op!r}")
        if not (callable(target) if op == "call_function" else isinstance(target, str)):
            wanted = "callable" if op == "call_function" else "a str"
            raise ValueError(f"taeda.fx.Node: the target of a {op} must be {wanted}; got {type(target).__name__}")
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._prev = self._next = self
        self._erased = False
        self._args: tuple[Argument, ...] = ()
        self._kwargs: dict[str, Argument] = {}
        self._set(args, kwargs)

    # Arguments

    def _set(self, args: Any, kwargs: Any) -> None:
        if self._args or self._kwargs:
            for node in nodes_in(self._args, self._kwargs):
                node.users.pop(self, None)
        given = tuple(args)
        nested = any(isinstance(item, _CONTAINERS) for item in given)
        self._args = map_aggregate(given, lambda leaf: leaf) if nested else given
        self._kwargs = map_aggregate(dict(kwargs), lambda leaf: leaf) if kwargs else immutable_dict()
        for node in nodes_in(given, self._kwargs) if given or kwargs else ():
            node.users.setdefault(self)

    @property
    def args(self) -> tuple[Argument, ...]:
        """The positional arguments."""
        return self._args

    @args.setter
    def args(self, value: tuple[Argument, ...]) -> None:
        self._set(value, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The keyword arguments."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, value: dict[str, Argument]) -> None:
        self._set(self._args, value)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replaces one positional argument."""
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Puts a positional argument before the one at ``idx``; IndexError unless ``0 <= idx <= len(args)``."""
        if not 0 <= idx <= len(self._args):
            raise IndexError(f"Node.insert_arg: idx must be from 0 to {len(self._args)}; got {idx}")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Replaces or adds one keyword argument."""
        self.kwargs = {**self._kwargs, key: arg}

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return nodes_in(self._args, self._kwargs)

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Takes ``new_input`` wherever ``old_input`` stood among the arguments."""
        for hook in getattr(self.graph._owning_module, "_replace_hooks", ()):
            hook(old_input, new_input.name, self)
        swapped = map_arg((self._args, self._kwargs), lambda node: new_input if node is old_input else node)
        self._set(*swapped)

    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] | None = None, *, propagate_meta: bool = False
    ) -> list[Node]:
        """Makes the users of this node users of another.

        Args:
            replace_with: the other node.
            delete_user_cb: which users to change; all by default.
            propagate_meta: copy ``meta`` to the other node, which must have none yet.

        Returns:
            The users that were changed.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(f"Node.replace_all_uses_with: {replace_with} has meta of its own")
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # The position in the graph

    @property
    def next(self) -> Node:
        """The node after this one."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Moves ``x``, a node of the same graph, to before this one."""
        if x.graph is not self.graph:
            raise AssertionError(f"Node.prepend: {x} belongs to another graph; Graph.node_copy brings nodes over")
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x

    def append(self, x: Node) -> None:
        """Moves ``x``, a node of the same graph, to after this one."""
        if x is not self and x is not self._next:
            self._next.prepend(x)

    def __lt__(self, other: Node) -> bool:
        """Whether this one comes first in the graph."""
        after = self._next
        while after is not other and after.op != "root":
            after = after._next
        return after is other

    def __gt__(self, other: Node) -> bool:
        return other < self

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or other < self

    def _unlink(self) -> None:
        # Its own links stay, so that a loop that stands here finds the way on.
        self._prev._next, self._next._prev = self._next, self._prev

    # What it does

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the call may do more than compute its result, so that it must stay even without users."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return _is_impure_function(self.target, impure_random) or self._calls_impure_graph(impure_random)
        if self.op == "call_method":
            name = str(self.target)
            return (name.endswith("_") and not name.endswith("__")) or name == "__setitem__"
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError(
                    f"Node.is_impure: the graph of {self} belongs to no module to ask about {self.target}"
                )
            return bool(getattr(owner.get_submodule(str(self.target)), "_is_impure", False))
        return False

    def _calls_impure_graph(self, impure_random: bool) -> bool:
        """Whether this is an op of graphs one of which does more than compute its result."""
        owner = self.graph.owning_module
        if getattr(self.target, "namespace", "") != "higher_order" or owner is None:
            return False
        named = [str(source.target) for source in self.all_input_nodes if source.op == "get_attr"]
        graphs = [getattr(owner.get_submodule(name), "graph", None) for name in named if name in owner._modules]
        return any(
            node.is_impure(impure_random) for graph in graphs if graph is not None for node in graph.nodes
            if node.op not in ("placeholder", "output")
        )  # fmt: skip

    def normalized_arguments(
        self, root: Any, arg_types: Any = None, kwarg_types: Any = None, normalize_to_only_use_kwargs: bool = False
    ) -> Any:
        """The arguments as ``normalize_function`` and ``normalize_module`` of `operator_schemas` give them: ordered by
        the target's signature, defaults filled in. None where the target does not tell its signature."""
        from taeda.fx.operator_schemas import normalize_function, normalize_module

        if self.op == "call_module":
            return normalize_module(root, str(self.target), self.args, self.kwargs, normalize_to_only_use_kwargs)
        if self.op == "call_function":
            target: Any = self.target
            types = arg_types, kwarg_types
            return normalize_function(target, self.args, self.kwargs, *types, normalize_to_only_use_kwargs)
        return None

    # Text

    @property
    def stack_trace(self) -> str | None:
        """Where the program made this call, if the tracer recorded it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def __repr__(self) -> str:
        return self.name

    def _rename(self, candidate: str) -> None:
        """Gives the node the name ``candidate``, numbered if it is taken."""
        if candidate == self.name:
            return
        self.graph._names.forget(self.name)
        self.name = self.graph._names.create_name(candidate, None)

    @staticmethod
    def _pretty_print_target(target: Target) -> str:
        return target if isinstance(target, str) else qualified_name(target)

    def format_node(
        self, placeholder_names: list[str] | None = None, maybe_return_typename: list[str] | None = None,
        *, include_tensor_metadata: bool = False,
    ) -> str | None:  # fmt: skip
        """One line about this node, as in the text of the graph.

        Args:
            placeholder_names: if given, a placeholder is added to it instead, and the result is None.
            maybe_return_typename: its first item becomes the annotation of an output.
            include_tensor_metadata: add the dtype and shape in ``meta["tensor_meta"]``.
        """
        kind = f" : {type_name(self.type)}" if self.type is not None else ""
        meta = self.meta.get("tensor_meta") if include_tensor_metadata else None
        if meta is not None and hasattr(meta, "shape"):
            kind += f" : {meta.dtype}{list(meta.shape)}"
        head = f"%{self.name}{kind or ' :'} [num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            if placeholder_names is not None:
                placeholder_names.append(f"{self.target}{kind}")
                return None
            default = f"(default={_text(self.args[0])})" if self.args else ""
            return f"{head}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}[target={self.target}]"
        if self.op == "output":
            if self.type is not None and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_name(self.type)}"
            return f"return {self.args[0]}"
        return (
            f"{head}[target={self._pretty_print_target(self.target)}]"
            f"(args = {_text(self.args)}, kwargs = {_text(self.kwargs)})"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        copy.deepcopy(self.graph, memo)  # nodes are copied with their graphs
        twin: Node = memo[id(self)]
        return twin


_impure_functions.update((operator.setitem, taeda._assert, taeda._C._set_grad_enabled))  # type: ignore[attr-defined]
_RANDOM = frozenset([
    "bernoulli", "multinomial", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "randperm",
])  # fmt: skip
_EFFECTS = frozenset([
    "_record_function_enter", "_record_function_enter_new", "_record_function_exit",
])  # fmt: skip


def _is_impure_function(function: Any, impure_random: bool) -> bool:
    if function in _impure_functions:
        return True
    if not str(getattr(function, "__module__", "")).startswith(("taeda", "torch")):
        return False
    schema = getattr(function, "_schema", None)
    if schema is not None and schema.is_mutable:
        return True
    name = str(getattr(function, "_opname", None) or getattr(function, "__name__", ""))
    if name in _EFFECTS:
        return True
    return (name.endswith("_") and not name.endswith("__")) or (impure_random and name in _RANDOM)


def _text(a: Argument) -> str:
    """Arguments with a % before nodes and strings as they are."""
    if isinstance(a, Node):
        return f"%{a.name}"
    if isinstance(a, tuple) and hasattr(a, "_fields"):
        return f"{type(a).__name__}({', '.join(f'{k}={_text(v)}' for k, v in zip(a._fields, a, strict=True))})"
    if isinstance(a, tuple):
        return f"({_text(a[0])},)" if len(a) == 1 else f"({', '.join(map(_text, a))})"
    if isinstance(a, list):
        return f"[{', '.join(map(_text, a))}]"
    if isinstance(a, dict):
        return f"{{{', '.join(f'{key}: {_text(value)}' for key, value in a.items())}}}"
    return str(a)


def type_name(annotation: Any) -> str:
    """An annotation as code writes it."""
    if isinstance(annotation, type) and not getattr(annotation, "__origin__", None):
        if annotation.__module__ == "builtins":
            return annotation.__qualname__
        return qualified_name(annotation)
    return annotation if isinstance(annotation, str) else "..." if annotation is ... else repr(annotation)


def _format_arg(arg: Argument, max_list_len: float = math.inf) -> str:
    """An argument as the text of a graph has it, of a list no more than so many items."""
    if isinstance(arg, (list, tuple)) and len(arg) > max_list_len:
        left, right = "[]" if isinstance(arg, list) else "()"
        return f"{left}{', '.join(map(_text, arg[: int(max_list_len)]))}, ...[total_len={len(arg)}]{right}"
    return _text(arg)


# The names by which tools that rewrite graphs know these.
_type_repr, _get_qualified_name = type_name, qualified_name


class NodeList:
    """The nodes of a graph in order. Nodes may be erased, moved and inserted during a loop."""

    def __init__(self, root: Node, graph: Graph, direction: str = "_next") -> None:
        self._root = root
        self._graph = graph
        self._direction = direction

    def __iter__(self) -> Iterator[Node]:
        root, direction = self._root, self._direction
        node = getattr(root, direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, direction)

    def __reversed__(self) -> NodeList:
        return NodeList(self._root, self._graph, "_prev" if self._direction == "_next" else "_next")

    def __len__(self) -> int:
        return self._graph._count
