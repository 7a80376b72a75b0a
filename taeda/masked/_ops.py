"""Reductions and normalisations that leave out the elements that a mask marks False.

A mask is boolean, broadcasts to its tensor and has no more dimensions. Where every element of a slice is left out, the
result is what the op gives for no elements (0 for a sum, NaN for a mean).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import taeda
from taeda import Tensor
from taeda.masked._sparse import is_sparse, reduced

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip

_Dims = int | Sequence[int] | None


def _dims(name: str, dim: _Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions as sorted non-negative numbers; None and () mean all."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    bound = max(ndim, 1)
    found: list[int] = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if not -bound <= d < bound:
            raise IndexError(f"taeda.masked.{name}: dim {d} is out of range for {ndim} dimensions")
        if d % bound in found:
            raise RuntimeError(f"taeda.masked.{name}: dim {d} appears twice")
        found.append(d % bound)
    return tuple(sorted(found))


def _fitted(name: str, input: Tensor, mask: Tensor) -> Tensor:
    """``mask`` as a boolean tensor of the input's shape."""
    if mask.dim() > input.dim():
        raise IndexError(
            f"taeda.masked.{name}: the mask has {mask.dim()} dimensions, more than the input, which has {input.dim()}"
        )
    return mask.broadcast_to(input.shape).bool()


def _filled(name: str, input: Tensor, mask: Tensor | None, value: float) -> Tensor:
    """``input`` with ``value`` where the mask is False."""
    if mask is None:
        return input
    return taeda.where(_fitted(name, input, mask), input, taeda.tensor(value, dtype=input.dtype, device=input.device))


def _lowest(dtype: taeda.dtype) -> float:
    return -taeda.inf if dtype.is_floating_point or dtype.is_complex else taeda.iinfo(dtype).min


def _highest(dtype: taeda.dtype) -> float:
    return taeda.inf if dtype.is_floating_point or dtype.is_complex else taeda.iinfo(dtype).max


def _cast(input: Tensor, dtype: taeda.dtype | None) -> Tensor:
    return input if dtype is None else input.to(dtype)


def _widened(input: Tensor, dtype: taeda.dtype | None) -> Tensor:
    """Sums and products of integers are int64 unless a dtype is given."""
    if dtype is None and not (input.is_floating_point() or input.is_complex() or input.is_quantized):
        dtype = taeda.int64
    return _cast(input, dtype)


# --- reductions


