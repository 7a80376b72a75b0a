"""Functions of scalars at all points of a grid, in one call.

A mask is written for one query and one key. ``taeda.func.vmap`` would call it for each pair; here it is called once,
with tensors that look like scalars and hold their values at all points. Element by element, and in what they index,
such tensors broadcast; any other op runs once for each point that its arguments depend on. Both give what ``vmap``
gives.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda._library.ops import find_overload
from taeda.func import vmap
from taeda.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

GRID = 4  # dimensions of a grid: batch, head, query, key

# Functions of elements that are not declared as pointwise ops: they are made of such, or have another name.
_MADE_OF_POINTWISE = frozenset(
    """
    absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh bfloat16 bool byte char clip clone contiguous cpu cuda
    detach divide double empty_like fix float float_power full_like greater greater_equal half int isclose ldexp less
    less_equal logsigmoid long masked_fill multiply nan_to_num negative not_equal ones_like positive short softsign
    square subtract tanhshrink to true_divide type type_as zeros_like
    """.split()  # noqa: SIM905
)
_REDUCTIONS = frozenset(("all", "amax", "amin", "any", "mean", "prod", "sum"))
_FACTORIES = frozenset(("new_empty", "new_full", "new_ones", "new_tensor", "new_zeros"))
_OF_THE_SHAPE = frozenset(
    """
    __len__ dim element_size is_complex is_contiguous is_floating_point is_signed ndimension nelement numel size stride
    """.split()  # noqa: SIM905
)
_OF_THE_VALUES = frozenset(("device", "is_cpu", "is_cuda", "is_meta", "requires_grad"))
_TENSOR_ATTRIBUTES = frozenset(("H", "T", "data", "imag", "mH", "mT", "real"))
_READING = frozenset(
    """
    __array__ __bool__ __complex__ __contains__ __dlpack__ __float__ __index__ __int__ allclose data_ptr equal
    is_nonzero item numpy storage tolist untyped_storage
    """.split()  # noqa: SIM905
)
_INDEX_DTYPES = (taeda.int64, taeda.int32)


class OnGrid(Tensor):
    """What a tensor is at each point of the grid.

    To the function it looks like the tensor at one point, by shape and dtype. ``values`` has the dimensions of the grid
    in front, of size 1 where nothing depends on them.
    """

    values: Tensor

    def __new__(cls, values: Tensor) -> Any:
        # Code that reads the tensor without asking __torch_function__ finds no data, rather than wrong data.
        return Tensor._make_subclass(cls, taeda.empty(values.shape[GRID:], dtype=values.dtype, device="meta"), False)

    def __init__(self, values: Tensor) -> None:
        self.values = values

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return _call(func, args, kwargs or {})

    def __repr__(self) -> str:  # type: ignore[override]
        return f"OnGrid({self.values!r})"

    __format__ = object.__format__  # type: ignore[assignment]


def _reflect(op: Callable[[Any, Any], Any]) -> Callable[[OnGrid, Any], Any]:
    """``other op self``, where ``other`` keeps being a number, which decides no dtype."""

    def reflected(self: OnGrid, other: Any) -> Any:
        known = isinstance(other, (bool, int, float, complex, Tensor))
        return _pointwise(op, (other, self), {}) if known else NotImplemented

    return reflected


for _op in ("sub", "truediv", "floordiv", "mod", "pow", "lshift", "rshift"):
    setattr(OnGrid, f"__r{_op}__", _reflect(getattr(operator, _op)))


@functools.cache
def _pointwise_names() -> frozenset[str]:
    ops = (name.removeprefix("aten::").partition(".") for name in _C._all_op_names() if name.startswith("aten::"))
    declared = (
        name for name, _, overload in ops if taeda.Tag.pointwise in find_overload(f"aten::{name}", overload).tags
    )
    return _MADE_OF_POINTWISE.union(declared)


def grid_indices(sizes: Sequence[int], device: Any) -> list[Tensor]:
    """The indices of a grid's points, one tensor for each dimension, that broadcast to the grid: int64."""
    count = len(sizes)
    return [
        taeda.arange(size, device=device).reshape([-1 if n == dim else 1 for n in range(count)])
        for dim, size in enumerate(sizes)
    ]


