"""Calls in one form: arguments by name, and functions in place of operators."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import taeda
from taeda.fx.experimental.schema_type_annotation import AnnotateTypesWithSchema
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Transformer
from taeda.fx.node import Node, map_aggregate
from taeda.fx.operator_schemas import create_type_hint, normalize_function, normalize_module

__all__ = ["NormalizeArgs", "NormalizeOperators"]


class NormalizeArgs(Transformer):
    """`transform` gives a module whose calls have their arguments as the signatures order them, defaults filled in.

    Args:
        module: the module.
        normalize_to_only_use_kwargs: all arguments by name.
    """

    def __init__(self, module: GraphModule, normalize_to_only_use_kwargs: bool = True) -> None:
        super().__init__(module)
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs
        self.node_map: dict[Any, Node] = {}

    def run_node(self, n: Node) -> Any:
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        if n.op != "call_function":
            return super().run_node(n)

        def kind(value: Any) -> Any:
            return value.meta.get("type") if isinstance(value, Node) else type(value)

        kinds = tuple(create_type_hint(map_aggregate(arg, kind)) for arg in n.args)
        by_name = {name: create_type_hint(map_aggregate(value, kind)) for name, value in n.kwargs.items()}
        known = None not in kinds and None not in by_name.values()
        out = self._call(n.target, args, kwargs, kinds if known else None, by_name if known else None)
        out.node.meta = dict(n.meta)
        self.node_map[out] = n
        return out

    def _call(self, target: Any, args: Any, kwargs: Any, kinds: Any, by_name: Any) -> Any:
        found = normalize_function(target, args, kwargs, kinds, by_name, self.normalize_to_only_use_kwargs)
        if found is None:
            return super().call_function(target, args, kwargs)
        return super().call_function(target, found.args, found.kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found = normalize_module(self.module, str(target), args, kwargs, self.normalize_to_only_use_kwargs)
        if found is None:
            return super().call_module(target, args, kwargs)
        return super().call_module(target, found.args, found.kwargs)


class NormalizeOperators(AnnotateTypesWithSchema):
    """`transform` gives a module with ``operator.add`` where it called ``torch.add`` of two values, and so on."""

    binary_magic_method_remap: ClassVar[dict[Any, Callable[..., Any]]] = {
        taeda.add: operator.add, taeda.mul: operator.mul, taeda.sub: operator.sub, taeda.div: operator.truediv,
        taeda.floor_divide: operator.floordiv, taeda.remainder: operator.mod, taeda.eq: operator.eq,
        taeda.ne: operator.ne, taeda.lt: operator.lt, taeda.le: operator.le, taeda.gt: operator.gt,
        taeda.ge: operator.ge,
    }  # fmt: skip

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) == 2 and not kwargs:
            target = self.binary_magic_method_remap.get(target, target)
        return super().call_function(target, args, kwargs)
