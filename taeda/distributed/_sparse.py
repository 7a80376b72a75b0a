"""The sum of sparse tensors over the processes: each gathers the entries of all, and adds up those of one index."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed._reduce_op import ReduceOp
from taeda.distributed._work import EngineWork

Entries = list[Tensor]


def check(tensors: Sequence[Tensor], op: Any) -> None:
    """Raises unless all are in the COO layout, alike, and to be added.

    Raises:
        RuntimeError: they are not.
    """
    kinds = {(tensor.layout, tensor.dtype, tensor.shape, tensor.sparse_dim()) for tensor in tensors if tensor.is_sparse}
    if len(kinds) > 1 or not all(tensor.is_sparse for tensor in tensors):
        given = [(str(tensor.layout), str(tensor.dtype), tuple(tensor.shape)) for tensor in tensors]
        raise RuntimeError(f"taeda.distributed.all_reduce: sparse tensors are wanted all alike; got {given}")
    if (op.op if type(op) is ReduceOp else op) != ReduceOp.SUM:
        raise RuntimeError(f"taeda.distributed.all_reduce: sparse tensors can be added (ReduceOp.SUM) only; got {op}")


def described(tensor: Tensor) -> Tensor:
    """What the others need to know: the number of entries, and what must be the same everywhere."""
    return taeda.tensor([tensor._nnz(), tensor.sparse_dim(), tensor.dim(), *tensor.shape])


def places(tensor: Tensor, all: Sequence[Tensor]) -> tuple[Entries, Entries]:
    """Memory for the indices and the values of each process.

    Raises:
        RuntimeError: the processes' tensors differ in shape.
    """
    told = [one.tolist() for one in all]
    if any(one[1:] != told[0][1:] for one in told):
        raise RuntimeError(
            f"taeda.distributed.all_reduce: sparse tensors of different shapes: {[one[3:] for one in told]} by rank, "
            f"of which {[one[1] for one in told]} dimensions are sparse"
        )
    indices, values = tensor._indices(), tensor._values()
    return (
        [indices.new_empty((tensor.sparse_dim(), one[0])) for one in told],
        [values.new_empty((one[0], *values.shape[1:])) for one in told],
    )


class SparseWork(EngineWork):
    """The gathering under way; when it is done, the tensors become the sum."""

    def __init__(self, handle: Any, tensors: list[Tensor], indices: Entries, values: Entries) -> None:
        super().__init__(handle, tensors)
        self._entries: tuple[Entries, Entries] | None = (indices, values)
        self._lock = threading.Lock()

    def _add(self) -> None:
        with self._lock, taeda.no_grad():
            if self._entries is None:
                return
            indices, values = self._entries
            shape = self._result[0].shape
            whole = taeda.sparse_coo_tensor(taeda.cat(indices, 1), taeda.cat(values), shape).coalesce()
            for tensor in self._result:
                tensor.copy_(whole)
            self._entries = None

    def wait(self, timeout: timedelta | None = None) -> bool:
        done = super().wait(timeout)
        self._add()
        return done

    def is_completed(self) -> bool:
        if not super().is_completed():
            return False
        if self.exception() is None:
            self._add()
        return True

    def result(self) -> Any:
        if super().is_completed() and self.exception() is None:
            self._add()
        return self._result
