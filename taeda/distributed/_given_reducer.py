"""PyTorch's way to make a `Reducer` by hand, of buckets that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from taeda import Tensor
from taeda.distributed import _reducer as reducer
from taeda.utils._pytree import tree_leaves

__all__ = ["Reducer"]


class Reducer(reducer.Reducer):
    """Makes the gradients of ``params`` their mean over the processes of ``process_group``.

    Args:
        bucket_indices: for each bucket the numbers of its parameters.
        per_bucket_size_limits: accepted.
        expect_sparse_gradients: whose gradients are sparse; none by default.
        bucket_bytes_cap, first_bucket_bytes_cap: bytes of buckets, and of the first, once the order of gradients is
            known.
        find_unused_parameters, gradient_as_bucket_view: see `DistributedDataParallel`.
        param_to_name_mapping: accepted.

    Raises:
        RuntimeError: a bucket's parameters are of several dtypes or devices.
    """

    def __init__(
        self,
        params: Sequence[Tensor],
        bucket_indices: Sequence[Sequence[int]],
        per_bucket_size_limits: Sequence[int],
        process_group: Any,
        expect_sparse_gradients: Sequence[bool] = (),
        bucket_bytes_cap: int = 25 << 20,
        find_unused_parameters: bool = False,
        gradient_as_bucket_view: bool = False,
        param_to_name_mapping: Mapping[int, str] | None = None,
        first_bucket_bytes_cap: int = reducer.FIRST_BUCKET_BYTES,
    ) -> None:
        members = [[params[number] for number in numbers] for numbers in bucket_indices]
        for numbers, bucket in zip(bucket_indices, members, strict=True):
            if len({(one.dtype, one.device) for one in bucket}) > 1:
                raise RuntimeError(
                    f"taeda.distributed.Reducer: a bucket takes parameters of one dtype and device; {list(numbers)} "
                    f"are {[str(one.dtype) for one in bucket]}"
                )
        sparse = [one for one, expected in zip(params, expect_sparse_gradients) if expected]
        super().__init__(
            params, [first_bucket_bytes_cap, bucket_bytes_cap], find_unused_parameters, False, process_group,
            gradient_as_bucket_view, sparse,
        )  # fmt: skip
        self._set_buckets(members)

    def prepare_for_forward(self) -> None:
        """Called before a forward pass."""
        self.begin()

    def prepare_for_backward(self, output: Any) -> None:
        """Called with the results of a forward pass, before the backward pass."""
        self.prepare([leaf for leaf in tree_leaves(output) if isinstance(leaf, Tensor)])
