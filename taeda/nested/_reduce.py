"""Functions along dimensions: reductions, softmax, scans."""

from __future__ import annotations

from typing import Any

import taeda
from taeda.nested._rows import on_sources
from taeda.nested._run import inner_dim, joined, rule
from taeda.nested._tensor import Nested, NestedTensor

_REDUCTIONS = (
    "all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "logsumexp", "max", "mean", "median", "min",
    "nanmean", "nanmedian", "nansum", "prod", "std", "sum", "var", "aminmax", "mode", "std_mean", "var_mean",
)  # fmt: skip
_ALONG_ONE = frozenset(["argmax", "argmin", "max", "median", "min", "mode", "nanmedian", "prod"])


@rule("softmax", "log_softmax", "softmin", "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "flip", "sort",
      "argsort")  # fmt: skip
def along(func: Any, input: Any, dim: Any = -1, *args: Any, **kwargs: Any) -> Any:
    """The result has the input's sizes."""
    if isinstance(dim, (list, tuple)) and len(dim) == 1:
        dim = dim[0]
    name = func.__name__
    at = inner_dim(input, -1 if dim is None else dim, name)
    inner = [at - 1] if name == "flip" else at - 1
    if isinstance(input, NestedTensor) and at == input._ragged_idx:
        return joined([func(part, inner, *args, **kwargs) for part in input.parts()], input.like)
    return on_sources(input, lambda x: func(x, inner, *args, **kwargs))


@rule(*_REDUCTIONS)
def reduce(func: Any, input: Any, dim: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Without ``dim`` of all elements; along the ragged dimension a plain tensor, a row for each component."""
    name = func.__name__
    if isinstance(dim, Nested) or isinstance(kwargs.get("other"), Nested):  # max(a, b)
        from taeda.nested._run import elementwise

        return elementwise(func, input, dim, *args, **kwargs)
    if dim is None or dim in ((), []):
        source = input.gapless()._values if isinstance(input, NestedTensor) else input.values()
        return func(source, *args, **kwargs)
    alone = isinstance(dim, int)
    if not alone and name in _ALONG_ONE:
        raise TypeError(f"taeda.{name}: takes one dimension; got {dim!r}")
    dims = sorted(inner_dim(input, one, name, may_be_batch=True) for one in ([dim] if alone else dim))
    if isinstance(input, NestedTensor):
        return _jagged(func, input, dims, alone, args, kwargs)
    if 0 in dims:
        raise RuntimeError(f"taeda.{name}: along dimension 0 the components of a nested tensor have not one size")
    return joined([func(part, _inner(dims, alone), *args, **kwargs) for part in input.parts()], input.like)


@rule("norm", "linalg_norm", "linalg_vector_norm")
def norm(func: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """``norm(x, p, dim, keepdim)``, whose order stands before the dimension."""
    order = {"p" if func.__name__ == "norm" else "ord": args[0]} if args else {}
    rest = dict(zip(("dim", "keepdim", "dtype"), args[1:], strict=False)) | kwargs
    dim, keepdim = rest.pop("dim", None), bool(rest.pop("keepdim", False))

    def along_dim(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return func(x, dim=dim, keepdim=keepdim, **order, **rest)

    along_dim.__name__ = func.__name__
    return reduce(along_dim, input, dim, keepdim=keepdim)


def _inner(dims: list[int], alone: bool) -> Any:
    return dims[0] - 1 if alone else [dim - 1 for dim in dims]


def _jagged(func: Any, x: NestedTensor, dims: list[int], alone: bool, args: Any, kwargs: Any) -> Any:
    ragged, name = x._ragged_idx, func.__name__
    if 0 in dims:
        if ragged not in dims:
            raise RuntimeError(f"taeda.{name}: along dimension 0 only together with the ragged dimension, {ragged}")
        keepdim = bool(kwargs.get("keepdim", args[0] if args else False))
        inner = [dim - 1 for dim in dims if dim]
        result = func(x.gapless()._values, inner if len(inner) > 1 else inner[0], *args, **kwargs)
        return result.unsqueeze(0) if keepdim else result
    if ragged in dims:
        parts = [func(part, _inner(dims, alone), *args, **kwargs) for part in x.parts()]
        return joined(parts, taeda.stack)
    keepdim = bool(kwargs.get("keepdim", args[0] if args and isinstance(args[0], bool) else False))
    shift = 0 if keepdim else sum(dim < ragged for dim in dims)
    made = func(x._values, _inner(dims, alone), *args, **kwargs)
    return joined([made], lambda values: x.with_values(values[0], ragged - shift))


@rule("equal", "allclose")
def same(func: Any, input: Any, other: Any, *args: Any, **kwargs: Any) -> bool:
    if type(input) is not type(other) or len(input) != len(other):
        return False
    pairs = zip(input.parts(), other.parts(), strict=True)
    return all(a.shape == b.shape and func(a, b, *args, **kwargs) for a, b in pairs)


@rule("is_same_size")
def is_same_size(func: Any, input: Any, other: Any) -> bool:
    if not (isinstance(input, Nested) and isinstance(other, Nested)):
        raise RuntimeError("taeda.is_same_size: either both tensors must be nested or none")
    if len(input) != len(other):
        return False
    return all(a.shape == b.shape for a, b in zip(input.parts(), other.parts(), strict=True))
