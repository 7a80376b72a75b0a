"""How a program's text spells types and values; ``csrc/jit/assembler_text.cpp`` reads it."""

from __future__ import annotations

import json
from typing import Any

from taeda import Tensor, device, dtype, layout, memory_format
from taeda._schema.types import Type

_WORDS = {
    "ListType": "list", "OptionalType": "optional", "FutureType": "future", "AwaitType": "await", "DictType": "dict",
}  # fmt: skip


def quoted(text: str) -> str:
    """In quotes, with escapes."""
    return json.dumps(text, ensure_ascii=False)


def type_text(type: Type) -> str:
    """A type in words: ``list int``, ``dict str optional Tensor``, ``class "__torch__.M"``."""
    kind = type.kind()
    parts = [type_text(part) for part in type.containedTypes()]
    if kind in _WORDS:
        return " ".join([_WORDS[kind], *parts])
    if kind == "TupleType":
        if name := type._name:
            fields = " ".join(f"{quoted(f)} {part}" for f, part in zip(type._fields, parts, strict=True))
            return f"named {quoted(name)} {len(parts)} {fields}".rstrip()
        return " ".join(["tuple", str(len(parts)), *parts])
    if kind == "UnionType":
        return " ".join(["union", str(len(parts)), *parts])
    if kind in ("ClassType", "InterfaceType", "EnumType"):
        return f"class {quoted(type._name)}"
    return type.str()


def literal(value: Any, type: Type, externals: Externals) -> str:
    """A value of a type in words; what has none is put among the externals."""
    kind = type.kind()
    if kind in ("OptionalType", "UnionType", "AnyType") and value is not None:
        return literal(value, _member(value, type), externals)
    if kind == "EnumType":  # whose members may be texts or numbers, too
        return _collection(value, type, externals)
    if isinstance(value, (dtype, layout, memory_format)):
        return str(externals.number_of(value))
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, (int, float)):
        return repr(float(value)) if kind == "FloatType" else repr(value)
    if isinstance(value, complex):
        return f"complex {value.real!r} {value.imag!r}"
    if isinstance(value, str):
        return ("device " if kind == "DeviceObjType" else "text ") + quoted(value)
    if isinstance(value, device):
        return f"device {quoted(str(value))}"
    return _collection(value, type, externals)


def _member(value: Any, type: Type) -> Type:
    from taeda import _C

    if type.kind() == "OptionalType":
        return type.containedTypes()[0]
    return _C._type_of(value)


def _collection(value: Any, type: Type, externals: Externals) -> str:
    kind = type.kind()
    if kind == "ListType" and isinstance(value, (list, tuple)):
        element = type.containedTypes()[0]
        return " ".join(["list", type_text(element), str(len(value)), *(literal(v, element, externals) for v in value)])
    if kind == "TupleType" and isinstance(value, tuple):
        items = [literal(v, t, externals) for v, t in zip(value, type.containedTypes(), strict=True)]
        head = type_text(type) if type._name else "tuple"
        return " ".join([head, str(len(items)), *items])
    if kind == "DictType" and isinstance(value, dict):
        key, held = type.containedTypes()
        items = [f"{literal(k, key, externals)} {literal(v, held, externals)}" for k, v in value.items()]
        return " ".join(["dict", type_text(key), type_text(held), str(len(items)), *items])
    if kind == "EnumType":
        externals.enumerations[type._name] = type
        return f"enum {quoted(type._name)} {quoted(value.name)}"
    return f"external {externals.add(value)}"


class Externals:
    """Values that a program refers to by number: tensors, and what has no spelling; and the enumerations it names."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.enumerations: dict[str, Type] = {}
        self._places: dict[int, int] = {}

    def add(self, value: Any) -> int:
        """The number of a value; the same object has one number."""
        place = self._places.setdefault(id(value), len(self.values))
        if place == len(self.values):
            self.values.append(value)
        return place

    def number_of(self, value: Any) -> int:
        """The int that programs hold for a dtype, layout or memory format."""
        from taeda.jit._ir_types import number_of

        return number_of(value)

    def only_tensors(self) -> bool:
        """Whether an archive can hold all of them."""
        return all(isinstance(value, Tensor) for value in self.values)
