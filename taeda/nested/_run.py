"""What a function does with nested tensors: it is looked up by name, and runs on ordinary tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._composed.elementwise import is_elementwise, is_inplace
from taeda._composed.tensor import grad
from taeda.nested._ragged import RaggedSize
from taeda.nested._tensor import Nested, NestedTensor

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {"grad": grad}

# Answered by the outer tensor.
_OF_THE_WHOLE = frozenset(["dim", "ndimension", "element_size", "get_device", "is_complex", "is_floating_point",
                           "is_inference", "is_signed", "is_conj", "is_neg", "storage_offset",
                           "_is_view"])  # fmt: skip


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers ``f(func, *args, **kwargs)`` for functions and methods of these names."""

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


def run(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The result of ``func``, of which some argument is nested.

    Raises:
        NotImplementedError: there is no rule for it.
    """
    from taeda.nested import _pieces, _reduce, _rows, _views  # noqa: F401  (they fill RULES)

    name = func.__name__.partition(".")[0]  # of an op without its overload
    if name == "__get__" and (found := RULES.get(f"{func.__self__.__name__}.__get__")):
        return found(func, *args, **kwargs)
    if name in ("__get__", "__set__", "__delete__") or name in _OF_THE_WHOLE:
        with taeda._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)
    if found := RULES.get(name):
        return found(func, *args, **kwargs)
    if is_elementwise(name):
        return elementwise(func, *args, **kwargs)
    if (body := getattr(func, "__wrapped__", None)) is not None:
        return body(*args, **kwargs)  # Python, whose own calls come here
    raise NotImplementedError(
        f"taeda.{name}: takes no nested tensor; apply it to the components, x.unbind(), and nest the results"
    )


def first_nested(values: Any) -> Nested:
    """The first nested tensor in arguments."""
    leaves = taeda.utils._pytree.tree_leaves(values)
    return next(leaf for leaf in leaves if isinstance(leaf, Nested))


def elementwise(func: Any, *args: Any, **kwargs: Any) -> Any:
    """An op of each element: on the sources, against which other tensors are broadcast."""
    if not _lie_alike(args):
        whole = tuple(x.gapless() if isinstance(x, NestedTensor) else x for x in args)
        if is_inplace(func.__name__) and whole[0] is not args[0]:
            for part, new in zip(args[0].parts(), elementwise(func, *whole, **kwargs).parts(), strict=True):
                part.copy_(new)
            return args[0]
        args = whole
    like = first_nested((args, kwargs))
    flatten, unflatten = taeda.utils._pytree.tree_flatten, taeda.utils._pytree.tree_unflatten
    leaves, spec = flatten((args, kwargs))
    columns = [spread(leaf, like, func.__name__) for leaf in leaves]
    results = []
    for row in zip(*columns, strict=True):
        given, named = unflatten(list(row), spec)
        results.append(func(*given, **named))
    kept = all(result is source for result, source in zip(results, like.sources(), strict=True))
    if is_inplace(func.__name__) or (kept and like is args[0]):
        return args[0]
    return joined(results, like.over)


def _lie_alike(args: Sequence[Any]) -> bool:
    """Whether the values of all jagged arguments have their components, and gaps, at the same rows. Beside a row for
    each component there must be no gaps."""
    jagged = [x for x in args if isinstance(x, NestedTensor)]
    if not jagged:
        return True
    first = jagged[0]
    if any(_has_rows(x, first) for x in args):
        return all(x.gapless() is x for x in jagged)
    at = first._ragged_idx
    return all(
        (x is first or x._bounds is first._bounds or x._bounds == first._bounds)
        and (x._ragged_idx, x._values.shape[x._ragged_idx - 1]) == (at, first._values.shape[at - 1])
        for x in jagged
    )


def _has_rows(value: Any, like: Nested) -> bool:
    """Whether it is a plain tensor with a row for each component."""
    plain = isinstance(value, Tensor) and not isinstance(value, Nested)
    return plain and value.dim() == like.dim() and value.shape[0] != 1


def joined(results: list[Any], nest: Callable[[list[Tensor]], Any]) -> Any:
    """One result of the results for each source, or a tuple of them."""
    if not results:
        return nest([])
    first = results[0]
    if isinstance(first, tuple):
        columns = [nest(list(column)) for column in zip(*results, strict=True)]
        return type(first)(columns) if hasattr(type(first), "n_fields") else tuple(columns)
    return nest(results) if isinstance(first, Tensor) else first


def spread(value: Any, like: Nested, name: str) -> list[Any]:
    """What stands for an argument beside each source of ``like``."""
    count = len(like.sources())
    if isinstance(value, RaggedSize):
        raise RuntimeError(f"taeda.{name}: {value} is no number to calculate with; offsets().diff() has the lengths")
    if isinstance(value, Nested):
        check_same(value, like, name)
        return value.sources()
    if not isinstance(value, Tensor) or value.dim() == 0:
        return [value] * count
    if value.dim() > like.dim():
        raise RuntimeError(
            f"taeda.{name}: {tuple(value.shape)} has more dimensions than the nested tensor, {like.dim()}"
        )
    if _has_rows(value, like):
        size = len(like)
        if value.shape[0] != size:
            raise RuntimeError(f"taeda.{name}: {value.shape[0]} in dimension 0 does not go with {size} components")
        return _for_each_component(value, like, name)
    alone = value[0] if value.dim() == like.dim() else value
    if isinstance(like, NestedTensor):
        _check_ragged(alone, like, name)
    return [alone] * count


def _check_ragged(value: Tensor, like: NestedTensor, name: str) -> None:
    """The ragged dimension broadcasts only what has size 1 there."""
    from_right = like._values.dim() - (like._ragged_idx - 1)
    if value.dim() >= from_right and value.shape[-from_right] != 1:
        raise RuntimeError(
            f"taeda.{name}: a tensor of shape {tuple(value.shape)} does not broadcast to {tuple(like.shape)}: along "
            "the ragged dimension it must have size 1"
        )


def _for_each_component(value: Tensor, like: Nested, name: str) -> list[Any]:
    if not isinstance(like, NestedTensor):
        return list(value.unbind(0))
    at, longest = like._ragged_idx, max((end - start for start, end in like._bounds), default=1)
    if value.shape[at] == longest != 1:  # padded
        pairs = zip(value.unbind(0), like._bounds, strict=True)
        return [taeda.cat([row.narrow(at - 1, 0, end - start) for row, (start, end) in pairs], at - 1)]
    _check_ragged(value, like, name)
    rows = taeda.tensor([end - start for start, end in like._bounds], device=value.device)
    return [value.squeeze(at).repeat_interleave(rows, 0).movedim(0, at - 1)]


def check_same(a: Nested, b: Nested, name: str) -> None:
    """RuntimeError unless the two have the same layout and lengths."""
    if type(a) is not type(b):
        raise RuntimeError(f"taeda.{name}: nested tensors of layouts {a.layout} and {b.layout}; convert one of them")
    if isinstance(a, NestedTensor) and isinstance(b, NestedTensor):
        same = a._ragged_idx == b._ragged_idx and (a._offsets is b._offsets or a._bounds == b._bounds)
    else:
        same = [p.shape for p in a.parts()] == [p.shape for p in b.parts()]
        same |= len(a) == len(b)  # each pair broadcasts, or its own error says why not
    if not same:
        shapes = (str(a.shape), str(b.shape)) if isinstance(a, NestedTensor) else (len(a), len(b))
        raise RuntimeError(f"taeda.{name}: nested tensors of other lengths, {shapes[0]} and {shapes[1]}")


def inner_dim(x: Nested, dim: int, name: str, *, may_be_batch: bool = False) -> int:
    """``dim`` of the outer shape, counted from 0. RuntimeError for the batch; IndexError where there is none."""
    rank = x.dim()
    if not -rank <= dim < rank:
        raise IndexError(f"taeda.{name}: dimension {dim} is outside of [-{rank}, {rank - 1}]")
    at = dim % rank
    if at == 0 and not may_be_batch:
        raise RuntimeError(f"taeda.{name}: not along dimension 0, which counts the components of a nested tensor")
    return at
