"""The types of schemas as objects: ``op._schema.arguments[0].type`` is ``TensorType.get()``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import ClassVar, Self

_Text = str  # which in the class below is a method


class Type:
    """A type. ``str()`` gives it as an annotation of Python, ``str(...)`` of its ``str`` method as schemas spell it."""

    def __init__(self, annotation: str, spelling: str, parts: Sequence[Type] = ()) -> None:
        self.annotation_str = annotation
        self._spelling, self._parts = spelling, tuple(parts)

    def str(self) -> _Text:
        """How a schema spells it: ``int[]?``."""
        return self._spelling

    def kind(self) -> _Text:
        """The name of its class."""
        return type(self).__name__

    def containedTypes(self) -> list[Type]:
        """The types it is made of."""
        return list(self._parts)

    def isSubtypeOf(self, other: Type) -> bool:
        """Whether a value of this type is one of the ``other``, too."""
        return self == other or type(other) is AnyType or other._takes(self)

    def _takes(self, other: Type) -> bool:
        """Whether it holds all values of another type, for a reason of its own."""
        return False

    def is_interface_type(self) -> bool:
        """False: interfaces are compiled code's."""
        return False

    def __repr__(self) -> _Text:
        return self.annotation_str

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self._spelling))


class _Plain(Type):
    """A type that is not made of others; there is one object of it."""

    _annotation: ClassVar[str]
    _schema: ClassVar[str]

    def __init__(self) -> None:
        raise TypeError(f"taeda.{type(self).__name__}: use {type(self).__name__}.get()")

    @classmethod
    @functools.cache
    def get(cls) -> Self:
        """The one object of this type."""
        made = cls.__new__(cls)
        Type.__init__(made, cls._annotation, cls._schema)
        return made


class AnyType(_Plain):
    """Every value."""

    _annotation = _schema = "Any"


class BoolType(_Plain):
    """A truth value."""

    _annotation = _schema = "bool"


class ComplexType(_Plain):
    """A complex number."""

    _annotation = _schema = "complex"


class DeviceObjType(_Plain):
    """A device."""

    _annotation = _schema = "Device"


class FloatType(_Plain):
    """A floating-point number."""

    _annotation = _schema = "float"


class IntType(_Plain):
    """An integer; dtypes, layouts and memory formats are integers, too."""

    _annotation = _schema = "int"


class NoneType(_Plain):
    """None."""

    _annotation = _schema = "NoneType"


class NumberType(_Plain):
    """An int, a float or a complex number."""

    _annotation, _schema = "number", "Scalar"

    def _takes(self, other: Type) -> bool:
        return isinstance(other, (IntType, FloatType, ComplexType))


class PyObjectType(_Plain):
    """Any object of Python."""

    _annotation = _schema = "PyObject"


class StreamObjType(_Plain):
    """A stream of a device."""

    _annotation = _schema = "Stream"


class StringType(_Plain):
    """A text."""

    _annotation = _schema = "str"


class SymIntType(_Plain):
    """An integer that may be unknown yet."""

    _annotation, _schema = "int", "SymInt"


class SymBoolType(_Plain):
    """A truth value that may be unknown yet."""

    _annotation, _schema = "bool", "SymBool"


class TensorType(_Plain):
    """A tensor."""

    _annotation = _schema = "Tensor"


class _Of(Type):
    """A type made of one other."""

    _annotation: ClassVar[str]
    _schema: ClassVar[str]

    def __init__(self, element: Type) -> None:
        super().__init__(self._annotation.format(element), self._schema.format(element.str()), [element])

    def getElementType(self) -> Type:
        """The type it is made of."""
        return self._parts[0]


class AwaitType(_Of):
    """A value to be computed when it is asked for."""

    _annotation = _schema = "Await[{}]"


class FutureType(_Of):
    """A value that is being computed."""

    _annotation = _schema = "Future[{}]"


class RRefType(_Of):
    """A value on another machine."""

    _annotation = _schema = "RRef[{}]"


