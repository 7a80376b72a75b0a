"""Pointwise ops, by what their formulas do to zeros: on the values alone, on the union or the intersection of patterns.

Nothing here knows an op: the generator worked out the rules, and the numbers of a call are tried on a zero.
"""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda._library.ops import OpOverload
from taeda.sparse._convert import like, to_coo
from taeda.sparse._kernels.rules import Rule, refusal
from taeda.sparse._parts import (
    COO,
    checked_below,
    coalesce,
    coo,
    flat_keys,
    is_sparse,
    pattern_of,
    sparse_dim,
    unflatten,
    values_at,
    values_of,
    with_values,
)

_aten: Any = taeda.ops.aten
_LINEAR = {
    "neg",
    "mul",
    "div",
    "clone",
    "conj",
    "conj_physical",
    "_conj_physical",
    "real",
    "imag",
    "deg2rad",
    "rad2deg",
}


def is_pointwise(op: OpOverload) -> bool:
    """Whether the op goes element by element, by its tags."""
    return "pointwise" in {str(tag).rpartition(".")[2] for tag in op.tags}


def rule_beside_numbers(tensors: list[Tensor]) -> Rule | None:
    """For one sparse operand beside tensors of one element, which a zero is tried with (``a / 2``, not ``a / b``)."""
    numbers = [x for x in tensors if not is_sparse(x)]
    single = len(tensors) == len(numbers) + 1 and numbers and all(x.numel() == 1 for x in numbers)
    return Rule(False, frozenset()) if single else None


def run(op: OpOverload, given: dict[str, Any], tensors: list[str], rule: Rule) -> Tensor:
    sparse = [name for name in tensors if is_sparse(given[name])]
    if any(given[name].dim() for name in sparse):  # beside which one without dimensions is a number
        given = given | {name: given[name].to_dense() for name in sparse if not given[name].dim()}
        sparse = [name for name in sparse if is_sparse(given[name])]
    numbers = [name for name in tensors if not is_sparse(given[name]) and given[name].numel() == 1]
    others = [name for name in tensors if name not in sparse and name not in numbers]
    shape = taeda.broadcast_shapes(*(given[name].shape for name in tensors))
    given = given | {name: expanded(given[name], shape) for name in sparse if given[name].layout == COO}
    if others and not any(name in rule.alone for name in sparse):
        raise _refusal(op, sparse, given, "its result with a dense operand would be dense")
    if not rule.alone.intersection(sparse) and not _keeps(op, given, tensors, numbers, rule):
        raise _refusal(op, sparse, given, "it makes other numbers of zeros, so its result would be dense")
    if len(sparse) == 1 and not others and given[sparse[0]].shape == shape:
        return _on_values(op, given, sparse[0], numbers)
    if others or len(sparse) == 1:
        return _with_dense(op, given, sparse, numbers, others, shape)
    return _several(op, given, sparse, numbers, rule, shape)


def expanded(x: Tensor, shape: taeda.Size) -> Tensor:
    """Coordinates that broadcast to a shape; an element of a dimension of size 1 is stored at each place along it."""
    if x.shape == shape:
        return x
    x = coalesce(x)
    more, values = len(shape) - x.dim(), values_of(x)
    indices = _C._sparse_parts(x)[0]
    indices = taeda.cat([indices.new_zeros(more, indices.shape[1]), indices])
    dims, size = len(indices), (*[1] * more, *x.shape)
    for d in range(dims):
        if size[d] != shape[d]:
            along = taeda.arange(shape[d], device=x.device).repeat(indices.shape[1])
            indices = indices.repeat_interleave(shape[d], 1)
            indices[d] = along
            values = values.repeat_interleave(shape[d], 0)
    return coalesce(coo(indices, values.expand(-1, *shape[dims:]), shape))


def _refusal(op: OpOverload, sparse: list[str], given: dict[str, Any], why: str) -> Exception:
    return refusal(op, [given[name] for name in sparse], why)


def _keeps(op: OpOverload, given: dict[str, Any], tensors: list[str], numbers: list[str], rule: Rule) -> bool:
    """Whether zeros make a zero, with the numbers of this call."""
    if (rule.keeps and not numbers) or any(given[name].is_meta for name in numbers):
        return True
    with taeda.no_grad():
        zeros = {
            name: taeda.zeros((), dtype=given[name].dtype) if name in tensors and name not in numbers else value
            for name, value in given.items()
        }
        return not bool(op(**{k: v.detach().reshape(()) if k in numbers else v for k, v in zeros.items()}))


