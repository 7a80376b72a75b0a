"""Functions of scalars at all points of a grid, in one call: ``vmap`` over each of its dimensions.

A mask is written for one query and one key. Nested calls of ``taeda.func.vmap`` would map it as well; where its rules
cannot serve they would call it for each pair, though, of which there are too many. Here that is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import taeda
from taeda import Tensor
from taeda.func._batched.rules import rule_of
from taeda.func._batched.tensor import Batch, BatchedTensor, Unbatchable, running

GRID = 4  # dimensions of a grid: batch, head, query, key


def grid_indices(sizes: Sequence[int], device: Any) -> list[Tensor]:
    """The indices of a grid's points, one tensor for each dimension, that broadcast to the grid: int64."""
    count = len(sizes)
    return [
        taeda.arange(size, device=device).reshape([-1 if n == dim else 1 for n in range(count)])
        for dim, size in enumerate(sizes)
    ]


def call_on_grid(func: Callable[..., Any], args: Sequence[Tensor]) -> Tensor:
    """The results of a function at all points of a grid.

    Args:
        func: takes tensors without dimensions and returns one; it may capture others. It should be pure.
        args: the arguments' values, each with the dimensions of the grid or 1 in their place.

    Returns:
        The results; 1 stands for dimensions that they do not depend on.

    Raises:
        ValueError: the function returns something else.
        RuntimeError: its result has dimensions; it reads a value, draws random numbers, or writes to what all share.
    """
    start = taeda.get_rng_state()
    with ExitStack() as stack:
        sizes = taeda.broadcast_shapes(*(x.shape for x in args))
        batches = [stack.enter_context(running(size, rule_of)) for size in sizes]
        try:
            result = func(*(_mapped(x, batches) for x in args))
        except Unbatchable as wrong:
            raise RuntimeError(
                "taeda.nn.attention: a mask or score function is called for all queries and keys at once, so that it "
                f"cannot read a value or write to what they share: {wrong}. Use where(condition, a, b) for branches, "
                "and & | for and, or"
            ) from None
    if not taeda.equal(start, taeda.get_rng_state()):
        taeda.set_rng_state(start)
        raise RuntimeError("taeda.nn.attention: a mask or score function must not draw random numbers")
    if not isinstance(result, Tensor):
        raise ValueError(
            f"taeda.nn.attention: a mask or score function must return a tensor; got {type(result).__name__}"
        )
    if result.dim():
        raise RuntimeError(
            "taeda.nn.attention: a mask or score function must return a scalar for each query and key; got shape "
            f"{tuple(result.shape)}"
        )
    return _values(result, batches).to(args[0].device)


def _mapped(x: Tensor, batches: Sequence[Batch]) -> Tensor:
    """What ``x`` is at one point, in the dimensions that it depends on."""
    depends = [n for n, size in enumerate(x.shape) if size != 1]
    # A function may write to its arguments, but the indices are those of other functions, too.
    values = (x if x.is_floating_point() else x.clone()).reshape([x.shape[n] for n in depends])
    for n in depends:
        values = batches[n].wrap(values)
    return values


def _values(result: Tensor, batches: Sequence[Batch]) -> Tensor:
    shape = [1] * GRID
    while isinstance(result, BatchedTensor):
        shape[batches.index(result.batch)] = result.batch.size
        result = result.value
    return result.reshape(shape)
