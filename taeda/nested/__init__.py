"""Tensors whose components differ in size (``torch.nested``).

Layout ``torch.strided`` takes components of any sizes, ``torch.jagged`` those that differ in one dimension, whose
values lie one after another. Gradients flow through both.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import taeda
from taeda import Tensor
from taeda.nested._tensor import Nested, NestedTensor, StridedNested, offsets_of

__all__ = [
    "as_nested_tensor",
    "masked_select",
    "narrow",
    "nested_tensor",
    "nested_tensor_from_jagged",
    "to_padded_tensor",
]


def nested_tensor(
    tensor_list: Sequence[Any],
    *,
    dtype: taeda.dtype | None = None,
    layout: taeda.layout | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A nested tensor of copies of the components, a leaf of the graph.

    Args:
        tensor_list: tensors, or what ``torch.tensor`` takes, of one number of dimensions.
        dtype, device: of the result; those of the first component by default.
        layout: ``torch.strided`` (the default) or ``torch.jagged``, whose components differ in one dimension only.
        requires_grad: whether gradients are kept in ``grad``.
        pin_memory: has no effect without an accelerator.

    Raises:
        TypeError: no list of tensors.
        RuntimeError: the components do not go together.
    """
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError(f"taeda.nested.nested_tensor: takes a list of tensors; got {type(tensor_list).__name__}")
    parts = [part.detach().clone() if isinstance(part, Tensor) else taeda.tensor(part) for part in tensor_list]
    _check_dtypes(parts, layout)
    made = _nest(_alike(parts, dtype, device), layout, dtype)
    return made.requires_grad_() if requires_grad else made


def as_nested_tensor(
    ts: Tensor | Sequence[Tensor],
    dtype: taeda.dtype | None = None,
    device: Any = None,
    layout: taeda.layout | None = None,
) -> Tensor:
    """A nested tensor of the components, into which gradients flow back.

    Args:
        ts: tensors of one number of dimensions; or one tensor, (B, ...), of whose rows it is made; or a nested one.
        dtype, device: of the result; those of the first component by default.
        layout: ``torch.strided`` or ``torch.jagged``; that of ``ts`` where it is nested, else ``torch.strided``.

    Raises:
        TypeError: no tensor and no list of tensors.
        RuntimeError: the components do not go together.
    """
    if isinstance(ts, Nested):
        if layout is None or layout == ts.layout:
            return ts.to(device=device or ts.device, dtype=dtype or ts.dtype)
        ts = ts.parts()
    if isinstance(ts, Tensor) and ts.dim() < 2:
        raise RuntimeError(
            f"taeda.nested.as_nested_tensor: the rows of a tensor must have a dimension; got shape {tuple(ts.shape)}"
        )
    is_list = isinstance(ts, (list, tuple)) and all(isinstance(part, Tensor) for part in ts)
    if not is_list and not isinstance(ts, Tensor):
        raise TypeError("taeda.nested.as_nested_tensor: takes a tensor or a list of tensors")
    _check_dtypes(ts, layout)
    return _nest(_alike(list(ts), dtype, device), layout, dtype)


def _check_dtypes(parts: Sequence[Tensor] | Tensor, layout: taeda.layout | None) -> None:
    """RuntimeError where a jagged tensor would be of several dtypes; for a strided one components are converted."""
    found = {part.dtype for part in parts}
    if layout == taeda.jagged and len(found) > 1:
        raise RuntimeError(
            f"taeda.nested: the components of a jagged tensor have one dtype; got {sorted(map(str, found))}"
        )


def _alike(parts: list[Tensor], dtype: taeda.dtype | None, device: Any) -> list[Tensor]:
    if not parts:
        return parts
    dtype, device = dtype or parts[0].dtype, device or parts[0].device
    return [part.to(device=device, dtype=dtype) for part in parts]


