"""Rules that serve many ops: elementwise, random numbers, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._library.ops import OpOverload
from taeda.func._batched.tensor import Batch, Unbatchable, unbatched


def refused(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    raise Unbatchable(f"{op} has no rule for batches")


def one_by_one(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """Any op that writes to none of its arguments."""
    if op._schema.is_mutable:
        raise Unbatchable(f"{op} writes to its arguments")
    results = [op(*unbatched(batch, args, i), **unbatched(batch, kwargs, i)) for i in range(batch.size)]
    return _stacked(batch, results)


def _stacked(batch: Batch, results: Sequence[Any]) -> Any:
    first = results[0]
    if isinstance(first, Tensor):
        return batch.wrap(taeda.stack(list(results)))
    if isinstance(first, (list, tuple)):
        return tuple(_stacked(batch, column) for column in zip(*results, strict=True))
    if any(one != first for one in results):
        raise Unbatchable("a result that is no tensor differs by example")
    return first


def anywhere(batch: Batch, op: OpOverload, self: Any) -> Tensor:
    return op(self.value)  # type: ignore[no-any-return]


# --- elementwise


def elementwise(batch: Batch, op: OpOverload, *args: Any, mask_first: bool = False, **kwargs: Any) -> Any:
    result = op(*_aligned(batch, args, promoted=args[1:] if mask_first else args), **kwargs)
    return batch.wrap(result) if isinstance(result, Tensor) else batch.wrap_all(result)


def written_elementwise(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    batch.written(args[0])
    check_room(args[0], args)
    op(*_aligned(batch, args), **kwargs)
    return args[0]


def check_room(target: Tensor, args: Sequence[Any]) -> None:
    """What is written to ``target`` must have no more dimensions: they would meet the batch's."""
    if any(isinstance(x, Tensor) and x.dim() > target.dim() for x in args):
        raise Unbatchable("a tensor of more dimensions is written to one of fewer")


def _aligned(batch: Batch, args: Sequence[Any], promoted: Sequence[Any] = ()) -> list[Any]:
    """The arguments' values, so that they broadcast as those of one example, and those that are promoted do that."""
    rank = max([x.dim() for x in args if isinstance(x, Tensor)])
    values = [batch.padded(x, rank) for x in args]
    typed = [x for x in promoted if isinstance(x, Tensor)]
    if not typed or all([x.dtype is typed[0].dtype for x in typed]):
        return values
    common = _result_type(typed)
    # A number of each example is a vector of the batch, which would count for more.
    return [
        v.to(common) if batch.holds(x) and x.dim() == 0 and any(x is t for t in typed) else v
        for x, v in zip(args, values, strict=True)
    ]


def _result_type(tensors: Sequence[Tensor]) -> taeda.dtype:
    """The dtype of arithmetic with all of them: those with dimensions count for more than those without."""
    stand_ins = [taeda.empty([1] * min(t.dim(), 1), dtype=t.dtype, device="meta") for t in tensors]
    result = stand_ins[0]
    for other in stand_ins[1:]:
        dtype = taeda.result_type(result, other)
        result = taeda.empty([1] * max(result.dim(), other.dim()), dtype=dtype, device="meta")
    return result.dtype


# --- random numbers


def draw(batch: Batch, op: OpOverload, self: Any, *args: Any, **kwargs: Any) -> Any:
    op(batch.written(self), *args, **kwargs)
    return self
