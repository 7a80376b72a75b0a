"""Functions of the main namespace that are easier said in Python: any number of tensors, or mixed arguments."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda._main.listed import listed
from taeda.types import _dtype

_native = _C._functions


def _tensors(arguments: tuple[Any, ...]) -> list[Tensor]:
    """``f(a, b)`` and ``f([a, b])`` alike."""
    if len(arguments) == 1 and isinstance(arguments[0], (list, tuple)):
        return list(arguments[0])
    return list(arguments)


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of ``tensors`` expanded to their common shape; RuntimeError if there is none."""
    return _native.broadcast_tensors(_tensors(tensors))


def _sizes(given: Any) -> Sequence[int]:
    if isinstance(given, Sequence):
        return given
    raise RuntimeError(  # what only iterates may never end
        f"taeda.broadcast_shapes: shapes are ints, or tuples or lists of them; got {type(given).__name__}"
    )


def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that shapes (sequences of ints, or ints) broadcast to; RuntimeError if they do not."""
    result: list[int] = []
    for shape in shapes:
        several = shape if isinstance(shape, (int, taeda.SymInt, tuple, list)) else _sizes(shape)
        sizes = [several] if isinstance(several, (int, taeda.SymInt)) else list(several)
        result = [1] * (len(sizes) - len(result)) + result
        for i, size in enumerate(reversed(sizes), 1):
            if size < 0:
                raise RuntimeError(f"taeda.broadcast_shapes: sizes must not be negative; got {tuple(sizes)}")
            if size != 1 and result[-i] not in (1, size):
                raise RuntimeError(
                    f"taeda.broadcast_shapes: the shapes {shapes} do not broadcast: {size} meets {result[-i]}"
                )
            result[-i] = size if result[-i] == 1 else result[-i]
    return _C.Size(result)


def _at_least(native: Any, tensors: tuple[Any, ...]) -> Any:
    if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
        return native(tensors[0])
    return tuple(native(tensor) for tensor in _tensors(tensors))


def atleast_1d(*tensors: Any) -> Any:
    """``tensors`` with at least one dimension; several (or a sequence) give a tuple."""
    return _at_least(_native.atleast_1d, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """``tensors`` with at least two dimensions; several (or a sequence) give a tuple."""
    return _at_least(_native.atleast_2d, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """``tensors`` with at least three dimensions; several (or a sequence) give a tuple."""
    return _at_least(_native.atleast_3d, tensors)


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with ``tensors`` (at most 2-d) along its diagonal and zeros elsewhere."""
    return _native.block_diag(list(tensors))


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the elements of 1-d ``tensors``, one a row."""
    return _native.cartesian_prod(list(tensors))


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinate grids of 1-d ``tensors``; ``indexing`` is "ij" (matrix, the default) or "xy" (Cartesian)."""
    items = _tensors(tensors)
    return _native.meshgrid(items) if indexing is None else _native.meshgrid(items, indexing=indexing)


def einsum(equation: Any, *operands: Any) -> Tensor:
    """The Einstein summation ``equation`` (as in ``"ij,jk->ik"``) over ``operands``.

    Also takes operands and index lists in turn: ``einsum(a, [0, 1], b, [1, 2], [0, 2])``.
    """
    if isinstance(equation, taeda.Tensor):
        return _einsum_sublists((equation, *operands))
    tensors = _tensors(operands)
    if not tensors:
        raise ValueError("taeda.einsum: needs at least one operand")
    if _C._has_torch_function(tensors):  # who takes calls over sees the operands themselves, not a list of them
        return taeda.overrides.handle_torch_function(einsum, tensors, equation, *tensors)
    return _native.einsum(equation, tensors)