def sum(input: Tensor, dim: _Dims = None, *, keepdim: bool | None = False, dtype: taeda.dtype | None = None,
        mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The sum over ``dim`` (all dimensions by default) of the elements that the mask keeps."""
    if is_sparse(input):
        return reduced("sum", _widened(input, dtype), mask, _dims("sum", dim, input.dim()), bool(keepdim), 0)
    filled = _filled("sum", _widened(input, dtype), mask, 0)
    return taeda.sum(filled, _dims("sum", dim, input.dim()), bool(keepdim), dtype=filled.dtype)


def prod(input: Tensor, dim: _Dims = None, *, keepdim: bool | None = False, dtype: taeda.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The product over ``dim`` of the elements that the mask keeps."""
    if is_sparse(input):
        return reduced("prod", _widened(input, dtype), mask, _dims("prod", dim, input.dim()), bool(keepdim), 1)
    result = _filled("prod", _widened(input, dtype), mask, 1)
    for d in reversed(_dims("prod", dim, input.dim())):
        result = taeda.prod(result, d, bool(keepdim), dtype=result.dtype)
    return result


def cumsum(input: Tensor, dim: int, *, dtype: taeda.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The running sum along ``dim``, of the elements that the mask keeps."""
    filled = _filled("cumsum", _cast(input, dtype), mask, 0)
    return taeda.cumsum(filled, *_dims("cumsum", dim, input.dim()), dtype=filled.dtype)


def cumprod(input: Tensor, dim: int, *, dtype: taeda.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The running product along ``dim``, of the elements that the mask keeps."""
    filled = _filled("cumprod", _cast(input, dtype), mask, 1)
    return taeda.cumprod(filled, *_dims("cumprod", dim, input.dim()), dtype=filled.dtype)


def amax(input: Tensor, dim: _Dims = None, *, keepdim: bool | None = False, dtype: taeda.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The largest over ``dim`` of the elements that the mask keeps."""
    cast = _cast(input, dtype)
    if is_sparse(input):
        return reduced("amax", cast, mask, _dims("amax", dim, input.dim()), bool(keepdim), _lowest(cast.dtype))
    filled = _filled("amax", cast, mask, _lowest(cast.dtype))
    return taeda.amax(filled, _dims("amax", dim, input.dim()), bool(keepdim))


def amin(input: Tensor, dim: _Dims = None, *, keepdim: bool | None = False, dtype: taeda.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The smallest over ``dim`` of the elements that the mask keeps."""
    cast = _cast(input, dtype)
    if is_sparse(input):
        return reduced("amin", cast, mask, _dims("amin", dim, input.dim()), bool(keepdim), _highest(cast.dtype))
    filled = _filled("amin", cast, mask, _highest(cast.dtype))
    return taeda.amin(filled, _dims("amin", dim, input.dim()), bool(keepdim))


def argmax(input: Tensor, dim: int | None = None, *, keepdim: bool | None = False, dtype: taeda.dtype | None = None,
           mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The position along ``dim``, by default in the flattened tensor, of the largest element that the mask keeps,
    in the dtype of the input unless one is given."""
    cast = _cast(input, dtype)
    return taeda.argmax(_filled("argmax", cast, mask, _lowest(cast.dtype)), dim, bool(keepdim)).to(cast.dtype)


def argmin(input: Tensor, dim: int | None = None, *, keepdim: bool | None = False, dtype: taeda.dtype | None = None,
           mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The position along ``dim``, by default in the flattened tensor, of the smallest element that the mask keeps,
    in the dtype of the input unless one is given."""
    cast = _cast(input, dtype)
    return taeda.argmin(_filled("argmin", cast, mask, _highest(cast.dtype)), dim, bool(keepdim)).to(cast.dtype)


def _count(name: str, input: Tensor, dims: tuple[int, ...], keepdim: bool, mask: Tensor | None) -> Tensor:
    """How many elements the mask keeps over ``dims``, int64."""
    kept = taeda.ones(input.shape, dtype=taeda.int64, device=input.device)
    return taeda.sum(_filled(name, kept, mask, 0), dims, keepdim)


def mean(input: Tensor, dim: _Dims = None, *, keepdim: bool | None = False, dtype: taeda.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The mean over ``dim`` of the elements that the mask keeps; NaN of none."""
    dims = _dims("mean", dim, input.dim())
    if is_sparse(input):
        return reduced("mean", _cast(input, dtype), mask, dims, bool(keepdim), taeda.nan)
    total = sum(input, dims, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _count("mean", input, dims, bool(keepdim), mask)


def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: taeda.dtype | None = None,
           mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The median along ``dim`` of the elements that the mask keeps, the lower one of two; NaN of none."""
    cast = _cast(input, dtype)
    (d,) = _dims("median", dim, input.dim())
    if cast.is_floating_point():
        return taeda.nanmedian(_filled("median", cast, mask, taeda.nan), d, keepdim).values
    if mask is not None and not bool(_fitted("median", cast, mask).any(d).all()):
        raise ValueError(f"taeda.masked.median: the mask keeps nothing of a slice of {cast.dtype}, which has no NaN")
    filled = _filled("median", cast.double(), mask, taeda.nan)
    return taeda.nanmedian(filled, d, keepdim).values.to(cast.dtype)


def norm(input: Tensor, ord: float | None = 2.0, dim: _Dims = None, *, keepdim: bool | None = False,
         dtype: taeda.dtype | None = None, mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The vector norm of order ``ord`` over ``dim``, of the elements that the mask keeps."""
    order = 2.0 if ord is None else ord
    filled = _filled("norm", _cast(input, dtype), mask, taeda.inf if order < 0 else 0)
    return taeda.linalg.vector_norm(filled, order, _dims("norm", dim, input.dim()), bool(keepdim), dtype=dtype)


def logsumexp(input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: taeda.dtype | None = None,
              mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The logarithm of the sum of exponentials over ``dim``, of the elements that the mask keeps."""
    cast = _cast(input, dtype)
    filled = _filled("logsumexp", cast, mask, _lowest(cast.dtype))
    return taeda.logsumexp(filled, _dims("logsumexp", dim, input.dim()), keepdim).to(cast.dtype)


def _variance(name: str, input: Tensor, dim: _Dims, unbiased: bool | None, correction: float | None,
              keepdim: bool | None, dtype: taeda.dtype | None, mask: Tensor | None) -> Tensor:  # fmt: skip
    if unbiased is not None and correction is not None:
        raise RuntimeError(f"taeda.masked.{name}: takes unbiased or correction, not both")
    by = correction if correction is not None else float(unbiased is not False)
    if dtype is None and not (input.is_floating_point() or input.is_complex()):
        dtype = taeda.float32
    cast, dims = _cast(input, dtype), _dims(name, dim, input.dim())
    count = _count(name, cast, dims, True, mask)
    centre = taeda.sum(_filled(name, cast, mask, 0), dims, True) / count
    distance = _filled(name, cast - centre, mask, 0)
    total = taeda.sum(distance * distance.conj(), dims, bool(keepdim))
    return total / taeda.clamp_min(count.reshape(total.shape) - by, 0).to(total.dtype)


def var(input: Tensor, dim: _Dims = None, unbiased: bool | None = None, *, correction: float | None = None,
        keepdim: bool | None = False, dtype: taeda.dtype | None = None,
        mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The variance over ``dim`` of the elements that the mask keeps: their squared distances from the mean, summed and
    divided by their number less ``correction`` (1). Of complex input it is complex, with no imaginary part."""
    return _variance("var", input, dim, unbiased, correction, keepdim, dtype, mask)


def std(input: Tensor, dim: _Dims = None, unbiased: bool | None = None, *, correction: float | None = None,
        keepdim: bool | None = False, dtype: taeda.dtype | None = None,
        mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The square root of ``var``."""
    return taeda.sqrt(_variance("std", input, dim, unbiased, correction, keepdim, dtype, mask))


# --- along a dimension, result of the input's shape


def _along(name: str, op: Callable[..., Tensor], input: Tensor, dim: int, dtype: taeda.dtype | None,
           mask: Tensor | None, value: Callable[[taeda.dtype], float]) -> Tensor:  # fmt: skip
    cast = _cast(input, dtype)
    return op(_filled(name, cast, mask, value(cast.dtype)), *_dims(name, dim, input.dim()))


def softmax(input: Tensor, dim: int, *, dtype: taeda.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Softmax along ``dim`` over the elements that the mask keeps; the others get 0."""
    return _along("softmax", taeda.nn.functional.softmax, input, dim, dtype, mask, _lowest)


def log_softmax(input: Tensor, dim: int, *, dtype: taeda.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of ``softmax``."""
    return _along("log_softmax", taeda.nn.functional.log_softmax, input, dim, dtype, mask, _lowest)


def softmin(input: Tensor, dim: int, *, dtype: taeda.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """``softmax`` of the negated input."""
    return _along("softmin", taeda.nn.functional.softmin, input, dim, dtype, mask, _highest)


def normalize(input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: taeda.dtype | None = None,
              mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The elements that the mask keeps divided by their norm along ``dim``, or by ``eps`` where it is smaller."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled("normalize", _cast(input, dtype), mask, 0) / length.clamp_min(eps)


def logaddexp(input: Tensor, other: Tensor, *, dtype: taeda.dtype | None = None, input_mask: Tensor | None = None,
              other_mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """``log(exp(input) + exp(other))`` of the elements that the masks keep."""
    if not (input.is_floating_point() and other.is_floating_point()):
        raise ValueError(f"taeda.masked.logaddexp: takes floating-point tensors; got {input.dtype} and {other.dtype}")
    kept = (_filled("logaddexp", t, m, -taeda.inf) for t, m in ((input, input_mask), (other, other_mask)))
    return _cast(taeda.logaddexp(*kept), dtype)
