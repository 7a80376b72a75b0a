"""Constants that a convolution's channels are multiplied with, or that are added to them, become part of its weight and
bias; products with constant matrices get these transposed."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.jit.ir import Graph, Node
from taeda.jit.optimise.batch_norm import is_only_read_by

_CONVOLUTIONS = frozenset(["aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::convolution", "aten::_convolution"])
_ARITHMETIC: dict[str, Any] = {
    "aten::add": taeda.add,
    "aten::sub": taeda.sub,
    "aten::mul": taeda.mul,
    "aten::div": taeda.div,
}


def fold_conv_sums(graph: Graph) -> bool:
    """Folds what is added to convolutions, or subtracted, into their bias. Whether it changed the graph."""
    return any([_fold(graph, node) for kind in ("aten::add", "aten::sub") for node in graph.findAllNodes(kind)])


def fold_conv_products(graph: Graph) -> bool:
    """Folds factors of convolutions into their weight and bias. Whether it changed the graph."""
    return any([_fold(graph, node) for kind in ("aten::mul", "aten::div") for node in graph.findAllNodes(kind)])


def transpose_linear(graph: Graph) -> bool:
    """``linear`` with a constant weight becomes a product with the transposed weight. Whether there was any."""
    changed = False
    for node in graph.findAllNodes("aten::linear"):
        weight, bias = node.inputsAt(1).toIValue(), node.inputsAt(2)
        if not isinstance(weight, Tensor) or weight.dim() != 2:
            continue
        with graph.insert_point_guard(node):
            transposed = graph.insertConstant(weight.t().contiguous())
            made = graph.insert("aten::matmul", [node.inputsAt(0), transposed])
            if not bias.node().mustBeNone():
                made = graph.insert("aten::add", [made, bias], {"alpha": 1})
        made.setTypeAs(node.output())
        node.output().replaceAllUsesWith(made)
        node.destroy()
        changed = True
    return changed


def _fold(graph: Graph, node: Node) -> bool:
    conv = node.inputsAt(0).node()
    if conv.kind() not in _CONVOLUTIONS or not is_only_read_by(conv, node) or _is_transposed(conv):
        return False
    weight, bias, operand = conv.inputsAt(1).toIValue(), conv.inputsAt(2), node.inputsAt(1).toIValue()
    if not isinstance(weight, Tensor) or (bias.toIValue() is None and not bias.node().mustBeNone()):
        return False
    if node.inputsSize() > 2 and node.inputsAt(2).toIValue() != 1:
        return False  # a factor of what is added, or a way to round
    channels = _per_channel(operand, weight)
    if channels is None:
        return False
    kind = node.kind()
    with taeda.no_grad(), graph.insert_point_guard(conv):
        held = bias.toIValue()
        before = weight.new_zeros(weight.shape[0]) if held is None else held
        conv.replaceInput(2, graph.insertConstant(_ARITHMETIC[kind](before, channels).to(weight.dtype)))
        if kind in ("aten::mul", "aten::div"):
            spread = channels.reshape(-1, *[1] * (weight.dim() - 1))
            conv.replaceInput(1, graph.insertConstant(_ARITHMETIC[kind](weight, spread).to(weight.dtype)))
    node.output().replaceAllUsesWith(conv.output())
    node.destroy()
    return True


def _is_transposed(conv: Node) -> bool:
    return conv.kind().endswith("convolution") and conv.inputsAt(6).toIValue() is not False


def _per_channel(operand: Any, weight: Tensor) -> Tensor | None:
    """A constant by output channels; None if it is none, varies along other dimensions, or would make another dtype."""
    if isinstance(operand, (int, float)) and not isinstance(operand, bool):
        return weight.new_full((weight.shape[0],), operand)
    if not isinstance(operand, Tensor) or taeda.promote_types(operand.dtype, weight.dtype) != weight.dtype:
        return None
    rank, count = weight.dim(), weight.shape[0]
    if operand.dim() > rank:
        return None
    if operand.numel() == 1:
        return operand.reshape(1).to(weight.dtype).expand(count)
    expected = (*[1] * (operand.dim() - rank + 1), count, *[1] * (rank - 2))
    return operand.reshape(count).to(weight.dtype) if tuple(operand.shape) == expected[-operand.dim() :] else None