def _nest(parts: list[Tensor], layout: taeda.layout | None, dtype: taeda.dtype | None = None) -> Any:
    if layout not in (None, taeda.strided, taeda.jagged):
        raise RuntimeError(f"taeda.nested: the layout is torch.strided or torch.jagged; got {layout}")
    if layout != taeda.jagged:
        return StridedNested.of(parts, dtype)
    if not parts:
        raise RuntimeError("taeda.nested: a jagged tensor has one component, at least")
    if len({part.dim() for part in parts}) > 1 or parts[0].dim() == 0:
        raise RuntimeError("taeda.nested: the components must have one number of dimensions, at least 1")
    uneven = [at for at, sizes in enumerate(zip(*(p.shape for p in parts), strict=True)) if len(set(sizes)) > 1]
    if len(uneven) > 1:
        raise RuntimeError(
            "taeda.nested: components of a jagged tensor differ in one dimension; these do in dimensions "
            f"{uneven}: {[tuple(part.shape) for part in parts]}"
        )
    ragged = uneven[0] if uneven else 0
    lengths = [part.shape[ragged] for part in parts]
    values = taeda.cat(parts, ragged).detach_() if _all_leaves(parts) else taeda.cat(parts, ragged)
    offsets, limits = offsets_of(lengths, parts[0].device), (min(lengths), max(lengths))
    return NestedTensor.of(values, offsets, None, ragged + 1, limits)


def _all_leaves(parts: list[Tensor]) -> bool:
    return not any(part.requires_grad for part in parts)


def _check_integers(name: str, given: Any) -> None:
    place = f"taeda.nested.nested_tensor_from_jagged: {name}"
    if not isinstance(given, Tensor) or given.is_floating_point():
        raise TypeError(f"{place} must be a tensor of integers; got {given!r}")
    if given.dim() != 1:
        raise AssertionError(f"{place} must have one dimension; got shape {tuple(given.shape)}")