def call_on_grid(func: Callable[..., Any], args: Sequence[Tensor]) -> Tensor:
    """The results of a function at all points of a grid.

    Args:
        func: takes tensors without dimensions and returns one; it may capture others. It should be pure.
        args: the arguments' values, each with the dimensions of the grid or 1 in their place.

    Returns:
        The results; 1 stands for dimensions that they do not depend on.

    Raises:
        ValueError: the function returns something else.
        RuntimeError: its result has dimensions; it reads a value, draws random numbers, or writes to what all share.
    """
    start = taeda.get_rng_state()
    result = func(*map(OnGrid, args))
    if not taeda.equal(start, taeda.get_rng_state()):
        taeda.set_rng_state(start)
        raise RuntimeError("taeda.nn.attention: a mask or score function must not draw random numbers")
    if not isinstance(result, Tensor):
        raise ValueError(
            f"taeda.nn.attention: a mask or score function must return a tensor; got {type(result).__name__}"
        )
    if result.dim():
        raise RuntimeError(
            "taeda.nn.attention: a mask or score function must return a scalar for each query and key; got shape "
            f"{tuple(result.shape)}"
        )
    return result.values if isinstance(result, OnGrid) else result.to(args[0].device).reshape((1,) * GRID)


def _call(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    name = getattr(func, "__name__", "")
    if name == "__get__":
        return _attribute(func, args)
    if name in _READING:
        raise RuntimeError(
            f"taeda.nn.attention: a mask or score function cannot use {name}, which needs the value at one point; it "
            "is called for all queries and keys at once. Use where(condition, a, b) for branches, and & | for and, or"
        )
    if name in _OF_THE_SHAPE or (name == "type" and len(args) + len(kwargs) == 1):
        with taeda._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)
    if name in ("__setitem__", "__set__") or name.endswith("_") != name.endswith("__"):
        return _in_place(name, args, kwargs)
    if kwargs.get("out") is not None or kwargs.get("inplace"):
        raise _refused(name)
    if name == "__getitem__":
        return _index(*args)
    if name == "masked_fill" and not kwargs:
        return _masked_fill(*args)
    if name in _pointwise_names() or name in ("max", "min"):
        return _pointwise(func, args, kwargs) if _is_pointwise(name, args, kwargs) else _by_point(func, args, kwargs)
    if name in _REDUCTIONS:
        return _reduce(func, args, kwargs)
    if name in _FACTORIES and not _holds(args[1:], kwargs):
        return func(args[0].values, *args[1:], **kwargs)
    return _by_point(func, args, kwargs)


def _refused(name: str) -> RuntimeError:
    return RuntimeError(
        f"taeda.nn.attention: {name} in a mask or score function would write values that differ by query and key into "
        "a tensor that all of them share; use the form that returns a new tensor"
    )


def _attribute(getter: Any, args: Any) -> Any:
    name = getter.__self__.__name__
    if name in _OF_THE_VALUES:
        return getattr(args[0].values, name)
    if name in _TENSOR_ATTRIBUTES:
        return _by_point(operator.attrgetter(name), args[:1], {})
    with taeda._C.DisableTorchFunctionSubclass():
        return getter(*args)


def _is_pointwise(name: str, args: Any, kwargs: dict[str, Any]) -> bool:
    """Of functions that have other forms: ``where(condition)`` and ``max(x, dim)``."""
    if name == "where":
        return len(args) + len(kwargs) == 3
    return name not in ("max", "min") or any(isinstance(x, Tensor) for x in [*args[1:], *kwargs.values()])


def _holds(args: Any, kwargs: dict[str, Any]) -> bool:
    return any(isinstance(x, OnGrid) for x in tree_flatten((args, kwargs))[0])


def _aligned(x: Tensor, rank: int, device: Any) -> Tensor:
    """The values, such that those of tensors of up to ``rank`` dimensions broadcast as the tensors would."""
    if not isinstance(x, OnGrid):
        return x if x.dim() else x.to(device).reshape((1,) * (GRID + rank))  # else it would yield to other dtypes
    shape = x.values.shape
    return x.values.reshape((*shape[:GRID], *(1,) * (rank + GRID - len(shape)), *shape[GRID:]))


