"""Which nodes of a graph a back end can run."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import taeda
from taeda import nn
from taeda.fx.node import Node
from taeda.fx.passes.shape_prop import TensorMetadata
from taeda.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target

__all__ = ["OpSupports", "OperatorSupport", "OperatorSupportBase", "any_chain", "chain", "create_op_support"]

Modules = Mapping[str, nn.Module]
# By target: which dtypes each positional argument may have, and each keyword argument; None: all.
SupportDict = Mapping[str, tuple[Sequence[Sequence[taeda.dtype]], dict[str, Sequence[taeda.dtype]]] | None]
IsNodeSupported = Callable[[Modules, Node], bool]


class OperatorSupportBase(abc.ABC):
    """Says of a node whether it is supported."""

    @abc.abstractmethod
    def is_node_supported(self, submodules: Modules, node: Node) -> bool:
        """Whether ``node`` is, in a graph module with these submodules."""


class OperatorSupport(OperatorSupportBase):
    """Supports the targets of a dict, where arguments have the dtypes that it names (see ``meta["tensor_meta"]``)."""

    _support_dict: SupportDict

    def __init__(self, support_dict: SupportDict | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Modules, node: Node) -> bool:
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        dtypes = self._support_dict[target]
        if dtypes is None:
            return True
        by_place, by_name = dtypes
        pairs = [*zip(node.args, by_place), *((node.kwargs[k], v) for k, v in by_name.items() if k in node.kwargs)]
        return all(not isinstance(arg, Node) or _dtype_of(arg) in allowed for arg, allowed in pairs)


def _dtype_of(node: Node) -> taeda.dtype | None:
    meta = node.meta.get("tensor_meta")
    return meta.dtype if isinstance(meta, TensorMetadata) else node.meta.get("type")


class _Function(OperatorSupportBase):
    def __init__(self, function: IsNodeSupported) -> None:
        self._function = function

    def is_node_supported(self, submodules: Modules, node: Node) -> bool:
        return self._function(submodules, node)


def create_op_support(is_node_supported: IsNodeSupported) -> OperatorSupportBase:
    """The support that a function decides on."""
    return _Function(is_node_supported)


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Supports what all of them do."""
    return create_op_support(lambda modules, node: all(s.is_node_supported(modules, node) for s in op_support))


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Supports what one of them does."""
    return create_op_support(lambda modules, node: any(s.is_node_supported(modules, node) for s in op_support))


class OpSupports:
    """Supports that decline certain nodes."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: taeda.dtype) -> OperatorSupportBase:
        """Declines nodes with an input of this dtype."""

        def supported(modules: Modules, node: Node) -> bool:
            return all(_known_dtype(arg) is not dtype for arg in node.all_input_nodes)

        return create_op_support(supported)

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """Declines nodes with these names."""
        return create_op_support(lambda modules, node: node.name not in disallow_set)


def _known_dtype(node: Node) -> Any:
    meta = node.meta.get("tensor_meta")
    if meta is None:
        raise RuntimeError(f"taeda.fx.passes: {node} has no tensor_meta; run ShapeProp first")
    return getattr(meta, "dtype", None)
