"""What serves an op that has no kernel for sparse tensors: its formula, its functional form, or another layout."""

from __future__ import annotations

import threading
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda._library.ops import OpOverload, find_overload
from taeda.sparse._convert import convert, like, to_coo
from taeda.sparse._kernels import pointwise
from taeda.sparse._kernels.rules import refusal, rules
from taeda.sparse._parts import COO, assign, is_sparse


def fallback(op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """Runs ``op`` on arguments of which some are sparse; NotImplementedError where there is no way."""
    schema = op._schema
    names = [a.name for a in schema.arguments]
    given = dict(zip(names, args, strict=False)) | kwargs
    written = [a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    if written:
        return _into(op, given, written)
    full = op.name().removeprefix("aten::")
    tensors = [a.name for a in schema.arguments if isinstance(given.get(a.name), Tensor)]
    if "Tensor[]" not in op._schema_text and pointwise.is_pointwise(op):
        rule = rules().get(full) or pointwise.rule_beside_numbers([given[name] for name in tensors])
        if rule is not None:
            return pointwise.run(op, given, tensors, rule)
    if any(is_sparse(given[name]) and given[name].layout != COO for name in tensors):
        return _through_coordinates(op, given, tensors)
    raise refusal(op, [given[name] for name in tensors])


def _through_coordinates(op: OpOverload, given: dict[str, Any], tensors: list[str]) -> Any:
    """By the kernel for coordinates, if there is one, and back."""
    if not has_kernel(op, "SparseCPU"):
        raise refusal(op, [given[name] for name in tensors])
    model = next(given[name] for name in tensors if is_sparse(given[name]))
    turned = {name: to_coo(x) if is_sparse(x) else x for name, x in given.items()}
    made = op(**turned)
    back = lambda x: _back(x, model)
    return [back(x) for x in made] if isinstance(made, (list, tuple)) else back(made)


def _back(x: Any, model: Tensor) -> Any:
    if not is_sparse(x) or x.dim() != model.dim():
        return x
    try:
        return like(x, model)
    except RuntimeError:  # matrices of a batch with different numbers of elements, blocks that do not divide
        return x


def has_kernel(op: OpOverload, key: str) -> bool:
    """Whether the op is served there by more than this fallback."""
    return bool(_C._has_kernel_for(op, key)) if hasattr(_C, "_has_kernel_for") else op.has_kernel_for_dispatch_key(key)


# --- in place and out=


_under_way = threading.local()


def _into(op: OpOverload, given: dict[str, Any], written: list[str]) -> Any:
    names: set[str] = _under_way.__dict__.setdefault("names", set())
    functional, arguments = _functional(op, given, written)
    if op.name() in names:  # the functional form is made of this one
        raise refusal(op, [x for x in given.values() if isinstance(x, Tensor)])
    names.add(op.name())
    try:
        results = functional(**arguments)
    finally:
        names.discard(op.name())
    several = results if isinstance(results, (list, tuple)) else (results,)
    for name, result in zip(written, several, strict=True):
        write(op, given[name], result)
    targets = [given[name] for name in written]
    return targets[0] if len(targets) == 1 else tuple(targets)


def write(op: OpOverload, target: Tensor, result: Tensor) -> Tensor:
    """Makes ``target`` what ``result`` is, in its own layout and dtype."""
    if not taeda.can_cast(result.dtype, target.dtype):
        raise RuntimeError(
            f"taeda.{op._opname}: the result of dtype {result.dtype} cannot be written into a tensor of {target.dtype}"
        )
    result = result.to(target.dtype)
    if not is_sparse(target):
        dense = result.to_dense() if is_sparse(result) else result
        return target.resize_(dense.shape).copy_(dense) if target.shape != dense.shape else target.copy_(dense)
    if result.layout != target.layout:
        result = convert(result, target.layout) if not is_sparse(result) else like(result, target)
    return assign(target, result)


def _functional(op: OpOverload, given: dict[str, Any], written: list[str]) -> tuple[OpOverload, dict[str, Any]]:
    """The form of an op in place, or with out=, that makes new tensors, and its arguments."""
    space, _, name = op.name().partition("::")
    base, _, overload = name.partition(".")
    inplace = base.endswith("_") and not base.endswith("__")
    wanted = base[:-1] if inplace else base
    arguments = given if inplace else {k: v for k, v in given.items() if k not in written}
    for candidate in _C._overloads_of(f"{space}::{wanted}"):
        form = find_overload(f"{space}::{wanted}", candidate)
        parameters = [a.name for a in form._schema.arguments]
        is_new = not any(a.alias_info is not None and a.alias_info.is_write for a in form._schema.arguments)
        same = overload in (candidate, f"{candidate}_out") or (overload == "out" and candidate in ("", "Tensor", "dim"))
        if is_new and same and set(arguments) <= set(parameters):
            return form, arguments
    raise refusal(
        op, [x for x in given.values() if isinstance(x, Tensor)], "there is no form of it that is not in place"
    )