def _einsum_sublists(arguments: tuple[Any, ...]) -> Tensor:
    result = arguments[-1] if len(arguments) % 2 else None
    operands = arguments[: len(arguments) // 2 * 2]
    return _native.einsum(_einsum_equation(operands[1::2], result), list(operands[::2]))


def _einsum_equation(subscripts: Sequence[Sequence[Any]], result: Sequence[Any] | None) -> str:
    """The equation of `einsum` that lists of numbers and Ellipsis stand for."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    def text(indices: Sequence[Any]) -> str:
        for i in indices:
            if i is not Ellipsis and not 0 <= i < len(letters):
                raise ValueError(f"taeda.einsum: indices must be from 0 to {len(letters) - 1}; got {i}")
        return "".join("..." if i is Ellipsis else letters[i] for i in indices)

    equation = ",".join(map(text, subscripts))
    return equation if result is None else f"{equation}->{text(result)}"


def _last_and_first(a: Tensor, count: int) -> tuple[list[int], list[int]]:
    if count < 0:
        raise RuntimeError(f"taeda.tensordot: dims must not be negative; got {count}")
    return list(range(a.dim() - count, a.dim())), list(range(count))


def _contracted(a: Tensor, dims: Tensor) -> tuple[list[int], list[int]]:
    """The dimensions of both operands that a tensor names: how many they are, or the two lists as its rows."""
    if dims.numel() == 1:
        return _last_and_first(a, int(dims.item()))
    left: list[int] = dims[0].tolist()
    right: list[int] = dims[1].tolist()
    return left, right


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Contracts dimensions of ``a`` with dimensions of ``b``: the last and first ``dims``, or the two given lists."""
    if isinstance(dims, taeda.Tensor):
        left, right = _contracted(a, dims)
    elif isinstance(dims, int):
        left, right = _last_and_first(a, dims)
    else:
        name = "taeda.tensordot: dims"
        left, right = ([d] if isinstance(d, int) else listed(name, d) for d in listed(name, dims))
    if out is None:
        return _native.tensordot(a, b, left, right)
    return _native.tensordot(a, b, left, right, out=out)


def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of 2-d ``matrices``, multiplied in the order that costs least."""
    result = _native.chain_matmul(_tensors(matrices))
    return result if out is None else out.resize_(result.size()).copy_(result)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of ``tensor`` along ``dim``: pieces of a size (the last may be smaller), or of the sizes in a list."""
    if isinstance(split_size_or_sections, (list, tuple)):
        return _native.split_with_sizes(tensor, split_size_or_sections, dim)
    return _native.split(tensor, int(split_size_or_sections), dim)


def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Tensor | None = None,
         dtype: _dtype | None = None) -> Tensor:  # fmt: skip
    """The norm of order ``p`` over ``dim``: a number for vectors, "fro" or "nuc" for matrices (two dimensions)."""
    dims = [dim] if isinstance(dim, int) else dim
    extra = {} if out is None else {"out": out}
    if p == "nuc":
        matrix = _C._linalg.linalg_matrix_norm
        return matrix(input, "nuc", dims if dims is not None else (-2, -1), keepdim, dtype=dtype, **extra)
    order = 2.0 if p in ("fro", None) else p
    return _C._linalg.linalg_vector_norm(input, order, dims, keepdim, dtype=dtype, **extra)


