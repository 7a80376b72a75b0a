"""What nodes inherit while a graph is recorded: notes of the program, and of the node that is being run again."""

from __future__ import annotations

import copy
import functools
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from taeda.fx.node import Node

__all__ = [
    "NodeSource",
    "NodeSourceAction",
    "annotate",
    "annotate_fn",
    "format_stack",
    "get_current_meta",
    "get_current_replay_node",
    "get_graph_provenance_json",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "reset_grad_fn_seq_nr",
    "set_current_meta",
    "set_current_replay_node",
    "set_grad_fn_seq_nr",
    "set_stack_trace",
]


class _Notes(threading.local):
    """What a thread's recording has noted."""

    def __init__(self) -> None:
        self.current: dict[str, Any] = {}
        self.preserves = False
        self.replayed: Node | None = None


_notes = _Notes()


class NodeSourceAction(Enum):
    """What a pass did to make a node."""

    CREATE = "create"
    REPLACE = "replace"


class NodeSource:
    """Where a node comes from: a node of an earlier graph, and the pass that made the one of the other."""

    def __init__(self, node: Node | None, pass_name: str = "", action: Any = None) -> None:
        self.pass_name = pass_name
        self.action = [] if action is None else action if isinstance(action, list) else [action]
        self.from_node = copy.deepcopy(node.meta.get("from_node", [])) if node is not None else []
        self.name = node.name if node is not None else ""
        self.target = str(node.target) if node is not None else ""
        self.graph_id = id(node.graph) if node is not None else -1

    def print_readable(self, indent: int = 0) -> str:
        """The way here, one line for each step."""
        action = "+".join(a.value for a in self.action)
        said = f"name={self.name}, pass_name={self.pass_name}, action={action}, graph_id={self.graph_id}"
        return f"{' ' * indent}({said})\n" + "".join(s.print_readable(indent + 4) for s in self.from_node)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "name": self.name, "target": self.target, "graph_id": self.graph_id, "pass_name": self.pass_name,
            "action": "+".join(a.value for a in self.action), "from_node": [s.to_dict() for s in self.from_node],
        }  # fmt: skip

    @classmethod
    def _from_dict(cls, said: dict[str, Any] | None) -> NodeSource | None:
        """What `to_dict` gave, again; None for None."""
        if said is None:
            return None
        made = cls(None, said["pass_name"], [NodeSourceAction(a) for a in said["action"].split("+") if a])
        made.name, made.target, made.graph_id = said["name"], said["target"], said["graph_id"]
        made.from_node = [cls._from_dict(one) for one in said["from_node"]]
        return made

    def __repr__(self) -> str:
        return self.print_readable()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeSource) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.name, self.target, self.graph_id, self.pass_name))


@contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """Within, new nodes get what is noted: by `annotate`, `set_stack_trace` and the node that is run again."""
    before = _notes.preserves, _notes.current
    _notes.preserves, _notes.current = enable, dict(_notes.current)
    try:
        yield
    finally:
        _notes.preserves, _notes.current = before


def has_preserved_node_meta() -> bool:
    """Whether new nodes get what is noted."""
    return _notes.preserves


def get_current_meta() -> dict[str, Any]:
    """What is noted now."""
    return _notes.current


@contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """Within, nodes that are recorded have the items of a dict in ``meta["custom"]``. Where nothing is recorded it
    changes nothing."""
    before = _notes.current
    _notes.current = {**_notes.current, "custom": {**_notes.current.get("custom", {}), **annotation_dict}}
    try:
        yield
    finally:
        _notes.current = before


def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: calls are within `annotate`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return function(*args, **kwargs)

        return call

    return decorate


@contextmanager
def set_current_meta(node: Node, pass_name: str = "") -> Iterator[None]:
    """Within, while nodes inherit, they do from this node, which they name as their source."""
    if not _notes.preserves or not node.meta:
        yield
        return
    before = _notes.current
    _notes.current = {**node.meta, "from_node": [NodeSource(node, pass_name, NodeSourceAction.CREATE)]}
    try:
        yield
    finally:
        _notes.current = before


@contextmanager
def set_current_replay_node(node: Node | None) -> Iterator[None]:
    """Within, this node is the one that is run again."""
    before, _notes.replayed = _notes.replayed, node
    try:
        yield
    finally:
        _notes.replayed = before


def get_current_replay_node() -> Node | None:
    """The node that is run again, if any is."""
    return _notes.replayed


def set_stack_trace(stack: list[str]) -> None:
    """Notes the place of the program, while nodes inherit."""
    if _notes.preserves and stack:
        _notes.current["stack_trace"] = "".join(stack)


def set_grad_fn_seq_nr(seq_nr: int) -> None:
    """Notes the number of the backward node that runs."""
    if _notes.preserves:
        _notes.current["grad_fn_seq_nr"] = [*_notes.current.get("grad_fn_seq_nr", []), seq_nr]
        _notes.current["in_grad_fn"] = _notes.current.get("in_grad_fn", 0) + 1


def reset_grad_fn_seq_nr() -> None:
    """The backward node that was noted last is through."""
    if _notes.preserves and _notes.current.get("in_grad_fn", 0) > 0:
        _notes.current["in_grad_fn"] -= 1
        _notes.current["grad_fn_seq_nr"] = _notes.current["grad_fn_seq_nr"][:-1]


def format_stack() -> list[str]:
    """The noted place of the program while nodes inherit, else where this is called."""
    if _notes.preserves:
        return [_notes.current.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


def get_graph_provenance_json(graph: Any) -> dict[str, Any]:
    """By the name of each node that calls something, where it comes from, as plain data."""
    return {
        node.name: [source.to_dict() for source in node.meta.get("from_node", [])]
        for node in graph.nodes
        if node.op == "call_function"
    }


def inherited() -> dict[str, Any]:
    """What a new node gets in ``meta``."""
    if not _notes.preserves:
        return {"custom": dict(_notes.current["custom"])} if "custom" in _notes.current else {}
    kept = ("stack_trace", "nn_module_stack", "source_fn_stack", "from_node", "custom", "grad_fn_seq_nr", "torch_fn")
    return {key: copy.copy(value) for key, value in _notes.current.items() if key in kept and value}
