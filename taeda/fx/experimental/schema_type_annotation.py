"""Types of nodes from the signatures of what they call."""

from __future__ import annotations

import inspect
from typing import Any

from taeda import Tensor
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Transformer
from taeda.fx.operator_schemas import get_signature_for_torch_op

__all__ = ["AnnotateTypesWithSchema"]


class AnnotateTypesWithSchema(Transformer):
    """`transform` gives a module whose nodes have the types that ops, modules and attributes say.

    Args:
        module: the module.
        annotate_functionals, annotate_modules, annotate_get_attrs: which nodes get a type.
    """

    def __init__(
        self, module: GraphModule, annotate_functionals: bool = True, annotate_modules: bool = True,
        annotate_get_attrs: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(module)
        self.annotate_functionals, self.annotate_modules = annotate_functionals, annotate_modules
        self.annotate_get_attrs = annotate_get_attrs

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        kind = self._returned(target) if self.annotate_functionals else None
        return self._typed(super().call_function(target, args, kwargs), kind)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        module = self.fetch_attr(str(target))
        kind = self._extract_python_return_type(module.forward) if self.annotate_modules else None
        return self._typed(super().call_module(target, args, kwargs), kind)

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value = self.fetch_attr(str(target))
        kind = (Tensor if isinstance(value, Tensor) else type(value)) if self.annotate_get_attrs else None
        return self._typed(super().get_attr(target, args, kwargs), kind)

    @staticmethod
    def _typed(proxy: Any, kind: Any) -> Any:
        if proxy.node.type is None:
            proxy.node.type = kind
        return proxy

    def _returned(self, target: Any) -> Any:
        """What a function gives; None where it is not known, or differs between overloads."""
        if target.__module__ == "taeda.nn.functional" or inspect.isfunction(target):
            return self._extract_python_return_type(target)
        kinds = [s.return_annotation for s in get_signature_for_torch_op(target) or []]
        return kinds[0] if kinds and all(kind == kinds[0] for kind in kinds) else None

    @staticmethod
    def _extract_python_return_type(target: Any) -> Any:
        try:
            kind = inspect.signature(target, eval_str=True).return_annotation
        except (NameError, TypeError, ValueError):
            return None
        return kind if kind is not inspect.Signature.empty and kind is not Any else None