def _on_values(op: OpOverload, given: dict[str, Any], name: str, numbers: list[str]) -> Tensor:
    x = given[name]
    if x.layout == COO and op._opname not in _LINEAR:
        x = coalesce(x)
    values = op(**_as_numbers({**given, name: values_of(x)}, numbers))
    return with_values(x, values)


def _as_numbers(given: dict[str, Any], numbers: list[str]) -> dict[str, Any]:
    """One-element operands without dimensions, so that they broadcast with values whatever their own shape."""
    return {k: v.reshape(()) if k in numbers else v for k, v in given.items()}


def _with_dense(op: OpOverload, given: dict[str, Any], sparse: list[str], numbers: list[str], others: list[str],
                shape: taeda.Size) -> Tensor:  # fmt: skip
    """A sparse operand decides where the result has elements; dense ones are read there."""
    x = given[sparse[0]]
    if x.shape != shape:
        raise RuntimeError(
            f"taeda.{op._opname}: a sparse operand is not broadcast; got shape {tuple(x.shape)}, and {tuple(shape)} "
            "for all"
        )
    if x.layout == COO:
        x = coalesce(x)
    pattern = pattern_of(x)
    at = {name: values_at(given[name].expand(shape), pattern) for name in (*sparse[1:], *others)}
    return with_values(x, op(**_as_numbers({**given, **at, sparse[0]: values_of(x)}, numbers)))


def _several(op: OpOverload, given: dict[str, Any], sparse: list[str], numbers: list[str], rule: Rule,
             shape: taeda.Size) -> Tensor:  # fmt: skip
    first = given[sparse[0]]
    patterns = [pattern_of(given[name]) for name in sparse]
    if all(p.is_same_memory(patterns[0]) and (p.layout != COO or p.coalesced) for p in patterns):
        aligned = {name: values_of(given[name]) for name in sparse}
        return with_values(first, op(**_as_numbers({**given, **aligned}, numbers)))
    operands = [coalesce(to_coo(given[name])) for name in sparse]
    if any(x.shape != shape for x in operands):
        raise RuntimeError(
            f"taeda.{op._opname}: sparse operands must have the same shape; got {[tuple(x.shape) for x in operands]}"
        )
    dims = sparse_dim(operands[0])
    if any(sparse_dim(x) != dims for x in operands):
        raise RuntimeError(
            f"taeda.{op._opname}: sparse operands must have as many sparse dimensions; got "
            f"{[sparse_dim(x) for x in operands]}"
        )
    size = shape[:dims]
    intersects = len(sparse) == 2 and set(sparse) <= rule.alone
    keys, values = (_shared if intersects else _united)(operands, size)
    made = op(**_as_numbers({**given, **dict(zip(sparse, values, strict=True))}, numbers))
    result = coo(unflatten(keys, size), made, shape, True)
    return result if first.layout == COO else _as_first(result, given, sparse)


def _as_first(result: Tensor, given: dict[str, Any], sparse: list[str]) -> Tensor:
    return like(result, given[sparse[0]])


def _keys(x: Tensor, size: taeda.Size) -> Tensor:
    if math.prod(size) >= 2**63:
        raise RuntimeError(f"taeda: sizes {tuple(size)} have more places than 64 bits can count")
    return flat_keys(checked_below(_C._sparse_parts(x)[0], size), size)


def _shared(operands: list[Tensor], size: taeda.Size) -> tuple[Tensor, list[Tensor]]:
    """Where both have elements, and those of each."""
    a, b = operands
    keys = _keys(a, size)
    in_a, in_b = _aten._sparse_intersection(keys, _keys(b, size))
    return keys.index_select(0, in_a), [values_of(a).index_select(0, in_a), values_of(b).index_select(0, in_b)]


def _united(operands: list[Tensor], size: taeda.Size) -> tuple[Tensor, list[Tensor]]:
    """Where any has elements, and those of each, zero where it has none."""
    keys, values = _keys(operands[0], size), [values_of(operands[0])]
    for x in operands[1:]:
        keys, in_old, in_new = _aten._sparse_union(keys, _keys(x, size))
        values = [_or_zero(v, in_old) for v in values] + [_or_zero(values_of(x), in_new)]
    return keys, values


def _or_zero(values: Tensor, places: Tensor) -> Tensor:
    """The values at places; one past the end is zero."""
    zero = values.new_zeros((1, *values.shape[1:]))
    return taeda.cat([values, zero]).index_select(0, places)
