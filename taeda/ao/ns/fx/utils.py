"""How near one tensor is to another: what the numeric suite compares with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, fx, nn


def _of_pairs(measure: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Any, Any], Any]:
    """``measure`` of tensors in float, quantised ones dequantised; of tuples and lists, a list of that of each pair."""

    def of(x: Any, y: Any) -> Any:
        if isinstance(x, (tuple, list)):
            return [of(one, other) for one, other in zip(x, y, strict=True)]
        x, y = (t.dequantize() if t.is_quantized else t.float() for t in (x, y))
        return measure(x, y)

    of.__name__, of.__qualname__, of.__doc__ = measure.__name__, measure.__qualname__, measure.__doc__
    return of


@_of_pairs
def compute_sqnr(x: Tensor, y: Tensor) -> Tensor:
    """The ratio of signal to noise, in decibels: how near ``y`` is to ``x``."""
    return 20 * taeda.log10(taeda.linalg.vector_norm(x) / taeda.linalg.vector_norm(x - y))


@_of_pairs
def compute_normalized_l2_error(x: Tensor, y: Tensor) -> Tensor:
    """The length of the difference, in that of ``x``."""
    return taeda.sqrt(((x - y) ** 2).sum() / (x**2).sum())


@_of_pairs
def compute_cosine_similarity(x: Tensor, y: Tensor) -> Tensor:
    """The cosine of the angle between both, flattened."""
    return taeda.nn.functional.cosine_similarity(x.reshape(1, -1), y.reshape(1, -1))


def type_of(node: fx.Node, model: nn.Module) -> str:
    """What a node calls, as text: the class of a module, a function, or the name of a method."""
    kind: Any = type(model.get_submodule(str(node.target))) if node.op == "call_module" else node.target
    if isinstance(kind, str):
        return kind
    name = getattr(kind, "__qualname__", None) or getattr(kind, "__name__", str(kind))
    return f"{getattr(kind, '__module__', '')}.{name}"


def fqn_of(node: fx.Node, model: fx.GraphModule) -> str:
    """The path of the module that a node calls, or was made in; empty where that is not known."""
    if node.op == "call_module":
        return str(node.target)
    scope: tuple[str, Any] = model.meta.get("quantization_scopes", {}).get(node.name, ("", None))
    return scope[0]
