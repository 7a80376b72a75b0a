"""Reductions of sparse tensors: of the elements that the mask keeps, or of those that are stored without one.

An element that the mask keeps and nobody stores is a zero: so the result stores an element wherever the mask keeps one
of those that it is made of.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["coalesced", "is_sparse", "reduced"]


def is_sparse(x: Tensor) -> bool:
    """Whether its layout is a sparse one."""
    return x.layout != taeda.strided


def coalesced(x: Tensor) -> Tensor:
    """A sparse tensor that stores each place once."""
    return x.coalesce() if x.layout == taeda.sparse_coo else x


def _elements(name: str, input: Tensor, mask: Tensor | None, nothing: float) -> tuple[Tensor, Tensor]:
    """Coordinates and values of all elements that take part."""
    whole = input.to_sparse_coo().coalesce()
    indices, values = whole.indices(), whole.values()
    if mask is None:
        return indices, values
    count = whole.sparse_dim()
    kept = (mask.to_dense() if is_sparse(mask) else mask).bool().broadcast_to(input.shape)
    places = (kept.flatten(count).any(-1) if count < kept.dim() else kept).nonzero().T
    size = input.shape[:count]
    stored, wanted = _keys(indices, size), _keys(places, size)
    at = taeda.searchsorted(stored, wanted).clamp(max=max(len(stored) - 1, 0))
    found = values.new_zeros((len(wanted), *values.shape[1:]))
    if len(stored):
        hit = (stored[at] == wanted).reshape(-1, *[1] * (values.dim() - 1))
        found = taeda.where(hit, values[at], found)
    return places, taeda.where(kept[tuple(places)], found, values.new_full((), nothing))


def _keys(indices: Tensor, size: tuple[int, ...]) -> Tensor:
    """One number for each column of coordinates, in their order."""
    key = taeda.zeros(indices.shape[1], dtype=taeda.int64, device=indices.device)
    for row, extent in zip(indices, size):
        key = key * extent + row
    return key


def reduced(
    name: str, input: Tensor, mask: Tensor | None, dims: tuple[int, ...], keepdim: bool, nothing: float
) -> Tensor:
    """A sum, mean, product, largest or smallest element over ``dims``, in the layout of ``input``.

    Raises:
        ValueError: a compressed tensor whose result would be no matrix.
    """
    if input.layout != taeda.sparse_coo and not (keepdim and input.dim() == 2):
        raise ValueError(
            f"taeda.masked.{name}: reduces {input.layout} matrices with keepdim=True; got {tuple(input.shape)} and "
            f"keepdim={keepdim}"
        )
    indices, values = _elements(name, input, mask, nothing)
    count, dims = len(indices), tuple(d for d in dims if d < input.dim())
    inner = tuple(1 + d - count for d in dims if d >= count)
    for d in sorted(inner, reverse=True):
        values = getattr(taeda, name)(values, d, keepdim)
    left = [d for d in range(count) if d not in dims]
    size = tuple(input.shape[d] for d in left)
    keys, at = taeda.unique(_keys(indices[left], size), return_inverse=True)
    if none := not left and not len(keys) and name != "sum":  # of all elements, and there are none
        keys = keys.new_zeros(1)
    if name == "mean" and values.dim() > 1:
        raise ValueError("taeda.masked.mean: takes sparse tensors without dense dimensions; use sum and count")
    made = values.new_full((len(keys), *values.shape[1:]), nothing)
    places = at.reshape(-1, *[1] * (values.dim() - 1)).expand_as(values)
    made = made.scatter_reduce(0, places, values, name, include_self=False)
    if not left and not none and not made.any():  # a single number is stored unless it is zero
        keys, made = keys[:0], made[:0]
    rows, rest = {}, keys
    for d in reversed(left):
        rows[d], rest = rest % input.shape[d], rest // input.shape[d]
    if keepdim:
        rows |= {d: taeda.zeros_like(keys) for d in dims if d < count}
    shape = [1 if d in dims else n for d, n in enumerate(input.shape) if keepdim or d not in dims]
    coordinates = taeda.stack([rows[d] for d in sorted(rows)]) if rows else keys.new_zeros((0, len(keys)))
    result = taeda.sparse_coo_tensor(coordinates, made, shape, is_coalesced=True)
    return result if input.layout == taeda.sparse_coo else result.to_sparse(layout=input.layout)
