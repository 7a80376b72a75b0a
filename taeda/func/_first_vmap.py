"""``vmap`` as PyTorch first had it, for programs that still import it from ``torch._vmap_internals``."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from taeda.func._batch import vmap as _batched
from taeda.utils._pytree import tree_flatten, tree_unflatten


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """`taeda.func.vmap`; with ``allow_none_pass_through`` the function may return None among its tensors."""
    if not allow_none_pass_through:
        return _batched(func, in_dims, out_dims)

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        shape: list[Any] = []

        def tensors_only(*inner: Any) -> Any:
            leaves, spec = tree_flatten(func(*inner))
            shape[:] = [spec, [leaf is None for leaf in leaves]]
            return [leaf for leaf in leaves if leaf is not None]

        found = iter(_batched(tensors_only, in_dims, out_dims)(*args))
        spec, absent = shape
        return tree_unflatten([None if none else next(found) for none in absent], spec)

    return wrapper


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """`taeda.func.vmap`, with a warning that this name is old."""
    warnings.warn("_vmap_internals.vmap is deprecated; use func.vmap", FutureWarning, stacklevel=2)
    return _vmap(func, in_dims, out_dims)
