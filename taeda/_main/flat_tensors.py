"""Lists of tensors that travel together: flattened into one, in pieces of a size, in an order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All elements of tensors of one dtype, one tensor after the other, in a new one of one dimension."""
    return taeda.cat([tensor.reshape(-1) for tensor in tensors]) if tensors else taeda.empty(0)


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of ``flat`` with the shapes of ``tensors``: what `_flatten_dense_tensors` of them holds."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple(part.view_as(tensor) for part, tensor in zip(parts, tensors, strict=True))


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Lists of tensors of one dtype that take up to ``size_limit`` bytes, or are one tensor."""
    open_lists: dict[Any, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        taken, held = open_lists.get(tensor.dtype, ([], 0))
        if taken and held + size > size_limit:
            yield taken
            taken, held = [], 0
        open_lists[tensor.dtype] = ([*taken, tensor], held + size)
    for taken, _ in open_lists.values():
        yield taken


def _reorder_tensors_as(tensors: Iterable[Tensor], ordered_tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """``tensors``, which stand in the order of their dtypes, in the order of ``ordered_tensors``."""
    by_dtype: dict[Any, list[Tensor]] = {}
    for tensor in tensors:
        by_dtype.setdefault(tensor.dtype, []).append(tensor)
    rest = {dtype: iter(found) for dtype, found in by_dtype.items()}
    return tuple(next(rest[tensor.dtype]) for tensor in ordered_tensors)