_CDIST_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm distance between each row of ``x1`` (..., P, M) and each of ``x2`` (..., R, M): (..., P, R).

    ``compute_mode`` says whether Euclidean distances come from a matrix product, which is quicker and less exact:
    ``use_mm_for_euclid_dist``, ``donot_use_mm_for_euclid_dist``, or from 26 rows on.
    """
    if compute_mode not in _CDIST_MODES:
        raise ValueError(f"taeda.cdist: compute_mode must be one of {list(_CDIST_MODES)}; got {compute_mode!r}")
    return _native.cdist(x1, x2, p, _CDIST_MODES[compute_mode])


def _asked_for(results: tuple[Tensor, ...], inverse: bool, counts: bool) -> Any:
    """The distinct values alone, or with what else was asked for."""
    chosen = (results[0], *results[1:2][: int(inverse)], *results[2:][: int(counts)])
    return chosen if len(chosen) > 1 else chosen[0]


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: int | None = None) -> Any:  # fmt: skip
    """The distinct elements of ``input`` (or slices along ``dim``) in rising order.

    With ``return_inverse`` also which of them each element is (the shape of ``input``, or a vector along ``dim``), with
    ``return_counts`` how often each stands in ``input``; both int64. They are always sorted.
    """
    if dim is None:
        results = _native._unique2(input, sorted, return_inverse, return_counts)
    else:
        results = _native.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _asked_for(results, return_inverse, return_counts)


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                       dim: int | None = None) -> Any:  # fmt: skip
    """The elements of ``input`` (or slices along ``dim``) without those that equal the one before.

    ``return_inverse`` and ``return_counts`` as for ``unique``.
    """
    results = _native.unique_consecutive(input, return_inverse, return_counts, dim)
    return _asked_for(results, return_inverse, return_counts)


def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """The positions of the elements of ``input`` that are not zero, in row-major order.

    An int64 matrix with a row for each of them, or with ``as_tuple`` a vector for each dimension, fit to index with.
    """
    if as_tuple:
        if out is not None:
            raise RuntimeError("taeda.nonzero: out is a matrix, as_tuple=True gives vectors; use one of them")
        return _native.nonzero_numpy(input)
    result = _native.argwhere(input)
    if out is None:
        return result
    if out.dtype != result.dtype:
        raise RuntimeError(f"taeda.nonzero: out must be of int64; got {out.dtype}")
    if out.numel() and out.shape != result.shape:
        warnings.warn(
            f"taeda.nonzero: out of shape {tuple(out.shape)} is resized to {tuple(result.shape)}", stacklevel=2
        )
    return out.resize_(result.shape).copy_(result)


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The short-time Fourier transform of signals ``input``, (time,) or (batch, time): (..., frequency, stretch).

    Stretches of ``n_fft`` samples, ``hop_length`` (``n_fft // 4``) apart, are weighted by ``window`` (``win_length``
    numbers, in the middle; all ones) and transformed. With ``center`` the signals are padded at both ends first, so
    that stretch t has its middle at sample ``t * hop_length``; without it ``align_to_window`` lets the first window,
    not the first stretch, begin at sample 0. ``normalized`` divides by ``sqrt(n_fft)``; ``onesided`` gives the first
    ``n_fft // 2 + 1`` frequencies (the default for real signals). ``return_complex`` must be given for real signals;
    False gives pairs of real numbers. RuntimeError where lengths and shapes do not fit.
    """
    return _native.stft(input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
                        return_complex, align_to_window)  # fmt: skip


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """The coordinates, one int64 tensor per dimension of ``shape``, of flat indices into an array of that shape.

    Raises:
        TypeError: ``indices`` is no tensor of integers, or ``shape`` holds something else than integers.
        ValueError: ``shape`` is negative somewhere.
    """
    if (
        not isinstance(indices, _C.TensorBase)
        or indices.is_floating_point()
        or indices.is_complex()
        or indices.dtype == _C.bool
    ):
        raise TypeError(f"taeda.unravel_index: indices must be a tensor of integers; got {indices!r}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(isinstance(size, int) for size in sizes):
        raise TypeError(f"taeda.unravel_index: shape must hold integers; got {shape!r}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"taeda.unravel_index: shape must not be negative; got {sizes}")
    coordinates, indices = [], indices.long()
    for size in reversed(sizes):
        coordinates.append(indices % size)
        indices = indices // size
    return _native.stack(coordinates[::-1], -1).unbind(-1) if coordinates else ()


_NOT_OVERRIDABLE = ("einsum", "broadcast_shapes")  # the one asks by itself, the other takes no tensors
for _name, _function in tuple(globals().items()):
    if isinstance(_function, FunctionType) and _name[0] != "_" and _name not in _NOT_OVERRIDABLE:
        globals()[_name] = _C._overridable(_function)

_OTHERS = ("istft", "lu", "pca_lowrank", "svd_lowrank")  # of the main namespace, which PyTorch has here too


def __getattr__(name: str) -> Any:
    if name in _OTHERS:
        return getattr(taeda, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*globals(), *_OTHERS))