def nested_tensor_from_jagged(
    values: Tensor,
    offsets: Tensor | None = None,
    lengths: Tensor | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> Tensor:
    """The jagged tensor over ``values``, whose memory it shares and into which gradients flow back.

    Args:
        values: the components one after another along dimension ``jagged_dim - 1``.
        offsets: (B + 1), where each component begins and the last ends; from ``lengths`` if left out.
        lengths: (B), how long each component is; up to the next by default. With ``offsets``, there may be gaps.
        jagged_dim: which dimension of the result is ragged, 1 by default.
        min_seqlen, max_seqlen: the least and the greatest length, where they are known.

    Raises:
        RuntimeError: neither offsets nor lengths, or rows that are not there.
        TypeError, AssertionError: they are no integers, or not in one dimension.
    """
    for name, given in (("offsets", offsets), ("lengths", lengths)):
        if given is not None:
            _check_integers(name, given)
    if offsets is None:
        if lengths is None:
            raise RuntimeError("taeda.nested.nested_tensor_from_jagged: offsets or lengths are wanted")
        offsets, lengths = offsets_of(lengths.tolist(), values.device), None
    ragged = 1 if jagged_dim is None else jagged_dim
    if not 1 <= ragged <= values.dim():
        raise RuntimeError(
            f"taeda.nested.nested_tensor_from_jagged: jagged_dim must be from 1 to {values.dim()}; got {ragged}"
        )
    made = NestedTensor.of(values, offsets, lengths, ragged, (min_seqlen, max_seqlen))
    made._viewed = values
    return made


def narrow(
    tensor: Tensor, dim: int, start: int | Tensor, length: int | Tensor, layout: taeda.layout = taeda.strided
) -> Tensor:
    """Of each row of ``tensor``, (B, N, ...), ``length`` elements from ``start`` on: a nested view.

    Args:
        dim: the dimension that becomes ragged; 1 for jagged ones.
        start, length: numbers, or (B) of them.
        layout: of the result.

    Raises:
        RuntimeError: a jagged result along another dimension than 1, or elements that are not there.
    """
    count = tensor.shape[0]
    starts = [start] * count if isinstance(start, int) else start.tolist()
    lengths = [length] * count if isinstance(length, int) else length.tolist()
    if layout != taeda.jagged:
        rows = zip(tensor.unbind(0), starts, lengths, strict=True)
        return StridedNested.of([row.narrow(dim - 1, first, size) for row, first, size in rows])
    if dim != 1:
        raise RuntimeError(f"taeda.nested.narrow: a jagged result is narrowed along dimension 1; got {dim}")
    size = tensor.shape[1]
    if any(a < 0 or n < 0 or a + n > size for a, n in zip(starts, lengths, strict=True)):
        raise RuntimeError(f"taeda.nested.narrow: start and length reach outside of {size} elements")
    if _follow(starts, lengths, size):
        values = tensor.flatten(0, 1).narrow(0, starts[0], sum(lengths))
        made = NestedTensor.of(values, offsets_of(lengths, tensor.device))
        made._viewed = values
        return made
    begins = [row * size + first for row, first in enumerate(starts)]
    ends = [begin + length for begin, length in zip(begins, lengths, strict=True)]
    offsets = taeda.tensor([*begins, ends[-1] if ends else 0], device=tensor.device)
    made = NestedTensor.of(tensor.flatten(0, 1), offsets, taeda.tensor(lengths, device=tensor.device))
    made._viewed = made._values
    return made


def _follow(starts: list[int], lengths: list[int], size: int) -> bool:
    """Whether the pieces of rows of this size follow one another without gaps."""
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    return bool(starts) and not any(starts[1:]) and all(end == size for end in ends[:-1])


def masked_select(tensor: Tensor, mask: Tensor) -> Tensor:
    """The elements of each row where ``mask`` is True, as a jagged tensor, (rows, j).

    Args:
        tensor: (..., N); all but the last dimension count its rows.
        mask: bool, of ``tensor``'s shape, or what broadcasts to it.

    Raises:
        RuntimeError: the mask is not bool, has another layout, or does not broadcast.
    """
    if mask.layout != taeda.strided or mask.dtype != taeda.bool:
        raise RuntimeError(f"taeda.nested.masked_select: mask must be a strided bool tensor; got {mask.dtype}")
    whole = mask.expand(tensor.shape)
    counts = whole.sum(-1).flatten()
    return NestedTensor.of(tensor[whole], offsets_of(counts.tolist(), tensor.device))


def to_padded_tensor(input: Tensor, padding: float, output_size: Any = None) -> Tensor:
    """A plain tensor, (B, ...), of the largest sizes or ``output_size``, with ``padding`` where components end."""
    return input.to_padded_tensor(padding, output_size)


def _nested_tensor_from_mask(t: Tensor, mask: Tensor, mask_check: bool = True) -> Tensor:
    """Of each row of (B, N, D) the first elements, as many as are True in (B, N)."""
    if mask.dtype != taeda.bool or t.dim() != 3 or mask.shape != t.shape[:2]:
        raise RuntimeError(
            "taeda._nested_tensor_from_mask: takes (B, N, D) and a bool mask (B, N); got shapes "
            f"{tuple(t.shape)} and {tuple(mask.shape)}, {mask.dtype}"
        )
    if mask_check and not bool((mask.int().diff(dim=1) <= 0).all()):
        raise RuntimeError("taeda._nested_tensor_from_mask: True must stand on the left of each row of the mask")
    return StridedNested.of([row[: int(n)] for row, n in zip(t.unbind(0), mask.sum(1), strict=True)])


def _nested_from_padded(padded: Tensor, cpu_nested_shape_example: Tensor, fuse_transform_0213: bool = False) -> Tensor:
    """Of ``padded``, (B, ...), the components whose sizes are the rows of ``cpu_nested_shape_example``;
    ``fuse_transform_0213`` first joins the heads of (B, H, N, D)."""
    if fuse_transform_0213:
        padded = padded.transpose(1, 2).flatten(2)
    sizes = cpu_nested_shape_example.tolist()
    if len(sizes) != padded.shape[0] or any(len(size) != padded.dim() - 1 for size in sizes):
        raise RuntimeError(
            "taeda._nested_from_padded: the example must have a row of sizes for each component; got shapes "
            f"{tuple(padded.shape)} and {tuple(cpu_nested_shape_example.shape)}"
        )
    if any(n < 0 or n > most for size in sizes for n, most in zip(size, padded.shape[1:], strict=True)):
        raise RuntimeError(f"taeda._nested_from_padded: sizes must be within {tuple(padded.shape[1:])}; got {sizes}")
    parts = zip(padded.unbind(0), sizes, strict=True)
    return StridedNested.of([part[tuple(slice(n) for n in size)].contiguous() for part, size in parts], padded.dtype)


def _nested_from_padded_and_nested_example(padded: Tensor, nt_example: Tensor) -> Tensor:
    """Of ``padded``, (B, ...), the components of the sizes that those of ``nt_example`` have."""
    if not isinstance(nt_example, StridedNested):
        raise RuntimeError(
            "taeda._nested_from_padded_and_nested_example: the example must be a nested tensor of the strided layout; "
            f"got one of shape {tuple(nt_example.shape)} and layout {nt_example.layout}"
        )
    return _nested_from_padded(padded, nt_example._nested_tensor_size())


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "_internal":  # as a part of torch.nested, with its own part
            importlib.import_module("taeda.nested._internal.nested_tensor")
            return globals()["_internal"]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
