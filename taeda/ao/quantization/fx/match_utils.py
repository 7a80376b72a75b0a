"""Compares a graph with patterns: a class, function or method's name, or ``(it, *patterns of its arguments)``."""

from __future__ import annotations

import sys
from typing import Any

from taeda import fx, nn
from taeda.ao.quantization.fx.patterns import module_of
from taeda.ao.quantization.utils import MatchAllNode as MatchAllNode
from taeda.nn.utils.parametrize import type_before_parametrizations as class_of


def _is_match(modules: dict[str, nn.Module], node: Any, pattern: Any, max_uses: int = sys.maxsize) -> bool:
    """Whether a node, with what it is made of, is the pattern; other uses of its parts may be ``max_uses``."""
    own, arguments = (pattern[0], pattern[1:]) if isinstance(pattern, tuple) else (pattern, ())
    if own is MatchAllNode:
        return True
    if not isinstance(node, fx.Node) or node.op not in ("call_module", "call_function", "call_method"):
        return bool(node == own)
    if len(node.users) > max_uses or not _does(node, own, modules):
        return False
    if not arguments:
        return True
    return len(node.args) == len(arguments) and all(
        _is_match(modules, argument, part, max_uses=1) for argument, part in zip(node.args, arguments, strict=True)
    )


def _does(node: fx.Node, own: Any, modules: dict[str, nn.Module]) -> bool:
    if isinstance(own, type) and issubclass(own, nn.Module):
        return class_of(module_of(node, modules)) is own
    return node.op != "call_module" and node.target == own
