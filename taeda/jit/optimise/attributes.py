"""Attributes that nobody changes become constants: what freezing does to a graph."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import taeda
from taeda import _C, Tensor
from taeda.jit.ir import Graph, Node, Value
from taeda.jit.optimise.aliases import Aliases
from taeda.jit.optimise.inline import inline_calls

Slot = tuple[Any, str]  # an object, and the name of one of its attributes


class Owned(NamedTuple):
    """What a graph's values are objects of the module, and which of them are its attributes."""

    objects: dict[Value, Any]
    reads: dict[Value, Slot]


def resolve(graph: Graph, held: Any) -> Owned:
    """Follows the attributes of ``held``, the graph's first argument, and inlines what is called on them.

    An attribute whose type is an interface becomes the object that it is, so that its methods are known.
    """
    while True:
        owned = objects_in(graph, held)
        for value, inner in owned.objects.items():
            if value.static_type.kind() == "InterfaceType":
                value.setType(inner.type())
        if not inline_calls(graph):
            return owned


def objects_in(graph: Graph, held: Any) -> Owned:
    """What the values of a graph are, whose first argument is ``held``."""
    objects: dict[Value, Any] = {next(graph.inputs()): held}
    reads: dict[Value, Slot] = {}
    for node in graph.all_nodes():
        if node.kind() == "prim::GetAttr" and node.inputsAt(0) in objects:
            owner, name = objects[node.inputsAt(0)], node.s("name")
            reads[node.output()] = (owner, name)
            inner = owner.getattr(name)
            inner = getattr(inner, "_c", inner)
            if isinstance(inner, _C._jit.Object):
                objects[node.output()] = inner
    return Owned(objects, reads)


def changed_slots(graph: Graph, owned: Owned) -> tuple[set[Slot], set[str]]:
    """The attributes that a graph sets or writes to; and the names of attributes that it sets of objects unknown."""
    slots: set[Slot] = set()
    names: set[str] = set()
    for node in graph.all_nodes():
        if node.kind() == "prim::SetAttr":
            owner = owned.objects.get(node.inputsAt(0))
            if owner is None:
                names.add(node.s("name"))
            else:
                slots.add((owner, node.s("name")))
    apart = frozenset(value for value, slot in owned.reads.items() if slot not in slots and slot[1] not in names)
    aliases = Aliases(graph, apart)
    slots.update(
        slot for value, slot in owned.reads.items() if value not in owned.objects and aliases.has_writers(value)
    )
    return slots, names


def refuse(graph: Graph, owned: Owned, held: Any) -> None:
    """Raises ``RuntimeError`` for what no constants stand for: a result that is the module itself, and another module
    put in place of one by its interface."""
    if any(owned.objects.get(value) == held for value in graph.outputs()):
        raise RuntimeError("taeda.jit.freeze: the module returns itself, of which a frozen module keeps only a part")
    for node in graph.findAllNodes("prim::SetAttr"):
        owner, name = node.inputsAt(0).static_type, node.s("name")
        for declared, type, _ in _C._class_attributes(owner):
            if declared == name and type.kind() == "InterfaceType":
                raise RuntimeError(
                    f"taeda.jit.freeze: the program sets '{name}', a module by its interface {type}; which module it "
                    "is must stay the same"
                )


def overlapping(written: set[Slot], read: list[Slot]) -> set[Slot]:
    """The attributes among those that are ``read`` whose tensors share memory with those of attributes that are
    ``written`` to.

    Raises:
        RuntimeError: what is written to is held by a list, tuple or dict, so that it is not known which of them shares.
    """
    found = set()
    held = {slot: slot[0].getattr(slot[1]) for slot in {*written, *read} if slot[0].hasattr(slot[1])}
    memory = {slot: _memory(value) for slot, value in held.items()}
    for slot in written & held.keys():
        for other in read:
            if other != slot and memory[other] & memory[slot]:
                if not isinstance(held[slot], Tensor):
                    raise RuntimeError(
                        f"taeda.jit.freeze: '{slot[1]}', which the program writes to, and '{other[1]}' overlap: they "
                        "hold tensors that share memory; give each its own"
                    )
                found.add(other)
    return found


def _memory(value: Any) -> set[int]:
    """Where the tensors in a value have their memory."""
    if isinstance(value, Tensor):
        return {value.untyped_storage().data_ptr()} - {0} if value.layout is taeda.strided else set()
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return {at for item in items for at in _memory(item)}


def make_constant_attributes(graph: Graph, owned: Owned, keep: set[Slot], names: set[str], tensors: bool) -> bool:
    """Puts constants in place of attributes, but for those to ``keep``; of tensors only if ``tensors``. Whether it
    changed the graph."""
    changed = False
    for value, slot in owned.reads.items():
        node = value.node()
        if slot in keep or slot[1] in names or value in owned.objects or node._block is None:
            continue
        held = slot[0].getattr(slot[1])
        if isinstance(held, Tensor) and not tensors:
            continue
        with graph.insert_point_guard(node):
            constant = _constant(graph, node, held, value.static_type)
        if constant is not None:
            value.replaceAllUsesWith(constant)
            node.destroy()
            changed = True
    return changed


def _constant(graph: Graph, node: Node, held: Any, type: Any) -> Value | None:
    """A value as constants of the graph; None for what has to stay an attribute."""
    if isinstance(held, Tensor):
        made = graph.insertConstant(held.detach())
    elif held is None or isinstance(held, (bool, int, float, complex, str, taeda.device, enum.Enum)):
        made = graph.insertConstant(held, None if held is None or type.kind() in _WIDE else type)
    elif isinstance(held, (list, tuple)):
        return _sequence(graph, node, held, type)
    elif isinstance(held, dict):
        key, item = type.containedTypes()
        parts = [_constant(graph, node, p, t) for pair in held.items() for p, t in zip(pair, (key, item), strict=True)]
        return None if None in parts else graph.emit("prim::DictConstruct", parts, [type], node.range).output()  # type: ignore[arg-type]
    else:
        return None
    made.node().range = node.range
    return made


_WIDE = ("OptionalType", "UnionType", "AnyType", "NumberType")


def _sequence(graph: Graph, node: Node, held: Any, type: Any) -> Value | None:
    inner = type.containedTypes()
    if type.kind() in _WIDE:
        type = _C._type_of(held)
        inner = type.containedTypes()
    types = inner * len(held) if isinstance(held, list) else inner
    items = [_constant(graph, node, item, t) for item, t in zip(held, types, strict=True)]
    kind = "prim::ListConstruct" if isinstance(held, list) else "prim::TupleConstruct"
    return None if None in items else graph.emit(kind, items, [type], node.range).output()  # type: ignore[arg-type]