class OptionalType(_Of):
    """A value or None."""

    _annotation, _schema = "Optional[{}]", "{}?"

    @staticmethod
    def ofTensor() -> OptionalType:
        """``OptionalType(TensorType.get())``."""
        return OptionalType(TensorType.get())

    def _takes(self, other: Type) -> bool:
        inner = other.getElementType() if isinstance(other, OptionalType) else other
        return isinstance(other, NoneType) or inner.isSubtypeOf(self.getElementType())


class ListType(_Of):
    """A list."""

    _annotation, _schema = "List[{}]", "{}[]"

    @staticmethod
    def ofInts() -> ListType:
        """A list of ints."""
        return ListType(IntType.get())

    @staticmethod
    def ofTensors() -> ListType:
        """A list of tensors."""
        return ListType(TensorType.get())

    @staticmethod
    def ofFloats() -> ListType:
        """A list of floats."""
        return ListType(FloatType.get())

    @staticmethod
    def ofComplexDoubles() -> ListType:
        """A list of complex numbers."""
        return ListType(ComplexType.get())

    @staticmethod
    def ofBools() -> ListType:
        """A list of truth values."""
        return ListType(BoolType.get())

    @staticmethod
    def ofStrings() -> ListType:
        """A list of texts."""
        return ListType(StringType.get())


class DictType(Type):
    """A dictionary."""

    def __init__(self, key: Type, value: Type) -> None:
        super().__init__(f"Dict[{key}, {value}]", f"Dict({key.str()}, {value.str()})", [key, value])

    def getKeyType(self) -> Type:
        """The keys' type."""
        return self._parts[0]

    def getValueType(self) -> Type:
        """The values' type."""
        return self._parts[1]


class TupleType(Type):
    """A tuple."""

    def __init__(self, elements: Sequence[Type]) -> None:
        annotation = ", ".join(map(repr, elements)) or "()"
        super().__init__(f"Tuple[{annotation}]", f"({', '.join(e.str() for e in elements)})", elements)

    def elements(self) -> list[Type]:
        """The elements' types."""
        return list(self._parts)

    def _takes(self, other: Type) -> bool:
        return (
            isinstance(other, TupleType)
            and len(other._parts) == len(self._parts)
            and all(a.isSubtypeOf(b) for a, b in zip(other._parts, self._parts, strict=True))
        )


class UnionType(Type):
    """A value of any of several types."""

    def __init__(self, types: Sequence[Type]) -> None:
        inner = sorted(set(types), key=lambda t: t.str())
        super().__init__(f"Union[{', '.join(map(repr, inner))}]", f"Union({', '.join(t.str() for t in inner)})", inner)

    def _takes(self, other: Type) -> bool:
        parts = other._parts if isinstance(other, UnionType) else (other,)
        return all(any(a.isSubtypeOf(b) for b in self._parts) for a in parts)


class _Other(Type):
    """What only schemas name: a generator, a storage, and (as ``real_type``) what ``type`` shows as an int."""

    def __init__(self, name: str) -> None:
        super().__init__(name, name)
        self._name = name

    def kind(self) -> str:
        """Its name and ``Type``."""
        return f"{self._name}Type"


_PLAIN = {
    kind._schema: kind
    for kind in (
        AnyType, BoolType, ComplexType, DeviceObjType, FloatType, IntType, NumberType, StreamObjType, StringType,
        SymIntType, SymBoolType, TensorType,
    )
}  # fmt: skip
# Shown as the types that their values have once a call is read.
_SHOWN = {"ScalarType": "int", "Layout": "int", "MemoryFormat": "int", "SymInt": "int", "SymBool": "bool"}


def named(text: str, real: bool) -> Type:
    """The type that a schema spells ``text``, without aliases and sizes: ``Tensor?[]``.

    Dtypes, layouts, memory formats and symbolic numbers show as what they are to a caller, unless ``real``.
    """
    if text.endswith("?"):
        return OptionalType(named(text[:-1], real))
    if text.endswith("[]"):
        return ListType(named(text[:-2], real))
    text = text if real else _SHOWN.get(text, text)
    return _PLAIN[text].get() if text in _PLAIN else _Other(text)
