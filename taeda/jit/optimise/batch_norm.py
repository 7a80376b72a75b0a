"""Batch normalisation with constant statistics becomes part of the convolution or product before it."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.jit.ir import Graph, Node, Value

# Ops that batch normalisation folds into: the places of weight and bias, and of transposed.
_BEFORE = {
    "aten::conv1d": (1, 2), "aten::conv2d": (1, 2), "aten::conv3d": (1, 2), "aten::linear": (1, 2),
    "aten::_convolution": (1, 2), "aten::convolution": (1, 2), "aten::conv_transpose1d": (1, 2),
    "aten::conv_transpose2d": (1, 2), "aten::conv_transpose3d": (1, 2),
}  # fmt: skip


def fold_batch_norms(graph: Graph) -> bool:
    """Folds each ``aten::batch_norm`` in evaluation mode, whose statistics and parameters are constant, into the
    constant weight and bias of the op before it. Whether it changed the graph."""
    changed = False
    for norm in list(graph.findAllNodes("aten::batch_norm")):
        before = norm.inputsAt(0).node()
        if before.kind() in _BEFORE and is_only_read_by(before, norm) and _fold(graph, before, norm):
            changed = True
    return changed


# What these tell of a tensor stays the same.
_TELL_SHAPES = frozenset(["aten::dim", "aten::size", "aten::numel", "prim::dtype", "prim::device", "prim::layout"])


def is_only_read_by(before: Node, norm: Node) -> bool:
    """Whether nobody else reads the values that the op before gives."""
    users = before.output()._users
    return users[norm] == 1 and all(user is norm or user.kind() in _TELL_SHAPES for user in users)


def _fold(graph: Graph, before: Node, norm: Node) -> bool:
    gamma, beta, mean, variance, training, _, epsilon = (_held(value) for value in norm._inputs[1:8])
    at_weight, at_bias = _BEFORE[before.kind()]
    weight, bias = _held(before.inputsAt(at_weight)), _held(before.inputsAt(at_bias))
    tensors = [weight, mean, variance, *(t for t in (gamma, beta, bias) if t is not None)]
    if training is not False or not isinstance(epsilon, float) or not all(_is_float(t) for t in tensors):
        return False
    groups = _groups_if_transposed(before)
    if groups is None or (before.kind() == "aten::linear" and not _has_rank(before.output(), 2)):
        return False  # of more dimensions the second is not what a product makes
    with taeda.no_grad():
        scale = (variance.double() + epsilon).rsqrt() * (1.0 if gamma is None else gamma.double())
        shifted = (0.0 if bias is None else bias.double()) - mean.double()
        new_bias = (shifted * scale + (0.0 if beta is None else beta.double())).to(weight.dtype)
        new_weight = (weight.double() * _spread(scale, weight, groups)).to(weight.dtype)
    with graph.insert_point_guard(before):
        before.replaceInput(at_weight, graph.insertConstant(new_weight))
        before.replaceInput(at_bias, graph.insertConstant(new_bias))
    norm.output().replaceAllUsesWith(before.output())
    norm.destroy()
    return True


def _groups_if_transposed(node: Node) -> int | None:
    """0 for what is not transposed, else the number of groups; None if that is not known."""
    kind = node.kind()
    if kind in ("aten::_convolution", "aten::convolution"):
        transposed, groups = _held(node.inputsAt(6)), _held(node.inputsAt(8))
        return None if not isinstance(transposed, bool) or not isinstance(groups, int) else groups * transposed
    if "transpose" in kind:
        groups = _held(node.inputsAt(6))
        return groups if isinstance(groups, int) else None
    return 0


def _spread(scale: Tensor, weight: Tensor, groups: int) -> Tensor:
    """The factors of the output channels, in the shape of a weight. Those of transposed convolutions have their
    output channels second, by groups of the first."""
    rest = [1] * (weight.dim() - 2)
    if not groups:
        return scale.reshape(-1, 1, *rest)
    each = scale.reshape(groups, 1, -1, *rest)
    return each.expand(groups, weight.shape[0] // groups, weight.shape[1], *rest).reshape(weight.shape[0], -1, *rest)


def _held(value: Value) -> Any:
    """A constant's value; the value itself if it is none."""
    return value.node().constant() if value.node().kind() == "prim::Constant" else value


def _has_rank(value: Value, rank: int) -> bool:
    return value.facts is not None and value.facts.sizes is not None and len(value.facts.sizes) == rank


def _is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype.is_floating_point
