"""The backward pass of a stage, whole or in two: first for its inputs, which others wait for, then for its weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda.autograd.graph import GradientEdge, get_gradient_edge
from taeda.utils import _pytree as pytree


def _with_gradients(outputs: Any, grads: Any) -> tuple[list[Tensor], list[Any]]:
    """The tensors among outputs that have a derivative, and their gradients."""
    flat = pytree.tree_flatten(outputs)[0]
    given = [None] * len(flat) if grads is None else pytree.tree_flatten(grads, is_leaf=lambda one: one is None)[0]
    if len(given) != len(flat):
        raise RuntimeError(
            f"taeda.distributed.pipelining: a stage has {len(flat)} outputs and was given {len(given)} gradients"
        )
    pairs = [(out, grad) for out, grad in zip(flat, given)
             if isinstance(out, Tensor) and out.requires_grad and (grad is not None or grads is None)]  # fmt: skip
    return [out for out, _ in pairs], [grad for _, grad in pairs]


def stage_backward(
    stage_output: Any, output_grads: Any, input_values: Iterable[Any], outputs_with_grads_idxs: Any = None
) -> tuple[Tensor | None, ...]:
    """Adds up the gradients of the stage's weights; returns those of its inputs."""
    outputs, grads = _with_gradients(stage_output, output_grads)
    if outputs:
        taeda.autograd.backward(outputs, grads)
    return tuple(_taken_gradient(one) for one in input_values)


def _taken_gradient(value: Any) -> Tensor | None:
    if not isinstance(value, Tensor) or not value.is_leaf:
        return None
    grad, value.grad = value.grad, None
    return grad


class _Left(NamedTuple):
    """The derivatives that are left for weights: of tensors, or of the functions where the way to the inputs turns off,
    with the nodes of the weights that each leads to."""

    outputs: list[Any]
    grads: list[Any]
    weights: list[set[Any]] | None = None


def _children(node: Any) -> list[Any]:
    return [child for child, _ in node.next_functions if child is not None]


def _leading_to(roots: list[Any], goals: set[Any]) -> set[Any]:
    """The functions from which one of ``goals`` is reached."""
    found, stack = set(goals), list(roots)
    state: dict[Any, bool] = {}
    while stack:
        node = stack[-1]
        if state.get(node) is None:
            state[node] = False
            stack.extend(child for child in _children(node) if child not in state)
            continue
        stack.pop()
        if not state[node] and any(child in found for child in _children(node)):
            found.add(node)
        state[node] = True
    return found


def _owned(node: Any, through: set[Any], weights: set[Any]) -> set[Any]:
    """The weights that a function leads to by ways that do not lead to the inputs."""
    seen: set[Any] = set()
    stack = [child for child in _children(node) if child not in through]
    while stack:
        one = stack.pop()
        if one not in seen:
            seen.add(one)
            stack.extend(_children(one))
    return seen & weights


def stage_backward_input(
    stage_outputs_or_loss: Sequence[Tensor], output_grads: Sequence[Tensor] | None, input_values: Sequence[Any],
    weights: Iterable[Tensor],
) -> tuple[tuple[Tensor | None, ...], list[Any]]:  # fmt: skip
    """The gradients of the stage's inputs, and what `stage_backward_weight` needs for the rest."""
    outputs, grads = _with_gradients(list(stage_outputs_or_loss), output_grads)
    whole = _Left(outputs, grads)
    wanted = [one for one in input_values if isinstance(one, Tensor) and one.requires_grad]
    if not outputs or not wanted:
        return tuple(None for _ in input_values), [whole]
    roots = [get_gradient_edge(one).node for one in outputs]
    targets = {get_gradient_edge(one).node for one in weights if one.requires_grad}
    through = _leading_to(roots, {get_gradient_edge(one).node for one in wanted})
    owned = {node: own for node in through if (own := _owned(node, through, targets))}
    shared = sum(map(len, owned.values())) > len(set().union(*owned.values()))
    if shared or any(root not in through for root in roots):  # the weights' pass then starts from the outputs again
        owned = {}
    left = _Left([], [], []) if owned else whole
    hooks = []
    for node in owned:

        def note(given: tuple[Tensor | None, ...], node: Any = node) -> None:
            here = [(GradientEdge(node, index), grad) for index, grad in enumerate(given) if grad is not None]
            assert left.weights is not None
            left.outputs.append([edge for edge, _ in here])
            left.grads.append([grad for _, grad in here])
            left.weights.append(owned[node])

        hooks.append(node.register_prehook(note))
    try:
        found = taeda.autograd.grad(outputs, wanted, grads, retain_graph=True, allow_unused=True)
    finally:
        for hook in hooks:
            hook.remove()
    by_input = dict(zip(map(id, wanted), found))
    for one, grad in zip(wanted, found):
        if grad is not None and one.is_leaf:
            one.grad = grad if one.grad is None else one.grad + grad
    return tuple(by_input.get(id(one)) for one in input_values), [left]


def stage_backward_weight(
    weights: Iterable[Tensor], param_groups: list[Any], retain_graph: bool = False
) -> tuple[Tensor | None, ...]:
    """Adds up the gradients of the weights that `stage_backward_input` left; returns them."""
    wanted = {get_gradient_edge(one).node: one for one in weights if one.requires_grad}
    for left in param_groups:
        parts = [(left.outputs, left.grads, set(wanted))] if left.weights is None else zip(*left)
        for outputs, grads, own in parts:
            targets = [one for node, one in wanted.items() if node in own]
            if not outputs or not targets:
                continue
            found = taeda.autograd.grad(outputs, targets, grads, retain_graph=retain_graph, allow_unused=True)
            with taeda.no_grad():
                for one, grad in zip(targets, found):
                    if grad is not None:
                        one.grad = grad if one.grad is None else one.grad.add_(grad)
    return tuple(one.grad for one in wanted.values())
