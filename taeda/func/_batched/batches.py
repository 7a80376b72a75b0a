"""Rules of ops that take batches themselves: of any shape, or as their first dimension."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._library.ops import OpOverload
from taeda.func._batched.general import one_by_one
from taeda.func._batched.tensor import Batch, bound

# --- ops that take batches of any shape: of matrices, of last dimensions


def natural(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    return batch.wrap_all(op(*[batch.whole(x) for x in args], **{k: batch.whole(x) for k, x in kwargs.items()}))


def matrices(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """An op on matrices, which examples of fewer dimensions must not become as a batch."""
    if any(isinstance(x, Tensor) and x.dim() < 2 for x in args):
        return one_by_one(batch, op, *args, **kwargs)
    return natural(batch, op, *args, **kwargs)


def broadcast(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """The dimensions before the last two broadcast, so that they must be as many in each tensor."""
    ranks = [x.dim() for x in args if isinstance(x, Tensor)]
    if min(ranks) < 2:
        return one_by_one(batch, op, *args, **kwargs)
    rank = max(ranks)
    return batch.wrap_all(op(*[batch.padded(x, rank) for x in args], **kwargs))


def alike(batch: Batch, op: OpOverload, self: Any, *args: Any, **kwargs: Any) -> Any:
    if kwargs.get("memory_format") not in (taeda.channels_last, taeda.channels_last_3d):
        return batch.wrap(op(self.value, *args, **kwargs))
    n = self.shape[0]  # a format of images; the batch is more of them
    return unfolded(batch, op(self.value.flatten(0, 1), *args, **kwargs), n)


# --- ops whose first dimension is a batch already: ours is folded into it


def folded(batch: Batch, op: OpOverload, *args: Any, image: str = "", **kwargs: Any) -> Any:
    """An op on images; ``image`` is how many dimensions one has, where its first are not independent."""
    given = bound(op, args, kwargs)
    tensors = [x for x in given.values() if isinstance(x, Tensor)]
    count = tensors[0].shape[0]
    if image == str(tensors[0].dim()):  # one image: ours is the only batch
        return natural(batch, op, *args, **kwargs)
    values = {name: fold(batch, x) for name, x in given.items()}
    if "sizes" in values:
        values["sizes"] = [batch.size * values["sizes"][0], *values["sizes"][1:]]
    return unfolded(batch, op(**values), count)


def fold(batch: Batch, x: Any) -> Any:
    """(batch * n, ...) from the values (batch, n, ...)."""
    return batch.whole(x).flatten(0, 1) if isinstance(x, Tensor) else x


def unfolded(batch: Batch, results: Any, count: int) -> Any:
    if isinstance(results, (list, tuple)):
        return tuple(unfolded(batch, one, count) for one in results)
    return batch.wrap(results.unflatten(0, (batch.size, count)))
