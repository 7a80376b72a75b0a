"""Shapes and dtypes: what is known of the tensors that go in tells of those that come out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import taeda
from taeda import Tensor
from taeda.jit._ir_types import TensorFacts
from taeda.jit.ir import Block, Graph, Node, Value
from taeda.jit.optimise.aliases import aliases_of
from taeda.jit.optimise.effects import may_reshape
from taeda.jit.optimise.evaluate import CannotEvaluate, evaluate_with


def propagate_shapes(graph: Graph) -> bool:
    """Finds the facts of values from those of the values that they are computed from. Whether it found any.

    Ops run on tensors without memory (device ``meta``). Of what depends on sizes that are not known, nothing is said.
    """
    found = _block(graph)
    aliases = aliases_of(graph)
    for value in graph._all_values():  # what is resized in place has one shape before and another behind
        if value.facts is not None and any(map(may_reshape, aliases.writers(value))):
            value.facts = None
    return found


def propagate_dtypes(graph: Graph) -> bool:
    """Finds the dtypes of tensors from what is known of those that they are computed from: their dtypes and how many
    dimensions they have. Whether it found any."""
    found = False
    for node in graph.all_nodes():
        tensors = [value for value in node._outputs if value.static_type.kind() == "TensorType"]
        if not node.kind().startswith("aten::") or all(v.facts is not None and v.facts.dtype for v in tensors):
            continue
        try:
            results = evaluate_with(node, [_likeness(value) for value in node._inputs])
        except CannotEvaluate:
            continue
        for value, result in zip(node._outputs, results, strict=False):
            if isinstance(result, Tensor):
                value.facts = replace(value.facts or TensorFacts(), dtype=result.dtype)
                found = True
    return found


_NUMBERS = {"IntType": 1, "FloatType": 1.0, "BoolType": True, "ComplexType": 1j}


def _likeness(value: Value) -> Any:
    """A value of the same type and dtype, of some size.

    Raises:
        CannotEvaluate: too little is known.
    """
    kind, facts = value.static_type.kind(), value.facts
    if value.node().kind() == "prim::Constant":
        return _stand_in(value, {})
    if kind == "TensorType" and facts is not None and facts.dtype is not None and facts.sizes is not None:
        return taeda.empty([1 if n is None else n for n in facts.sizes], dtype=facts.dtype, device="meta")
    if kind in _NUMBERS:
        return _NUMBERS[kind]
    raise CannotEvaluate("a value of which too little is known")


def _block(block: Block) -> bool:
    found = False
    for node in block.nodes():
        if node.kind() == "prim::If":
            inner = [_block(b) for b in node.blocks()]
            found |= any(inner) | _merge(node)
        elif node.kind() == "prim::Loop":
            found |= _block(next(node.blocks()))
        elif node.kind() in ("prim::unchecked_cast", "prim::Enter"):
            found |= _tell(node._outputs[:1], [node.inputsAt(0).facts] if node._inputs else [])
        else:
            found |= _op(node)
    return found


def _tell(values: list[Value], facts: list[TensorFacts | None]) -> bool:
    found = False
    for value, known in zip(values, facts, strict=False):
        if known is not None and value.facts != known and value.static_type.kind() == "TensorType":
            value.facts = known
            found = True
    return found


def _merge(node: Node) -> bool:
    """What both branches agree on."""
    results = [block.returnNode()._inputs for block in node.blocks()]
    agreed = [a.facts if a.facts == b.facts else None for a, b in zip(*results, strict=True)]
    return _tell(node._outputs, agreed)


def _op(node: Node) -> bool:
    outputs = [value for value in node._outputs if value.static_type.kind() == "TensorType"]
    if not outputs or node.kind() == "prim::Constant" or not node.kind().startswith("aten::"):
        return _constant_facts(node)
    if all(value.facts is not None and value.facts.is_complete() for value in outputs):
        return False
    places: dict[str, Any] = {}
    try:
        results = evaluate_with(node, [_stand_in(value, places) for value in node._inputs])
    except CannotEvaluate:
        return False
    device = places.get("device", taeda.device("cpu"))
    facts = [_facts(result, device) if isinstance(result, Tensor) else None for result in results]
    if "guessed" in places:
        facts = [None if known is None else TensorFacts(sizes=known.sizes) for known in facts]
    return _tell(node._outputs, facts)


def _constant_facts(node: Node) -> bool:
    value = node.constant() if node.kind() == "prim::Constant" else None
    return isinstance(value, Tensor) and _tell(node._outputs, [TensorFacts.of(value)])


def _facts(result: Tensor, device: Any) -> TensorFacts:
    return TensorFacts(result.dtype, tuple(result.shape), tuple(result.stride()), None, device)


def _stand_in(value: Value, places: dict[str, Any]) -> Any:
    """A value that has what is known of the real one.

    Raises:
        CannotEvaluate: too little is known.
    """
    node = value.node()
    if value.static_type.kind() == "TensorType" and node.kind() != "prim::Constant":
        facts = value.facts
        if facts is None or facts.sizes is None or None in facts.sizes:
            raise CannotEvaluate("a tensor of unknown sizes")
        if facts.dtype is None:  # which sizes hardly ever depend on
            places["guessed"] = True
            return taeda.empty(facts.sizes, device="meta")  # type: ignore[arg-type]
        places.setdefault("device", facts.device or taeda.device("cpu"))
        sizes: Any = facts.sizes
        strides: Any = facts.strides
        if strides is None or None in strides:
            return taeda.empty(sizes, dtype=facts.dtype, device="meta")
        return taeda.empty_strided(sizes, strides, dtype=facts.dtype, device="meta")
    if node.kind() == "prim::ListConstruct":
        return [_stand_in(item, places) for item in node._inputs]
    if node.kind() != "prim::Constant":
        raise CannotEvaluate("a value that is not constant")
    held = node.constant()
    if isinstance(held, Tensor):
        places.setdefault("device", held.device)
        return held.to("meta") if held.dim() else held
    return held
