"""Cutting a batch into microbatches, and joining what became of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.utils import _pytree as pytree

__all__ = ["TensorChunkSpec", "split_args_kwargs_into_chunks", "merge_chunks"]


class _CustomReducer:
    """Results that are combined by a function of ``(so far, next)``, from ``init_value`` on."""

    def __init__(self, init_value: Any, reduce_fn: Callable[[Any, Any], Any]) -> None:
        self.init_value, self.reduce_fn = init_value, reduce_fn


class _LossReducer(_CustomReducer):
    """The same, for losses."""


sum_reducer = _LossReducer(0.0, lambda a, b: a + b)


class TensorChunkSpec:
    """A tensor is cut along ``split_dim``."""

    def __init__(self, split_dim: int) -> None:
        self.split_dim = split_dim

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}({self.split_dim})"

    def __str__(self) -> str:
        return f"TensorChunkSpec({self.split_dim})"

    @staticmethod
    def from_tuple(chunk_dims: tuple[int, ...]) -> Any:
        """One for each positional argument."""
        return pytree.tree_map(TensorChunkSpec, chunk_dims)

    @staticmethod
    def from_dict(chunk_dims: dict[str, int]) -> Any:
        """One for each argument by name."""
        return pytree.tree_map(TensorChunkSpec, chunk_dims)


class _Replicate:
    """Every microbatch gets the whole value."""


def _default_spec(value: Any) -> Any:
    return TensorChunkSpec(0) if isinstance(value, Tensor) else _Replicate()


def _pieces(value: Any, spec: Any, chunks: int) -> list[Any]:
    """A leaf's part of each microbatch."""
    if spec is _Replicate or isinstance(spec, _Replicate) or not isinstance(value, Tensor):
        return [value] * chunks
    if not isinstance(spec, TensorChunkSpec):
        raise TypeError(
            "taeda.distributed.pipelining.split_args_kwargs_into_chunks: a tensor's specification is to be a "
            f"TensorChunkSpec or _Replicate, not {type(spec).__name__}"
        )
    size = value.shape[spec.split_dim] if value.dim() else 0
    return list(value.tensor_split(min(chunks, size), spec.split_dim)) if size else [value] * chunks


def _leaves(value: Any, spec: Any) -> tuple[list[Any], list[Any], Any]:
    """Leaves, a specification for each, and their structure."""
    leaves, structure = pytree.tree_flatten(value)
    if spec is None:
        return leaves, [_default_spec(one) for one in leaves], structure
    specs, shape = pytree.tree_flatten(spec)
    if len(specs) != len(leaves):
        raise ValueError(
            f"taeda.distributed.pipelining.split_args_kwargs_into_chunks: {len(leaves)} values and {len(specs)} "
            f"specifications, of structure {shape}"
        )
    return leaves, specs, structure


def split_args_kwargs_into_chunks(
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    chunks: int,
    args_chunk_spec: tuple[TensorChunkSpec, ...] | None = None,
    kwargs_chunk_spec: dict[str, TensorChunkSpec] | None = None,
) -> tuple[list[tuple[Any, ...]], list[dict[str, Any]]]:
    """The arguments of each of ``chunks`` calls. Tensors are cut along dimension 0, and all else is given to all,
    unless a specification of the same structure says otherwise. A tensor too short makes fewer microbatches."""
    whole, given = (args, dict(kwargs or {})), kwargs_chunk_spec
    if given is not None:
        given = {name: given[name] if name in given else _spec_like(one) for name, one in whole[1].items()}
    first, second = _leaves(whole[0], args_chunk_spec), _leaves(whole[1], given)
    split = [[_pieces(*pair, chunks) for pair in zip(leaves, specs)] for leaves, specs, _ in (first, second)]
    count = min((len(pieces) for pieces in split[0] + split[1]), default=chunks)
    if any(len(pieces) != count for pieces in split[0] + split[1]) and count < chunks:
        split = [[_pieces(*pair, count) for pair in zip(leaves, specs)] for leaves, specs, _ in (first, second)]
    positional = [pytree.tree_unflatten([p[i] for p in split[0]], first[2]) for i in range(count)]
    named = [pytree.tree_unflatten([p[i] for p in split[1]], second[2]) for i in range(count)]
    return positional, named


def _spec_like(value: Any) -> Any:
    return pytree.tree_map(_default_spec, value)


def merge_chunks(chunks: Sequence[Any], chunk_spec: Any) -> Any:
    """One value of those of the microbatches: tensors are joined along the specification's dimension (0 without one),
    reducers reduce, and of all else, which is to be equal, the first is taken."""
    structure = pytree.tree_flatten(chunks[0])[1]
    rows = [pytree.tree_flatten(chunk)[0] for chunk in chunks]
    if chunk_spec is None:
        specs = [_default_spec(one) for one in rows[0]]
    else:
        specs = pytree.tree_flatten(chunk_spec)[0]
    if any(len(row) != len(specs) for row in rows):
        raise ValueError(
            f"taeda.distributed.pipelining.merge_chunks: {len(specs)} specifications for results of "
            f"{sorted({len(row) for row in rows})} values"
        )
    return pytree.tree_unflatten([_merged([row[i] for row in rows], spec) for i, spec in enumerate(specs)], structure)


def _merged(values: list[Any], spec: Any) -> Any:
    if isinstance(spec, TensorChunkSpec):
        return taeda.cat(values, spec.split_dim)
    if isinstance(spec, _CustomReducer):
        result = spec.init_value
        for value in values:
            result = spec.reduce_fn(result, value)
        return result
    return values[0]
