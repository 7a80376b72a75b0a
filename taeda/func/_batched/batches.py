"""Rules of ops that take batches themselves: of any shape, or as their first dimension."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._library.ops import OpOverload
from taeda.func._batched.tensor import Batch, bound, rule

# --- ops that take batches of any shape: of matrices, of last dimensions


@rule(
    "linalg_inv_ex", "linalg_cholesky_ex", "linalg_qr", "_linalg_svd", "_linalg_eigh", "linalg_eig", "linalg_det",
    "linalg_lu_factor_ex", "linalg_ldl_factor_ex", "geqrf", "pivots_to_permutation", "tril", "triu", "constant_pad_nd",
    "native_dropout", "poisson", "_standard_gamma", "_sample_dirichlet",
)  # fmt: skip
def natural(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    return batch.wrap_all(op(*[batch.whole(x) for x in args], **{k: batch.whole(x) for k, x in kwargs.items()}))


@rule("linalg_solve_triangular", "_cdist_forward", "cdist_gradient", "_euclidean_dist")
def broadcast(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """The dimensions before the last two broadcast, so that they must be as many in each tensor."""
    rank = max(x.dim() for x in args if isinstance(x, Tensor))
    return batch.wrap_all(op(*[batch.padded(x, rank) for x in args], **kwargs))


@rule("clone", "_to_copy", "zeros_like", "ones_like", "full_like", "empty_like")
def alike(batch: Batch, op: OpOverload, self: Any, *args: Any, **kwargs: Any) -> Any:
    if kwargs.get("memory_format") not in (taeda.channels_last, taeda.channels_last_3d):
        return batch.wrap(op(self.value, *args, **kwargs))
    n = self.shape[0]  # a format of images; the batch is more of them
    return unfolded(batch, op(self.value.flatten(0, 1), *args, **kwargs), n)


# --- ops whose first dimension is a batch already: ours is folded into it

_FOLDED = ("max_pool2d_with_indices", "max_pool3d_with_indices", "avg_pool2d", "avg_pool3d", "_adaptive_avg_pool2d",
           "_adaptive_avg_pool3d", "adaptive_max_pool2d", "adaptive_max_pool3d", "pad_by_itself", "im2col", "col2im",
           "grid_sampler_2d", "grid_sampler_3d", "grid_sampler_grads", "max_pool_backward", "avg_pool2d_gradient",
           "avg_pool3d_gradient", "adaptive_avg_pool_backward", "pad_by_itself_backward")  # fmt: skip


@rule(*_FOLDED)
def folded(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    given = bound(op, args, kwargs)
    tensors = [x for x in given.values() if isinstance(x, Tensor)]
    count = tensors[0].shape[0]
    if _ROWS.get(op._opname) == tensors[0].dim():  # one image: ours is the only batch
        return natural(batch, op, *args, **kwargs)
    values = {name: fold(batch, x) for name, x in given.items()}
    if "sizes" in values:
        values["sizes"] = [batch.size * values["sizes"][0], *values["sizes"][1:]]
    return unfolded(batch, op(**values), count)


_ROWS = {"im2col": 3, "col2im": 2}  # dimensions of one image, where its first are not independent


def fold(batch: Batch, x: Any) -> Any:
    """(batch * n, ...) from the values (batch, n, ...)."""
    return batch.whole(x).flatten(0, 1) if isinstance(x, Tensor) else x


def unfolded(batch: Batch, results: Any, count: int) -> Any:
    if isinstance(results, (list, tuple)):
        return tuple(unfolded(batch, one, count) for one in results)
    return batch.wrap(results.unflatten(0, (batch.size, count)))
