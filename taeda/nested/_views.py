"""Functions that give other sizes: views, pieces, and what joins tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.nested._ragged import RaggedSize
from taeda.nested._rows import renested
from taeda.nested._run import check_same, inner_dim, rule
from taeda.nested._tensor import Nested, NestedTensor, StridedNested, offsets_of


def _not_ragged(x: Nested, at: int, name: str) -> None:
    if isinstance(x, NestedTensor) and at == x._ragged_idx:
        raise RuntimeError(
            f"taeda.{name}: dimension {at} of {tuple(x.shape)} is the ragged one, which has not one size"
        )


def _each(x: Nested, function: Any, ragged: int | None = None) -> Any:
    """``function`` of the values, where the ragged dimension then stands at ``ragged``; or of each component."""
    if isinstance(x, NestedTensor):
        return x.with_values(function(x._values), ragged)
    return x.like([function(part) for part in x.parts()])


# --- the order of dimensions
@rule("transpose", "swapaxes", "swapdims", "transpose_", "mT.__get__", "mH.__get__", "t")
def transpose(func: Any, input: Any, dim0: int = -2, dim1: int = -1, *_: Any) -> Any:
    a, b = (inner_dim(input, dim, "transpose", may_be_batch=True) for dim in (dim0, dim1))
    if 0 in (a, b):
        wrong = ValueError if isinstance(input, NestedTensor) else RuntimeError
        raise wrong("taeda.transpose: dimension 0 of a nested tensor, which counts its components, stays first")
    ragged = {a: b, b: a}.get(input._ragged_idx, input._ragged_idx) if isinstance(input, NestedTensor) else None
    return _each(input, lambda x: x.transpose(a - 1, b - 1), ragged)


@rule("T.__get__", "H.__get__")
def reverse(func: Any, input: Any, *_: Any) -> Any:
    raise ValueError("taeda.Tensor.T: dimension 0 of a nested tensor stays where it is; mT swaps the last two")


@rule("permute")
def permute(func: Any, input: Any, *dims: Any) -> Any:
    given = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    order = [inner_dim(input, d, "permute", may_be_batch=True) for d in given]
    wrong = ValueError if isinstance(input, NestedTensor) else RuntimeError
    if sorted(order) != list(range(input.dim())):
        raise wrong(f"taeda.permute: wants each of the {input.dim()} dimensions once; got {tuple(given)}")
    if order[0] != 0:
        raise wrong("taeda.permute: dimension 0 of a nested tensor stays where it is")
    ragged = order.index(input._ragged_idx) if isinstance(input, NestedTensor) else None
    return _each(input, lambda x: x.permute([d - 1 for d in order[1:]]), ragged)


@rule("movedim", "moveaxis")
def movedim(func: Any, input: Any, source: Any, destination: Any) -> Any:
    """By the permutation that it is."""
    order = list(func(taeda.empty(*range(2, 2 + input.dim()), device="meta"), source, destination).shape)
    return permute(func, input, [size - 2 for size in order])


@rule("view_as", "reshape_as", "expand_as")
def same_as(func: Any, input: Any, other: Any) -> Any:
    """Itself, if ``other`` has its sizes."""
    if not (isinstance(input, Nested) and isinstance(other, Nested)):
        raise RuntimeError(f"taeda.{func.__name__}: both tensors must be nested")
    check_same(input, other, func.__name__)
    if isinstance(input, NestedTensor):
        return (
            reshape(taeda.Tensor.view, input, other.shape)
            if func.__name__ != "expand_as"
            else expand(func, input, other.shape)
        )
    return input.like([func(a, b) for a, b in zip(input.parts(), other.parts(), strict=True)])


@rule("squeeze")
def squeeze(func: Any, input: Any, dim: Any = None) -> Any:
    if dim is None:
        raise RuntimeError("taeda.squeeze: a nested tensor wants dim")
    at = inner_dim(input, dim, "squeeze")
    if isinstance(input, NestedTensor) and (at == input._ragged_idx or input._values.shape[at - 1] != 1):
        return input
    ragged = input._ragged_idx - (at < input._ragged_idx) if isinstance(input, NestedTensor) else None
    return _each(input, lambda x: x.squeeze(at - 1), ragged)


@rule("unsqueeze")
def unsqueeze(func: Any, input: Any, dim: int) -> Any:
    at = dim % (input.dim() + 1)
    if at == 0:
        raise RuntimeError("taeda.unsqueeze: dimension 0 of a nested tensor stays where it is")
    ragged = input._ragged_idx + (at <= input._ragged_idx) if isinstance(input, NestedTensor) else None
    return _each(input, lambda x: x.unsqueeze(at - 1), ragged)


# --- other sizes
@rule("view", "reshape", "_unsafe_view")
def reshape(func: Any, input: Any, *sizes: Any) -> Any:
    given = list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else list(sizes)
    name = func.__name__
    if len(given) == 1 and isinstance(given[0], taeda.dtype):
        return _each(input, lambda x: func(x, given[0]))
    if not given or (given[0] != len(input) and given[0] != -1):
        raise RuntimeError(f"taeda.{name}: dimension 0 stays {len(input)}; got {given}")
    if isinstance(input, NestedTensor):
        return _reshape_jagged(func, input, given)
    results = []
    for part in input.parts():
        inner = [part.shape[at] if size == -1 and at < part.dim() else size for at, size in enumerate(given[1:])]
        results.append(func(part, inner))
    return input.like(results)


def _reshape_jagged(func: Any, x: NestedTensor, sizes: list[Any]) -> Any:
    inner = sizes[1:]
    marked = [at for at, size in enumerate(inner) if isinstance(size, RaggedSize)]
    marked = marked or [at for at, size in enumerate(inner) if size == -1]
    if len(marked) > 1 and x._ragged_idx - 1 in marked:  # where it stands; the others are found out
        marked = [x._ragged_idx - 1]
    if len(marked) != 1:
        raise RuntimeError(
            f"taeda.{func.__name__}: to {sizes} from {tuple(x.shape)}: the ragged dimension must stand in one place, "
            "as -1 or as its size"
        )
    at, old = marked[0], x._ragged_idx - 1
    before, stays = inner[:at], x._values.shape[:old]
    if -1 not in before and math.prod(before) == math.prod(stays):
        inner[at] = x._values.shape[old]
        return x.with_values(func(x._values, inner), at + 1)
    parts = [p.reshape([*before, p.shape[old], *inner[at + 1 :]]) for p in x.parts()]
    return x.packed(parts, at + 1)


@rule("flatten")
def flatten(func: Any, input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    first, last = inner_dim(input, start_dim, "flatten"), inner_dim(input, end_dim, "flatten")
    if isinstance(input, NestedTensor) and first < last and first <= input._ragged_idx <= last:
        raise RuntimeError(f"taeda.flatten: dimensions {first} to {last} hold the ragged one of {tuple(input.shape)}")
    ragged = None
    if isinstance(input, NestedTensor):
        ragged = input._ragged_idx - (last - first if last < input._ragged_idx else 0)
    return _each(input, lambda x: x.flatten(first - 1, last - 1), ragged)


@rule("unflatten")
def unflatten(func: Any, input: Any, dim: int, sizes: Sequence[int]) -> Any:
    at = inner_dim(input, dim, "unflatten")
    _not_ragged(input, at, "unflatten")
    ragged = None
    if isinstance(input, NestedTensor):
        ragged = input._ragged_idx + (len(sizes) - 1 if at < input._ragged_idx else 0)
    return _each(input, lambda x: x.unflatten(at - 1, list(sizes)), ragged)


@rule("expand")
def expand(func: Any, input: Any, *sizes: Any) -> Any:
    given = list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else list(sizes)
    if len(given) != input.dim() or given[0] not in (-1, len(input)):
        raise RuntimeError(f"taeda.Tensor.expand: keeps the dimensions of a nested tensor, {input.dim()}; got {given}")
    inner = [-1 if isinstance(size, RaggedSize) else size for size in given[1:]]
    return _each(input, lambda x: x.expand(inner))


# --- pieces
@rule("unbind")
def unbind(func: Any, input: Any, dim: int = 0) -> tuple[Tensor, ...]:
    at = inner_dim(input, dim, "unbind", may_be_batch=True)
    if at == 0:
        return tuple(input.parts())
    _not_ragged(input, at, "unbind")
    return tuple(select(func, input, at, i) for i in range(input.size(at)))


@rule("select")
def select(func: Any, input: Any, dim: int, index: int) -> Any:
    at = inner_dim(input, dim, "select", may_be_batch=True)
    if at == 0:
        return _component(input, index)
    if isinstance(input, NestedTensor) and at == input._ragged_idx:
        return taeda.stack([part.select(at - 1, index) for part in input.parts()])
    ragged = input._ragged_idx - (at < input._ragged_idx) if isinstance(input, NestedTensor) else None
    return _each(input, lambda x: x.select(at - 1, index), ragged)


def _component(x: Nested, index: int) -> Tensor:
    if not -len(x) <= index < len(x):
        raise IndexError(f"taeda.Tensor.__getitem__: component {index} of {len(x)}")
    return x.parts()[index]


@rule("__getitem__")
def getitem(func: Any, input: Any, index: Any) -> Any:
    """The first index is of components, the others are of each of them."""
    first, *rest = index if isinstance(index, tuple) else (index,)
    if first is Ellipsis:
        parts, rest = input.parts(), [Ellipsis, *rest]
    elif isinstance(first, slice):
        parts = input.parts()[first]
    elif isinstance(input, NestedTensor) and all(isinstance(x, Tensor) for x in (first, *rest)) and rest:
        return input._values[value_index(input, (first, *rest))]
    elif isinstance(first, (list, Tensor)) and not isinstance(first, Nested) and taeda.as_tensor(first).dim() == 1:
        parts = [_component(input, i) for i in taeda.arange(len(input))[first].tolist()]
        return getitem(func, nest_as(input, parts), (slice(None), *rest)) if rest else nest_as(input, parts)
    elif isinstance(first, int) or (isinstance(first, Tensor) and first.dim() == 0):
        part = _component(input, int(first))
        return part[tuple(rest)] if rest else part
    else:
        raise IndexError(
            f"taeda.Tensor.__getitem__: the first index of a nested tensor is a number or a slice; got {first!r}"
        )
    if rest:
        parts = [part[tuple(rest)] for part in parts]
    if not isinstance(input, NestedTensor):
        return input.like(parts)
    return _jagged_from(parts, input) if len(parts) != len(input) or rest else input


def value_index(x: NestedTensor, indices: Sequence[Tensor], name: str = "__getitem__") -> tuple[Tensor, ...]:
    """Where in the values the elements at these indices lie: one tensor for each of the first dimensions, up to the
    ragged one at least, which broadcast against one another.

    Raises:
        IndexError: there are no such elements; RuntimeError where they are to be written.
        RuntimeError: too few indices, or such that are no integers.
    """
    at = x._ragged_idx
    if len(indices) <= at or any(index.dtype in (taeda.bool, taeda.uint8) for index in indices):
        raise RuntimeError(
            f"taeda.Tensor.{name}: tensors that index a jagged tensor are of integers, one for each dimension up "
            f"to the ragged one, {at}; got {[str(index.dtype) for index in indices]}"
        )
    batch, row = taeda.broadcast_tensors(indices[0], indices[at])
    bounds = taeda.tensor(x._bounds, dtype=taeda.int64, device=x.device).reshape(-1, 2)
    starts, ends = bounds[batch].unbind(-1)
    row = row + taeda.where(row < 0, ends, starts)
    if bool(((row < starts) | (row >= ends)).any()):
        wrong = IndexError if name == "__getitem__" else RuntimeError
        raise wrong(f"taeda.Tensor.{name}: an index is outside of the component that it is for")
    return (*indices[1:at], row, *indices[at + 1 :])


@rule("index_put_", "index_put")
def index_put(func: Any, input: Any, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Any:
    """Writes to the elements that the indices of all dimensions up to the ragged one choose together; indices of the
    first alone choose components, each of which takes the values."""
    if not isinstance(input, NestedTensor):
        raise NotImplementedError(f"taeda.{func.__name__}: takes a jagged tensor; write to the components, x.unbind()")
    target = input if func.__name__ == "index_put_" else input.with_values(input._values.clone())
    if len(indices) > 1:
        target._values.index_put_(value_index(input, indices, func.__name__), values, accumulate)
        return target
    parts = target.parts()
    for at in taeda.arange(len(target))[indices[0]].flatten().tolist():
        part = parts[at]
        part.copy_(part + values if accumulate else values)
    return target


def _jagged_from(parts: list[Tensor], x: NestedTensor) -> Any:
    """Pieces of components: jagged where one dimension may still differ, a plain tensor where all are of one size."""
    if parts and parts[0].dim() == 0:
        return taeda.stack(parts)
    if len(parts) == len(x):
        made = renested(parts, x)
        if isinstance(made, NestedTensor):
            return made
    if len(parts) == len(x) and len({part.shape for part in parts}) == 1:
        return taeda.stack(parts)
    ragged = x._ragged_idx
    offsets = offsets_of([part.shape[ragged - 1] for part in parts], x.device)
    return NestedTensor.of(taeda.cat(parts, ragged - 1), offsets, None, ragged)


@rule("narrow")
def narrow(func: Any, input: Any, dim: int, start: Any, length: int) -> Any:
    at = inner_dim(input, dim, "narrow", may_be_batch=True)
    if at == 0:
        parts = input.parts()[start : start + length]
        return _jagged_from(parts, input) if isinstance(input, NestedTensor) else input.like(parts)
    _not_ragged(input, at, "narrow")
    return _each(input, lambda x: x.narrow(at - 1, start, length))


@rule("dsplit")
def dsplit(func: Any, input: Any, count: Any) -> tuple[Any, ...]:
    return split(taeda.tensor_split, input, count, 2)


@rule("split", "split_with_sizes", "chunk", "tensor_split", "unsafe_split", "unsafe_chunk")
def split(func: Any, input: Any, count: Any, dim: int = 0) -> tuple[Any, ...]:
    at = inner_dim(input, dim, func.__name__, may_be_batch=True)
    if at == 0:
        order = func(taeda.arange(len(input)), count)
        pieces = [[input.parts()[int(i)] for i in piece] for piece in order]
        return tuple(_jagged_from(p, input) if isinstance(input, NestedTensor) else input.like(p) for p in pieces)
    _not_ragged(input, at, func.__name__)
    if isinstance(input, NestedTensor):
        return tuple(input.with_values(piece) for piece in func(input._values, count, at - 1))
    pieces = [func(part, count, at - 1) for part in input.parts()]
    counts = {len(row) for row in pieces}
    if len(counts) > 1:
        raise RuntimeError(f"taeda.{func.__name__}: the components differ in dimension {at}: {sorted(counts)} pieces")
    return tuple(input.like(list(column)) for column in zip(*pieces, strict=True))


# --- joining
@rule("cat", "concat", "concatenate")
def cat(func: Any, tensors: Sequence[Any], dim: int = 0) -> Any:
    if not all(isinstance(x, Nested) for x in tensors):
        raise RuntimeError("taeda.cat: nested tensors and others; as_nested_tensor() makes them one")
    first = tensors[0]
    at = inner_dim(first, dim, "cat", may_be_batch=True)
    kinds = {(x.layout, x.dim(), len(x) if at else None) for x in tensors}
    if len(kinds) > 1:
        told = [f"{len(x)} components of {x.dim() - 1} dimensions, {x.layout}" for x in tensors]
        raise RuntimeError(f"taeda.cat: along dimension {dim} nested tensors of other kinds: {told}")
    if at == 0:
        parts = [part for x in tensors for part in x.parts()]
        return nest_as(first, parts)
    return nest_as(first, [taeda.cat(row, at - 1) for row in zip(*(x.parts() for x in tensors), strict=True)])


@rule("stack")
def stack(func: Any, tensors: Sequence[Any], dim: int = 0) -> Any:
    return cat(func, [unsqueeze(func, x, dim) for x in tensors], dim)


def nest_as(like: Nested, parts: list[Tensor]) -> Any:
    """Components of other lengths as a nested tensor of the same layout."""
    if not isinstance(like, NestedTensor):
        return StridedNested.of(parts)
    if len(parts) == len(like):
        return renested(parts, like)
    ragged = like._ragged_idx
    offsets = offsets_of([part.shape[ragged - 1] for part in parts], like.device)
    return NestedTensor.of(taeda.cat(parts, ragged - 1), offsets, None, ragged)


@rule("to_padded_tensor")
def to_padded_tensor(func: Any, input: Any, padding: float, output_size: Any = None) -> Tensor:
    """(B, ...) with ``padding`` where components end."""
    parts = input.parts()
    if not parts:
        return taeda.empty(0, dtype=input.dtype, device=input.device)
    if isinstance(input, NestedTensor) and output_size is not None:  # may cut off what is longer
        at = input._ragged_idx
        parts = [part.narrow(at - 1, 0, min(part.shape[at - 1], output_size[at])) for part in parts]
    largest = [max(sizes) for sizes in zip(*(part.shape for part in parts), strict=True)]
    inner = largest if output_size is None else list(output_size)[1:]
    if len(inner) != len(largest) or any(size < least for size, least in zip(inner, largest, strict=True)):
        raise RuntimeError(
            f"taeda.nested.to_padded_tensor: output_size {tuple(output_size)} is smaller than the components, "
            f"{(len(parts), *largest)}"
        )
    padded = []
    for part in parts:
        ends = [n for size, own in zip(reversed(inner), reversed(part.shape), strict=True) for n in (0, size - own)]
        padded.append(taeda.nn.functional.pad(part, ends, value=padding))
    more = 0 if output_size is None else output_size[0] - len(parts)
    padded += [taeda.full_like(padded[0], padding)] * more
    return taeda.stack(padded)
