"""Chains of modules and functions in a traced graph."""

from __future__ import annotations

from typing import Any

from taeda import nn
from taeda.fx import Node
from taeda.nn.utils.parametrize import type_before_parametrizations

__all__ = ["MatchAllNode", "apply_match"]


class MatchAllNode:
    """In a pattern: any node."""


def _match(modules: dict[str, nn.Module], node: Node, current: Any) -> bool:
    """Whether a node is what one place of a pattern says: a class of modules, a function, a method, ``"output"``."""
    if isinstance(current, type) and issubclass(current, MatchAllNode):
        return True
    if not isinstance(node, Node):
        return False
    if isinstance(current, type) and issubclass(current, nn.Module):
        return node.op == "call_module" and type_before_parametrizations(modules[node.target]) is current
    if callable(current):
        return node.op == "call_function" and node.target is current
    return node.target == current


def apply_match(
    modules: dict[str, nn.Module], pattern: Any, node: Node, matched_node_pattern: list[Node]
) -> list[Node] | None:
    """The nodes from ``node`` on that follow the pattern, each the only reader of the one before but the output; else
    None.

    A place of the pattern is as `_match` has it; ``(function, second argument)`` also asks for that argument.
    """
    first, *rest = pattern if isinstance(pattern, tuple) else (pattern,)
    if isinstance(first, tuple):
        first, wanted = first
        if len(node.args) < 2 or node.args[1] != wanted:
            return None
    if not _match(modules, node, first):
        return None
    found = [*matched_node_pattern, node]
    if not rest:
        return found
    readers = [user for user in node.users if user.op != "output"] or list(node.users)
    if isinstance(rest[0], tuple):  # of several results, the one that is asked for
        readers = [r for r in readers if len(r.args) > 1 and r.args[1] == rest[0][1]]
    return apply_match(modules, tuple(rest), readers[0], found) if len(readers) == 1 else None
