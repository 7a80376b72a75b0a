"""``gradcheck`` of functions of sparse tensors: the derivative by stored values, which are dense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.sparse._convert import compress
from taeda.sparse._parts import (
    BLOCKED,
    COO,
    Pattern,
    block_of,
    build,
    coalesce,
    dense_dim,
    is_sparse,
    pattern_of,
    sparse_dim,
    values_at,
    values_of,
)


def by_values(
    func: Callable[..., Any], inputs: Sequence[Any], masked: bool
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function of the values of sparse inputs, and these; sparse results become dense ones.

    Unless ``masked``, the inputs store zeros everywhere first.
    """
    patterns: dict[int, Pattern] = {}
    values: list[Any] = []
    for i, x in enumerate(inputs):
        if is_sparse(x) and x.requires_grad:
            stored = x.detach() if masked else _with_all_stored(x.detach())
            stored = coalesce(stored) if stored.layout == COO else stored
            patterns[i] = pattern_of(stored)
            values.append(values_of(stored).clone().requires_grad_())
        else:
            values.append(x)

    def of_values(*arguments: Any) -> Any:
        rebuilt = [build(patterns[i], x) if i in patterns else x for i, x in enumerate(arguments)]
        results = func(*rebuilt)
        return tuple(map(_dense, results)) if isinstance(results, (tuple, list)) else _dense(results)

    return of_values, tuple(values)


def _dense(x: Any) -> Any:
    return x.to_dense() if is_sparse(x) else x


def _with_all_stored(x: Tensor) -> Tensor:
    """The same tensor, with zeros stored everywhere."""
    ones = taeda.ones(x.shape, dtype=taeda.bool)
    if x.layout == COO:
        pattern = pattern_of(ones.to_sparse(sparse_dim(x)))
    else:
        pattern = pattern_of(compress(ones, x.layout, block_of(x) if x.layout in BLOCKED else None, dense_dim(x)))
    return build(pattern, values_at(x.to_dense(), pattern))
