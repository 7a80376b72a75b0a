"""The steps of a ``vmap``: arguments become batches of a level, results are taken out of it.

``_batch.vmap`` looks them up here, and PyTorch calls the module ``torch._functorch.vmap``: libraries put steps of their
own in place of these, which know containers that no pytree takes apart. Others walk through a level themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from taeda import Tensor
from taeda.func._active import transforming
from taeda.func._batched.tensor import Batch, BatchedTensor, EachDraws, NoDraws, OneDraw, batch_of, running
from taeda.utils._pytree import TreeSpec, broadcast_prefix, tree_flatten, tree_unflatten

_broadcast_to_and_flatten = broadcast_prefix
_MODES: dict[str, Callable[[], Any]] = {"error": NoDraws, "different": EachDraws, "same": OneDraw}
_opened = threading.local()


# A level


def _vmap_increment_nesting(batch_size: int, randomness: str) -> int:
    """Begins a level of batches, whose number it gives; ops on them run once for all examples."""
    check_randomness(randomness, "_vmap_increment_nesting")
    with ExitStack() as opening:
        opening.enter_context(_MODES[randomness]())
        level = opening.enter_context(begun(batch_size, randomness)).depth
        _opened.__dict__.setdefault("levels", []).append((level, opening.pop_all()))
    return level


def _vmap_decrement_nesting() -> int:
    """Ends the level that `_vmap_increment_nesting` began last, whose number it gives."""
    levels = _opened.__dict__.get("levels")
    if not levels:
        raise RuntimeError("taeda.func: _vmap_decrement_nesting ends a level, but none was begun in this thread")
    level, opened = levels.pop()
    opened.close()
    return int(level)


@contextmanager
def vmap_increment_nesting(batch_size: int, randomness: str) -> Iterator[int]:
    """A level of batches that lasts as long as the block."""
    level = _vmap_increment_nesting(batch_size, randomness)
    try:
        yield level
    finally:
        _vmap_decrement_nesting()


@contextmanager
def begun(size: int, randomness: str) -> Iterator[Batch]:
    """A level of batches in the block, whose draws its caller watches."""
    from taeda.func._batched.rules import rule_of

    with running(size, rule_of, randomness) as batch, transforming():
        yield batch


def _add_batch_dim(x: Tensor, in_dim: int, level: int) -> Tensor:
    """``x`` as a batch of a level, along one of its dimensions; it shows one example."""
    return batch_of(level).wrap(x.movedim(in_dim, 0) if in_dim else x)


def _remove_batch_dim(x: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    """All examples of ``x``, along a dimension; equal ones if it does not differ by example of the level."""
    value = batch_of(level).whole(x)
    return value.movedim(0, out_dim) if out_dim else value  # type: ignore[no-any-return]  # in place: the argument


def is_batchedtensor(x: Tensor) -> bool:
    """Whether a tensor holds more than the one example that it shows."""
    if not isinstance(x, Tensor):
        raise TypeError(f"taeda.func: is_batchedtensor takes a tensor; got {type(x).__name__}")
    return type(x) is BatchedTensor


# The steps


def _process_batched_inputs(in_dims: Any, args: tuple[Any, ...], func: Any) -> tuple[int, Any, list[Any], TreeSpec]:
    """The batch's size; for each leaf of the arguments its dimension over examples; the leaves; their structure."""
    leaves, spec = tree_flatten(args)
    dims = [_checked(*pair) for pair in zip(leaves, _mapped_dims(args, in_dims, spec), strict=True)]
    return _validate_and_get_batch_size(dims, leaves), dims, leaves, spec


def _create_batched_inputs(
    flat_in_dims: Sequence[int | None], flat_args: Sequence[Any], vmap_level: int, args_spec: TreeSpec
) -> Any:
    """The arguments for one call of the function."""
    pairs = zip(flat_args, flat_in_dims, strict=True)
    return tree_unflatten([x if dim is None else _add_batch_dim(x, dim, vmap_level) for x, dim in pairs], args_spec)


