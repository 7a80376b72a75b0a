"""Rules of ops along dimensions: of reductions, and of those that keep what they run along."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._library.ops import OpOverload
from taeda.func._batched.general import one_by_one
from taeda.func._batched.tensor import Batch, bound, rule

# The op that takes dimensions, for those that reduce all.
_ALONG = {"sum": "dim_IntList", "mean": "dim", "prod": "dim_int", "any": "dim", "all": "dim",
          "count_nonzero": "dim_IntList"}  # fmt: skip
_SAME = {"max": "amax", "min": "amin"}


def reduction(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    given = bound(op, args, kwargs)
    x = given.pop("self")
    value, rank = x.value, x.dim()
    if "dim" not in given:
        name = op._opname
        flat = value.reshape(batch.size, -1)
        if name in _SAME:
            return batch.wrap(getattr(taeda.ops.aten, _SAME[name]).default(flat, [1]))
        if name not in _ALONG:
            return one_by_one(batch, op, *args, **kwargs)
        along = getattr(getattr(taeda.ops.aten, name), _ALONG[name])
        return batch.wrap(along(flat, [1] if "List" in _ALONG[name] or name == "mean" else 1, **given))
    dim, keepdim = given["dim"], given.get("keepdim", False)
    if rank == 0:
        value = value.unsqueeze(1)
    is_list = "int[" in op._schema_text.partition(" dim")[0].rpartition(",")[2]
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        value, given["dim"] = value.reshape(batch.size, -1), [1] if is_list else 1
        results = op(value, **given)
        shape = [batch.size, *[1] * rank] if keepdim else [batch.size]
        return _reshaped(batch, results, shape)
    given["dim"] = [shifted(d, rank) for d in dim] if isinstance(dim, (list, tuple)) else shifted(dim, rank)
    results = op(value, **given)
    return _reshaped(batch, results, [batch.size]) if rank == 0 else batch.wrap_all(results)


def _reshaped(batch: Batch, results: Any, shape: list[int]) -> Any:
    if isinstance(results, (list, tuple)):
        return tuple(_reshaped(batch, one, shape) for one in results)
    return batch.wrap(results.reshape(shape))


def shifted(dim: int, rank: int) -> int:
    """A dimension of an example as one of the batch.

    Raises:
        IndexError: there is no such dimension.
    """
    room = max(rank, 1)
    if not -room <= dim < room:
        raise IndexError(f"taeda.func.vmap: dimension {dim} of an example of {rank} dimensions")
    return dim % room + 1


# --- along dimensions: every tensor has the batch in front, and dimensions count from behind it

_DIMS = {"dim", "dims"}
_OF_ALL = {"logsumexp", "var", "std", "var_mean", "std_mean"}  # dimensions, where none is named


@rule(
    "_softmax", "_log_softmax", "_softmax_backward_data", "_log_softmax_backward_data", "cumsum", "cumprod", "cummax",
    "cummin", "logcumsumexp", "sort.stable", "topk", "kthvalue", "median.dim", "nanmedian.dim", "mode", "gather",
    "scatter_", "scatter_add_", "scatter_reduce_", "cumsum_", "cumprod_", "_fft_c2c", "_fft_r2c", "_fft_c2r",
    "logsumexp", "var.correction", "std.correction", "var_mean.correction", "std_mean.correction", "resample",
    "resample_backward",
)  # fmt: skip
def along(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    given = bound(op, args, kwargs)
    written = [name for name, x in given.items() if op._schema.is_mutable and name == "self"]
    for name in written:
        batch.written(given[name])
    tensors = [x for x in given.values() if isinstance(x, Tensor)]
    rank = tensors[0].dim()
    values = {name: _with_batch(batch, x, rank) for name, x in given.items()}
    for name in _DIMS & values.keys():
        dim = values[name]
        if dim is None or (not isinstance(dim, int) and not dim and op._opname in _OF_ALL):
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
