"""Another example for a program whose sizes vary: what was right for one size is checked on a second."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda.export.graph_signature import InputKind
from taeda.export.guards import CheckInputs, SizeName
from taeda.fx.interpreter import Interpreter
from taeda.utils import _pytree as pytree


def results_of(program: Any, args: Any, kwargs: Any) -> list[Any]:
    """What an exported program gives the user, as a flat list; its buffers stay as they are."""
    users = iter(pytree.tree_leaves((tuple(args), dict(kwargs))))
    given = []
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            value = next(users)
            given.append(value.detach().clone() if isinstance(value, Tensor) else value)
        else:
            value = program.tensor_of(spec.target).detach()
            given.append(value.clone() if spec.kind is InputKind.BUFFER else value)
    inputs = [node for node in program.graph.nodes if node.op == "placeholder"]
    with taeda.no_grad():
        results = Interpreter(program.graph_module).run(initial_env=dict(zip(inputs, given, strict=True)))
    specs = program.graph_signature.output_specs
    return [v for s, v in zip(specs, results) if s.kind.name == "USER_OUTPUT" and v is not None]


def second_example(program: Any) -> tuple[Any, Any] | None:
    """Arguments with other sizes, made of the example's elements; None if nothing varies, or no other size will do."""
    if not program.sizes:
        return None
    leaves, spec = pytree.tree_flatten(tuple(program.example_inputs))
    users = [s for s in program.graph_signature.input_specs if s.kind is InputKind.USER_INPUT]
    names = [s.arg.name for s in users]
    check = CheckInputs(names, {}, program.sizes, program.guards)
    for wanted in _sizes(program.sizes, dict(zip(names, leaves))):
        made = [_resized(leaf, name, wanted) for name, leaf in zip(names, leaves)]
        check.shapes = {n: tuple(v.shape) for n, v in zip(names, made) if isinstance(v, Tensor)}
        try:
            check(*made)
            args, kwargs = pytree.tree_unflatten(made, spec)
            results_of(program, args, kwargs)
        except (AssertionError, IndexError, RuntimeError, ValueError):
            continue
        return args, kwargs
    return None


def _sizes(sizes: list[SizeName], leaves: dict[str, Any]) -> Iterator[dict[tuple[str, int | None], int]]:
    """By input and dimension, sizes that may do."""
    for step in (1, -1, 2):
        wanted: dict[tuple[str, int | None], int] = {}
        roots: dict[str, int] = {}
        for size in sizes:
            leaf = leaves[size.node]
            hint = leaf if size.dim is None else int(leaf.shape[size.dim])
            factor, offset = size.derived or (1, 0)
            key = size.root or size.where
            root = roots.setdefault(key, (hint - offset) // factor + step * (len(roots) + 1))
            wanted[size.node, size.dim] = factor * root + offset
        if all(size.low <= wanted[size.node, size.dim] <= size.high and wanted[size.node, size.dim] > 0
               for size in sizes):  # fmt: skip
            yield wanted


def _resized(leaf: Any, name: str, wanted: dict[tuple[str, int | None], int]) -> Any:
    """A leaf with other sizes; elements repeat."""
    if not isinstance(leaf, Tensor):
        return wanted.get((name, None), leaf)
    for dim in range(leaf.dim()):
        size = wanted.get((name, dim))
        if size is not None and leaf.shape[dim] > 0:
            leaf = leaf.detach().index_select(dim, taeda.arange(size) % leaf.shape[dim])
    return leaf
