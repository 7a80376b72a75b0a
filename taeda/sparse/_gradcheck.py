"""``gradcheck`` of functions of sparse tensors: the derivative by stored values, which are dense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.sparse._convert import like
from taeda.sparse._parts import COO, build, coalesce, is_sparse, pattern_of, values_of


def sparse_gradcheck(gradcheck: Callable[..., bool], func: Callable[..., Any], inputs: Any, options: dict[str, Any]
                     ) -> bool:  # fmt: skip
    """Hands ``gradcheck`` the function of the values; sparse results are compared as dense ones."""
    given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    masked = bool(options.pop("masked", False))
    options.pop("check_sparse_nnz", None)
    patterns: dict[int, Any] = {}
    values: list[Any] = []
    for i, x in enumerate(given):
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
        if isinstance(results, (tuple, list)):
            return tuple(map(_dense, results))
        return _dense(results)

    return gradcheck(of_values, tuple(values), **options)


def _dense(x: Any) -> Any:
    return x.to_dense() if is_sparse(x) else x


def _with_all_stored(x: Tensor) -> Tensor:
    """The same tensor, with zeros stored everywhere."""
    marks = taeda.ones(x.shape, dtype=taeda.bool).to_sparse() if x.layout == COO else None
    pattern = pattern_of(marks if marks is not None else like(taeda.ones(x.shape, dtype=x.dtype).to_sparse(), x))
    from taeda.sparse._parts import values_at

    return build(pattern, values_at(x.to_dense(), pattern))
