"""Rules that programs bring for their ops, and for an `autograd.Function` as its static method ``vmap``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda.autograd import function
from taeda.func._batched.tensor import Batch, BatchedTensor, WrongRule
from taeda.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten


class VmapInfo(NamedTuple):
    """What a program's own rule is told of the ``vmap`` that runs."""

    batch_size: int
    randomness: str


def run_program_rule(name: str, rule: Callable[..., Any], batch: Batch, args: tuple[Any, ...], kwargs: Any) -> Any:
    """The results of ``rule(info, in_dims, *args, **kwargs)``, which sees all examples along the first dimension."""
    in_dims = tree_map(lambda x: 0 if batch.holds(x) else None, args)
    values = tree_map(lambda x: x.value if batch.holds(x) else x, args)
    result = rule(VmapInfo(batch.size, batch.randomness), in_dims, *values, **kwargs)
    if not (isinstance(result, tuple) and len(result) == 2):
        raise WrongRule(
            f"taeda.func.vmap: expected the rule of {name} to have two returns, (output, out_dims); got "
            f"{type(result).__name__}"
        )
    outputs, spec = tree_flatten(result[0])
    dims = _dims_of(name, result[0], result[1], len(outputs))
    return tree_unflatten([x if dim is None else batch.wrap(x.movedim(dim, 0)) for x, dim in zip(outputs, dims)], spec)


def _dims_of(name: str, output: Any, out_dims: Any, count: int) -> list[int | None]:
    if out_dims is None or isinstance(out_dims, int):
        return [out_dims] * count
    dims, spec = tree_flatten(out_dims, is_leaf=lambda x: x is None)
    if isinstance(output, Tensor) or len(dims) != count or type(out_dims) is not type(output):
        raise WrongRule(
            f"taeda.func.vmap: the rule of {name} returned an incompatible (output, out_dims): {out_dims!r} has "
            f"another structure than the output, {type(output).__name__}"
        )
    return dims


# --- of Functions


def by_rule(cls: type[function.Function], args: tuple[Any, ...]) -> type[function.Function] | None:
    """The Function whose ``forward`` is the rule of ``cls``, where arguments are batched; else None."""
    if not any(type(x) is BatchedTensor for x in tree_leaves(args)):
        return None
    if cls.generate_vmap_rule:
        raise WrongRule(
            f"taeda.autograd.Function: {cls.__name__} has generate_vmap_rule=True and a static method vmap; only one "
            "of them can say what it does for a batch"
        )
    return _with_rule(cls, taeda.is_grad_enabled())  # type: ignore[arg-type]


@functools.cache
def _with_rule(cls: Any, records: bool) -> type[function.Function]:
    def forward(*args: Any) -> Any:
        batches = [x.batch for x in tree_leaves(args) if type(x) is BatchedTensor]
        with taeda.set_grad_enabled(records):  # the values may be recorded by an outer transform
            innermost = max(batches, key=lambda batch: batch.level)
            return run_program_rule(f"{cls.__name__}.vmap", cls.vmap, innermost, args, {})

    members = {"forward": staticmethod(forward), "__module__": cls.__module__}
    return type(cls.__name__, (cls,), members)


function._by_rule = by_rule
