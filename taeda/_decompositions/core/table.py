"""The table of bodies, and what they share."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._decompositions.bodies import formula_of
from taeda._schema.symbols import _Symbol

_FAMILIES = ("attention", "create", "layers", "losses", "pointwise", "products", "recurrent", "reductions", "shapes")
_named: dict[str, Callable[..., Any]] = {}
aten: Any = taeda.ops.aten


def body_of(*names: str) -> Callable[[Any], Any]:
    """Makes a function what ops are made of. It may return NotImplemented: with such arguments the op stays."""

    def keep(function: Any) -> Any:
        _named.update(dict.fromkeys(names, function))
        return function

    return keep


@functools.cache
def bodies() -> dict[Any, Callable[..., Any]]:
    """By op what it is made of."""
    for family in _FAMILIES:
        importlib.import_module(f"taeda._decompositions.core.{family}")
    return {overload(name): function for name, function in _named.items()}


def overload(full_name: str) -> Any:
    """An op of the library by its full name."""
    name, _, rest = full_name.partition(".")
    return getattr(getattr(aten, name), rest or "default")


def pointwise_formula(name: str) -> Callable[..., Any]:
    """The formula of a pointwise op, read when the body runs."""

    def body(*args: Any, **kwargs: Any) -> Any:
        formula = formula_of(name)
        return NotImplemented if formula is None else formula(*args, **kwargs)

    return body


def hint(size: Any) -> Any:
    """The number that a size has in the example."""
    return size.node.hint if isinstance(size, _Symbol) else size


def varies(size: Any) -> bool:
    """Whether a size is a value of the graph."""
    return isinstance(size, _Symbol)


def is_contiguous(x: Tensor) -> bool:
    """Whether it is whatever its sizes are: sizes that vary and are 1 in the example hide an order."""
    if sum(varies(size) and hint(size) == 1 for size in x.shape) > 1:
        return False
    expected = 1
    for size, stride in zip(reversed(x.shape), reversed(x.stride())):
        if _is_more(size) and hint(stride) != expected:
            return False
        expected *= hint(size)
    return True


def _is_more(size: Any) -> bool:
    """Whether a size is another than 1 in some call."""
    return varies(size) or hint(size) != 1


def contiguous(x: Tensor) -> Tensor:
    """A copy unless it is known to be without gaps."""
    return x if is_contiguous(x) else aten.clone.default(x, memory_format=taeda.contiguous_format)


def viewed(x: Tensor, sizes: list[Any]) -> Tensor:
    """The elements in their order, as another shape; a view where there is one, on whose strides later nodes count."""
    return aten.view.default(x if _has_view(x, sizes) else contiguous(x), sizes)


def _has_view(x: Tensor, sizes: list[Any]) -> bool:
    """Whether strides can show fixed sizes as others."""
    if any(map(varies, (*x.shape, *sizes))) or x.numel() == 0:
        return False
    runs: list[list[int]] = []  # dimensions without gaps between them: elements, the last stride
    for size, stride in zip(x.shape, map(hint, x.stride())):
        if size != 1 and runs and runs[-1][1] == size * stride:
            runs[-1] = [runs[-1][0] * size, stride]
        elif size != 1:
            runs.append([size, stride])
    rest = math.prod(size for size in sizes if size != -1)
    wanted = iter([x.numel() // rest if size == -1 else size for size in sizes])
    for elements, _ in runs:
        count = 1
        while count < elements:
            count *= next(wanted)
        if count != elements:
            return False
    return True


def number(value: Any, like: Tensor, dtype: Any = None) -> Tensor:
    """A number as a tensor without dimensions."""
    return aten.scalar_tensor.default(value, dtype=like.dtype if dtype is None else dtype, device=like.device)


def as_dtype(x: Tensor, dtype: Any) -> Tensor:
    """``x`` in a dtype."""
    return x if x.dtype == dtype else aten._to_copy.default(x, dtype=dtype)


def dims_of(x: Tensor, dims: Any) -> list[int]:
    """Dimensions counted from the front; all if none are given."""
    if dims is None or dims == []:
        return list(range(x.dim()))
    rank = max(x.dim(), 1)
    return [d % rank for d in ([dims] if isinstance(dims, int) else dims)]


def laid_out(x: Tensor, like: Tensor) -> Tensor:
    """``x`` with its dimensions in the order in memory that those of ``like`` have: later nodes may count on it."""
    if x.dim() != like.dim() or _strides(x) == _strides(like):
        return x
    order = sorted(range(like.dim()), key=lambda d: (-hint(like.stride(d)), d))
    turned = aten.clone.default(aten.permute.default(x, order), memory_format=taeda.contiguous_format)
    found = aten.permute.default(turned, [order.index(d) for d in range(like.dim())])
    return found if _strides(found) == _strides(like) else x


def _strides(x: Tensor) -> list[int]:
    return [hint(stride) if _is_more(size) else 0 for size, stride in zip(x.shape, x.stride())]