def _unwrap_batched(batched_outputs: Any, out_dims: Any, vmap_level: int, batch_size: int, func: Any) -> Any:
    """What the function returned, for all examples."""
    leaves, spec = tree_flatten(batched_outputs)
    pairs = zip(leaves, result_dims(out_dims, spec), strict=True)
    name = _get_name(func)
    return tree_unflatten([_maybe_remove_batch_dim(name, x, vmap_level, batch_size, dim) for x, dim in pairs], spec)


def _maybe_remove_batch_dim(
    name: str, batched_output: Any, vmap_level: int, batch_size: int, out_dim: int | None
) -> Any:
    """One result for all examples; with None as its dimension it is one for all."""
    if out_dim is None:
        if batch_of(vmap_level).holds(batched_output):
            raise ValueError(f"taeda.func.vmap: out_dims has None for a result of {name} that differs by example")
        return batched_output
    check_result_dim(out_dim, batched_output)
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)


def _get_name(func: Any) -> str:
    return str(getattr(func, "__name__", None) or repr(func))


# Dimensions over examples


def check_randomness(randomness: str, function: str) -> None:
    if randomness not in _MODES:
        raise RuntimeError(
            f"taeda.func.{function}: randomness must be 'error', 'different' or 'same'; got {randomness!r}"
        )


def _mapped_dims(args: tuple[Any, ...], in_dims: Any, spec: TreeSpec) -> list[int | None]:
    """For each leaf of the arguments the dimension that runs over examples."""
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"taeda.func.vmap: in_dims must be an int or a tuple as the arguments; got {type(in_dims).__name__}"
        )
    if not args:
        raise ValueError("taeda.func.vmap: the function got no positional argument to map over")
    dims = broadcast_prefix(in_dims, spec)
    if dims is None:
        raise ValueError(f"taeda.func.vmap: in_dims {in_dims} does not fit the structure of the arguments, {spec}")
    return dims


def _checked(leaf: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(f"taeda.func.vmap: in_dims holds ints and None; got {type(dim).__name__}")
    if not isinstance(leaf, Tensor):
        raise ValueError(f"taeda.func.vmap: in_dims has {dim} for a {type(leaf).__name__}; only tensors are mapped")
    if not -leaf.dim() <= dim < leaf.dim():
        raise ValueError(f"taeda.func.vmap: in_dims has {dim} for a tensor of {leaf.dim()} dimensions")
    return dim % leaf.dim()


def _validate_and_get_batch_size(flat_in_dims: Sequence[int | None], flat_args: Sequence[Any]) -> int:
    sizes = [int(leaf.shape[dim]) for leaf, dim in zip(flat_args, flat_in_dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("taeda.func.vmap: in_dims maps no argument; at least one must be mapped")
    if len(set(sizes)) > 1:
        raise ValueError(f"taeda.func.vmap: mapped dimensions must have one size; got {sizes}")
    return sizes[0]


def result_dims(out_dims: Any, spec: TreeSpec) -> list[int | None]:
    """For each leaf of the results where the dimension over examples goes."""
    dims = broadcast_prefix(out_dims, spec)
    if dims is None and isinstance(out_dims, list):
        dims = broadcast_prefix(tuple(out_dims), spec)
    if dims is None and spec.is_leaf() and isinstance(out_dims, (tuple, list)) and len(out_dims) == 1:
        dims = list(out_dims)
    if dims is None:
        raise ValueError(f"taeda.func.vmap: out_dims {out_dims} does not fit the structure of the result")
    return dims


def check_result_dim(dim: Any, result: Any) -> None:
    if not isinstance(result, Tensor):
        hint = ": item(), tolist() and their kin take numbers out of a tensor" * isinstance(result, int | float)
        raise ValueError(
            "taeda.func.vmap: the function must return tensors only, or say with None in out_dims what is one for all; "
            f"got {type(result).__name__}{hint}"
        )
    if not isinstance(dim, int):
        raise ValueError(f"taeda.func.vmap: out_dims holds ints and None; got {type(dim).__name__}")
    if not -result.dim() - 1 <= dim <= result.dim():
        raise IndexError(f"taeda.func.vmap: out_dims has {dim} for results of {result.dim()} dimensions")