def _pointwise(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    leaves, spec = tree_flatten((args, kwargs))
    tensors = [x for x in leaves if isinstance(x, Tensor)]
    ranks = {x.dim() for x in tensors}
    if len(ranks) > 1 and len({x.dtype for x in tensors}) > 1:  # those without dimensions yield to other dtypes
        return _by_point(func, args, kwargs)
    rank, device = max(ranks), next(x.device for x in tensors if isinstance(x, OnGrid))
    ready = [_aligned(x, rank, device) if isinstance(x, Tensor) else x for x in leaves]
    ready_args, ready_kwargs = tree_unflatten(ready, spec)
    try:
        return OnGrid(func(*ready_args, **ready_kwargs))
    except TypeError:  # some tensors may stand for numbers only as scalars: clamp(x, 0, limit)
        return _by_point(func, args, kwargs)


def _masked_fill(x: Tensor, mask: Tensor, value: Any) -> Any:
    if not isinstance(value, Tensor):
        return _pointwise(Tensor.masked_fill, (x, mask, value), {})
    return taeda.where(mask, value.to(x.dtype), x)


def _in_place(name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """``x.op_(...)``: new values for ``x``, which must depend on all that the others depend on."""
    target, op = args[0], getattr(Tensor, name[:-1], None)
    if not isinstance(target, OnGrid) or name[:-1] not in _pointwise_names() or op is None:
        raise _refused(name)
    result = op(*args, **kwargs)
    old, new = target.values, result.values
    if new.dim() != old.dim() or taeda.broadcast_shapes(old.shape, new.shape) != old.shape:
        raise _refused(name)
    if not taeda.can_cast(new.dtype, old.dtype):
        raise RuntimeError(f"taeda.nn.attention: {name} has a result of {new.dtype}, which {old.dtype} cannot hold")
    target.values = new.to(old.dtype)
    return target


def _reduce(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    values = args[0].values
    rank = values.dim() - GRID
    rest = [*args[1:], *kwargs.values()]
    if not rest:
        return OnGrid(func(values.flatten(GRID) if rank else values.unsqueeze(-1), -1))
    if len(rest) == 1 and type(rest[0]) is int and -rank <= rest[0] < rank and set(kwargs) <= {"dim"}:
        return OnGrid(func(values, GRID + rest[0] % rank))
    return _by_point(func, args, kwargs)


def _by_point(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Any function: once for each point that its arguments depend on."""
    leaves, spec = tree_flatten((args, kwargs))
    places = [i for i, x in enumerate(leaves) if isinstance(x, OnGrid)]
    values = [leaves[i].values for i in places]
    others = [None if isinstance(x, OnGrid) else x for x in leaves]
    grid = taeda.broadcast_shapes(*(v.shape[:GRID] for v in values))
    flat = [v.expand(*grid, *v.shape[GRID:]).reshape(math.prod(grid), *v.shape[GRID:]) for v in values]

    def at_point(*chosen: Tensor) -> Any:
        filled = list(others)
        for i, x in zip(places, chosen, strict=True):
            filled[i] = x
        point_args, point_kwargs = tree_unflatten(filled, spec)
        return func(*point_args, **point_kwargs)

    return tree_map_only(Tensor, lambda r: OnGrid(r.reshape(*grid, *r.shape[1:])), vmap(at_point)(*flat))


def _index(base: Tensor, index: Any) -> Any:
    items = index if isinstance(index, tuple) else (index,)
    if not all(map(_is_simple, items)):
        return _by_point(Tensor.__getitem__, (base, index), {})
    values = base.values if isinstance(base, OnGrid) else base.reshape((1,) * GRID + tuple(base.shape))
    whole = slice(None)
    values = values[(whole,) * GRID + tuple(whole if isinstance(i, Tensor) else i for i in items)]
    picked = _picked(items)
    if not picked:
        return OnGrid(values)
    values = values.movedim(list(picked), list(range(GRID, GRID + len(picked))))
    chosen = [_aligned(i, 0, values.device) for i in picked.values()]
    # Of each dimension of the grid that the values have, the point's own place is taken.
    grid = values.shape[:GRID]
    own = [index for index, n in zip(grid_indices(grid, values.device), grid) if n != 1]
    values = values.reshape([n for n in grid if n != 1] + list(values.shape[GRID:]))
    return OnGrid(values[(*own, *chosen)])


def _is_simple(item: Any) -> bool:
    """Whether an index is basic, or takes one place as a tensor without dimensions."""
    if isinstance(item, Tensor):
        return item.dim() == 0 and item.dtype in _INDEX_DTYPES
    return item is None or item is ... or isinstance(item, slice) or type(item) is int


def _picked(items: tuple[Any, ...]) -> dict[int, Tensor]:
    """The tensors in an index, by the dimension that each takes a place of once the basic indices are applied."""
    split = next((n for n, i in enumerate(items) if i is ...), len(items))
    found: dict[int, Tensor] = {}
    at = GRID
    for item in items[:split]:
        if isinstance(item, Tensor):
            found[at] = item
        at += type(item) is not int
    at = -1
    for item in reversed(items[split + 1 :]):
        if isinstance(item, Tensor):
            found[at] = item
        at -= type(item) is not int
    return found
