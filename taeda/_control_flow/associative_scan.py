"""All prefixes of an associative operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._control_flow.scan import leaves_along

_Leaves = list[Tensor]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
) -> Any:
    """What ``combine_fn`` makes of the first slice, of the first two, of the first three, and so on.

    Neighbours are combined first and their prefixes found in the same way (Blelloch, "Prefix Sums and Their
    Applications", 1990): about 2 n slices go through 2 log2 n calls.

    Args:
        combine_fn: takes two containers of tensors like ``xs``, of any size along ``dim``, and returns such a one. It
            must be associative.
        xs: a tensor or a container of tensors.
        dim: the dimension of the slices.
        reverse: begin with the last slice.
        combine_mode: 'pointwise' or 'generic', which make no difference here.

    Raises:
        ValueError: ``combine_fn`` cannot be called, or there is no such mode.
        RuntimeError: ``xs`` does not fit together.
        IndexError: ``dim`` is out of range.
    """
    if not callable(combine_fn):
        raise ValueError(f"taeda.associative_scan: combine_fn must be callable; got {combine_fn!r}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"taeda.associative_scan: combine_mode must be 'pointwise' or 'generic'; got {combine_mode!r}")
    leaves, spec, dim, _ = leaves_along("associative_scan", xs, dim)

    def combine(left: _Leaves, right: _Leaves) -> _Leaves:
        result = combine_fn(spec.unflatten(left), spec.unflatten(right))
        return list(spec.flatten_up_to(result))

    def flipped(values: _Leaves) -> _Leaves:
        return [value.flip(dim) for value in values] if reverse else values

    return spec.unflatten(flipped(_prefixes(combine, flipped(leaves), dim)))


def _prefixes(combine: Callable[[_Leaves, _Leaves], _Leaves], values: _Leaves, dim: int) -> _Leaves:
    count = values[0].shape[dim]
    if count < 2:
        return values

    def every_other(tensors: _Leaves, first: int, last: int) -> _Leaves:
        indices = taeda.arange(first, last, 2, device=tensors[0].device)
        return [t.index_select(dim, indices) for t in tensors]

    pairs = combine(every_other(values, 0, count - 1), every_other(values, 1, count))
    odd = _prefixes(combine, pairs, dim)  # those that end at slices 1, 3, 5, ...
    even = [t.narrow(dim, 0, 1) for t in values]
    if count > 2:
        before = [t.narrow(dim, 0, (count - 1) // 2) for t in odd]
        later = combine(before, every_other(values, 2, count))
        even = [taeda.cat(both, dim) for both in zip(even, later, strict=True)]
    return [_interleaved(a, b, dim) for a, b in zip(even, odd, strict=True)]


def _interleaved(even: Tensor, odd: Tensor, dim: int) -> Tensor:
    """The slices of both in turn; ``even`` may have one more."""
    count = odd.shape[dim]
    paired = taeda.stack([even.narrow(dim, 0, count), odd], dim + 1).flatten(dim, dim + 1)
    return taeda.cat([paired, even.narrow(dim, count, even.shape[dim] - count)], dim)
