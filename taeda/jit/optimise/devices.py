"""Devices: those of the tensors that go in tell those of the ones that come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import taeda
from taeda.jit._ir_types import TensorFacts
from taeda.jit.ir import Block, Graph, Node, Value

# Ops that give a tensor where a certain one of their inputs is.
_LIKE = {"aten::view_as": 0, "aten::expand_as": 0, "aten::reshape_as": 0, "aten::type_as": 1}
_NAMED = {"aten::cpu": "cpu", "aten::cuda": "cuda"}


def propagate_devices(graph: Graph) -> bool:
    """Finds the devices of tensors from those of the tensors that they are computed from. Whether it found any."""
    before = [_device(value) for value in graph._all_values()]
    _block(graph)
    return before != [_device(value) for value in graph._all_values()]


def _block(block: Block) -> None:
    for node in block.nodes():
        if node.kind() == "prim::If":
            for inner in node.blocks():
                _block(inner)
            results = (inner.returnNode()._inputs for inner in node.blocks())
            _set(node._outputs, [_agreed(pair) for pair in zip(*results, strict=True)])
        elif node.kind() == "prim::Loop":
            _loop(node)
        else:
            _set(node._outputs, [_of_op(node)] * node.outputsSize())


def _loop(node: Node) -> None:
    """What is carried is where it was before the loop, if each round leaves it there."""
    (body,) = node.blocks()
    carried, before, after = body.paramNode()._outputs[1:], node._inputs[2:], body.returnNode()._inputs[1:]
    devices = [_device(value) for value in before]
    while True:
        _set(carried, devices)
        _block(body)
        agreed = [d if d == _device(value) else None for d, value in zip(devices, after, strict=True)]
        if agreed == devices:
            return _set(node._outputs, devices)
        _forget(body)
        devices = agreed


def _forget(block: Block) -> None:
    for value in block._all_values():
        if value.node().kind() != "prim::Constant":
            _set([value], [None])


def _of_op(node: Node) -> Any:
    kind = node.kind()
    if kind == "prim::Constant":
        held = node.constant()
        return held.device if isinstance(held, taeda.Tensor) else None
    if kind in _NAMED:
        return taeda.device(_NAMED[kind])
    if kind in _LIKE:
        return _device(node.inputsAt(_LIKE[kind]))
    given = [value for value in node._inputs if value.static_type.kind() == "DeviceObjType"]
    if given:
        return _known_device(given[0])
    if kind.endswith("_") or kind.startswith("prim::"):
        return _device(node.inputsAt(0)) if node._inputs else None
    return _together([value for value in node._inputs if value.static_type.kind() == "TensorType"])


def _known_device(value: Value) -> Any:
    made = value.node()
    name = made.inputsAt(0).toIValue() if made.kind() == "aten::device" else value.toIValue()
    return None if name is None else taeda.device(name)


def _together(values: list[Value]) -> Any:
    """Where ops compute with several tensors: those without dimensions may come from the CPU."""
    places = {_device(value) for value in values}
    if None in places or len(places) <= 1:
        return places.pop() if len(places) == 1 else None
    places = {_device(value) for value in values if not (_is_number(value) and _device(value).type == "cpu")}
    known = all(value.facts is not None and value.facts.sizes is not None for value in values)
    return places.pop() if len(places) == 1 and known else None


def _is_number(value: Value) -> bool:
    return value.facts is not None and value.facts.sizes == ()


def _agreed(values: Sequence[Value]) -> Any:
    places = {_device(value) for value in values}
    return places.pop() if len(places) == 1 else None


def _device(value: Value) -> Any:
    return None if value.facts is None else value.facts.device


def _set(values: Sequence[Value], devices: Sequence[Any]) -> None:
    for value, device in zip(values, devices, strict=True):
        if value.static_type.kind() == "TensorType" and (device is not None or value.facts is not None):
            value.facts = replace(value.facts or TensorFacts(), device=device)
