"""Types by short names, and what is asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taeda import _C
from taeda._schema.types import (
    AnyType,
    BoolType,
    ComplexType,
    DeviceObjType,
    DictType,
    FloatType,
    FutureType,
    IntType,
    ListType,
    NoneType,
    NumberType,
    OptionalType,
    StringType,
    TensorType,
    TupleType,
    UnionType,
)

ANY, BOOL, COMPLEX, DEVICE = AnyType.get(), BoolType.get(), ComplexType.get(), DeviceObjType.get()
FLOAT, INT, NONE, NUMBER, STR, TENSOR = (
    FloatType.get(), IntType.get(), NoneType.get(), NumberType.get(), StringType.get(), TensorType.get(),
)  # fmt: skip
ANY_LIST, ANY_TUPLE = _C._parse_type("AnyListType"), _C._parse_type("AnyTupleType")
ANY_ENUM, ANY_CLASS = _C._parse_type("AnyEnumType"), _C._parse_type("AnyClassType")
LAYOUT, MEMORY_FORMAT, GENERATOR, STREAM = map(_C._parse_type, ("Layout", "MemoryFormat", "Generator", "Stream"))


def optional(type: Any) -> Any:
    """The type or None."""
    return type if type is NONE else OptionalType(type)


def list_of(type: Any) -> Any:
    """A list."""
    return ListType(type)


def dict_of(key: Any, value: Any) -> Any:
    """A dict."""
    return DictType(key, value)


def tuple_of(types: Sequence[Any]) -> Any:
    """A tuple."""
    return TupleType(list(types))


def future_of(type: Any) -> Any:
    """A future."""
    return FutureType(type)


def unify(a: Any, b: Any) -> Any:
    """The least type that covers both; None when there is none."""
    if a is b:
        return a
    if not hasattr(a, "_fields") or not hasattr(b, "_fields"):
        return None
    try:
        return _C.unify_type_list([a, b])
    except RuntimeError:
        return None


def is_kind(type: Any, *kinds: str) -> bool:
    """Whether the type is of one of these kinds: ``ListType``."""
    return type.kind() in kinds


def is_optional(type: Any) -> bool:
    """Whether None may be a value of it beside others."""
    if type.kind() == "OptionalType":
        return True
    return type.kind() == "UnionType" and NONE in type.containedTypes()


def can_be_none(type: Any) -> bool:
    """Whether None is a value of it."""
    return type is NONE or type is ANY or is_optional(type)


def without_none(type: Any) -> Any:
    """The type of what is left when the value is not None."""
    if type.kind() == "OptionalType":
        return type.containedTypes()[0]
    if type.kind() == "UnionType":
        return UnionType([t for t in type.containedTypes() if t is not NONE])
    return type


def members(type: Any) -> list[Any]:
    """The types that a value of it can have: of an optional or union its members."""
    if type.kind() == "OptionalType":
        return [*members(type.containedTypes()[0]), NONE]
    if type.kind() == "UnionType":
        return list(type.containedTypes())
    if type is NUMBER:
        return [INT, FLOAT, COMPLEX]
    return [type]


def union(types: Sequence[Any]) -> Any:
    """A value of any of the types."""
    return types[0] if len(types) == 1 else UnionType(list(types))


def is_named_tuple(type: Any) -> bool:
    """Whether it is a tuple whose items have names."""
    return type.kind() == "TupleType" and bool(type._name)


def is_static_tuple(type: Any) -> bool:
    """Whether it is a tuple of known length."""
    return type.kind() == "TupleType"
