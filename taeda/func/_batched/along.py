"""Rules of ops along dimensions: of reductions, and of those that keep what they run along."""

from __future__ import annotations

import functools
from typing import Any

from taeda import Tensor
from taeda._library.ops import OpOverload, find_overload
from taeda.func._batched.general import one_by_one
from taeda.func._batched.tensor import Batch, bound


def reduction(batch: Batch, op: OpOverload, *args: Any, over: str = "", **kwargs: Any) -> Any:
    """A reduction; of all elements, it needs ``over``, the op that does the same along dimensions."""
    given = bound(op, args, kwargs)
    x = given.pop("self")
    value, rank = x.value, x.dim()
    if "dim" not in given:
        if not over:
            return one_by_one(batch, op, *args, **kwargs)
        name, _, overload = over.partition(".")
        along = find_overload(f"aten::{name}", overload)
        return batch.wrap(along(value.reshape(batch.size, -1), [1] if _takes_several(along) else 1, **given))
    dim, keepdim = given["dim"], given.get("keepdim", False)
    if rank == 0:
        value = value.unsqueeze(1)
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        value, given["dim"] = value.reshape(batch.size, -1), [1] if _takes_several(op) else 1
        results = op(value, **given)
        shape = [batch.size, *[1] * rank] if keepdim else [batch.size]
        return _reshaped(batch, results, shape)
    given["dim"] = [shifted(d, rank) for d in dim] if isinstance(dim, (list, tuple)) else shifted(dim, rank)
    results = op(value, **given)
    return _reshaped(batch, results, [batch.size]) if rank == 0 else batch.wrap_all(results)


@functools.cache
def _takes_several(op: OpOverload) -> bool:
    """Whether ``dim`` is a list."""
    kind: Any = next(a.type for a in op._schema.arguments if a.name == "dim")
    return (kind.getElementType() if kind.kind() == "OptionalType" else kind).kind() == "ListType"


def _reshaped(batch: Batch, results: Any, shape: list[int]) -> Any:
    if isinstance(results, (list, tuple)):
        return tuple(_reshaped(batch, one, shape) for one in results)
    return batch.wrap(results.reshape(shape))


def shifted(dim: int, rank: int) -> int:
    """A dimension of an example as one of the batch.

    Raises:
        IndexError: there is no such dimension.
    """
    count = max(rank, 1)
    if not -count <= dim < count:
        raise IndexError(f"taeda.func.vmap: dimension {dim} of an example of {rank} dimensions")
    return dim % count + 1


# --- along dimensions: every tensor has the batch in front, and dimensions count from behind it

_DIMS = {"dim", "dims"}


def along(batch: Batch, op: OpOverload, *args: Any, empty: str = "", **kwargs: Any) -> Any:
    """An op that runs along the dimensions that it names; no dimension and, if ``empty`` is "all", [] mean all."""
    given = bound(op, args, kwargs)
    written = [name for name, x in given.items() if op._schema.is_mutable and name == "self"]
    for name in written:
        batch.written(given[name])
    tensors = [x for x in given.values() if isinstance(x, Tensor)]
    rank = tensors[0].dim()
    values = {name: _with_batch(batch, x, rank) for name, x in given.items()}
    for name in _DIMS & values.keys():
        dim = values[name]
        if dim is None or (not isinstance(dim, int) and not dim and empty == "all"):
            values[name] = list(range(1, max(rank, 1) + 1))
        else:
            values[name] = [shifted(d, rank) for d in dim] if isinstance(dim, (list, tuple)) else shifted(dim, rank)
    results = op(**values)
    if written:
        return args[0]
    is_number = all(t.dim() == 0 for t in tensors)
    return _without_padding(batch, results) if is_number else batch.wrap_all(results)


def _with_batch(batch: Batch, x: Any, rank: int) -> Any:
    if not isinstance(x, Tensor):
        return x
    value = batch.whole(x)
    return value.unsqueeze(1) if rank == 0 and value.dim() == 1 else value


def _without_padding(batch: Batch, results: Any) -> Any:
    if isinstance(results, (list, tuple)):
        return tuple(_without_padding(batch, one) for one in results)
    return batch.wrap(results.squeeze(1) if results.dim() > 1 else results)
