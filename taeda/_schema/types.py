"""The types of schemas as objects: ``op._schema.arguments[0].type`` is ``TensorType.get()``.

The tree is the core's (``include/taeda/dispatch/type.h``). There is one object of each type: equal types are the same
object.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

from taeda import _C


class Type(_C._TypeBase):
    """A type. ``str()`` gives it as an annotation of Python, ``str(...)`` of its ``str`` method as schemas spell it."""

    def __reduce__(self) -> Any:
        return _C._parse_type, (self.str(),)


class _Plain(Type):
    """A type that is not made of others."""

    _schema: ClassVar[str]

    def __new__(cls, *args: Any) -> Self:
        raise TypeError(f"taeda.{cls.__name__}: use {cls.__name__}.get()")

    @classmethod
    @functools.cache
    def get(cls) -> Self:
        """The one object of this type."""
        return _C._parse_type(cls._schema)


class AnyType(_Plain):
    """Every value."""

    _schema = "Any"


class BoolType(_Plain):
    """A truth value."""

    _schema = "bool"


class ComplexType(_Plain):
    """A complex number."""

    _schema = "complex"


class DeviceObjType(_Plain):
    """A device."""

    _schema = "Device"


class FloatType(_Plain):
    """A floating-point number."""

    _schema = "float"


class IntType(_Plain):
    """An integer; dtypes, layouts and memory formats are integers, too."""

    _schema = "int"


class NoneType(_Plain):
    """None."""

    _schema = "NoneType"


class NumberType(_Plain):
    """An int, a float or a complex number."""

    _schema = "Scalar"


class PyObjectType(_Plain):
    """Any object of Python."""

    _schema = "PyObject"


class StreamObjType(_Plain):
    """A stream of a device."""

    _schema = "Stream"


class StringType(_Plain):
    """A text."""

    _schema = "str"


class SymIntType(_Plain):
    """An integer that may be unknown yet."""

    _schema = "SymInt"


class SymBoolType(_Plain):
    """A truth value that may be unknown yet."""

    _schema = "SymBool"


class TensorType(_Plain):
    """A tensor. What values know of tensors beyond that (`sizes`, `dtype`, ...) is unknown of the plain type; what is
    made of it (`with_sizes`) knows more."""

    _schema = "Tensor"

    @staticmethod
    def getInferred() -> TensorType:
        """The type of what was taken for a tensor, since nobody said: the same."""
        return TensorType.get()

    @staticmethod
    def create_from_tensor(tensor: Any) -> Any:
        """The type of a tensor with all that is known of this one."""
        from taeda._schema.tensor_facts import ShapedTensorType, TensorFacts

        return ShapedTensorType(TensorFacts.of(tensor))

    def __getattr__(self, name: str) -> Any:
        if name not in _FACTS:
            raise AttributeError(f"'TensorType' object has no attribute '{name}'")
        from taeda._schema.tensor_facts import ShapedTensorType, TensorFacts

        return getattr(ShapedTensorType(TensorFacts()), name)


_FACTS = frozenset([
    "contiguous", "device", "dim", "dtype", "requires_grad", "scalarType", "sizes", "strides", "symbolic_sizes",
    "undefined", "varyingSizes", "with_device", "with_dtype", "with_sizes",
])  # fmt: skip


class _GeneratorType(_Plain):
    """A generator of random numbers."""

    _schema = "Generator"


class _Of(Type):
    """A type made of one other."""

    def __new__(cls, element: Type) -> Self:
        return _C._make_type(cls.__name__, [element])

    def getElementType(self) -> Type:
        """The type it is made of."""
        return self.containedTypes()[0]


class AwaitType(_Of):
    """A value to be computed when it is asked for."""


class FutureType(_Of):
    """A value that is being computed."""


class RRefType(_Of):
    """A value on another machine."""


class OptionalType(_Of):
    """A value or None."""

    @staticmethod
    def ofTensor() -> OptionalType:
        """``OptionalType(TensorType.get())``."""
        return OptionalType(TensorType.get())


class ListType(_Of):
    """A list."""

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

    def __new__(cls, key: Type, value: Type) -> Self:
        return _C._make_type("DictType", [key, value])

    def getKeyType(self) -> Type:
        """The keys' type."""
        return self.containedTypes()[0]

    def getValueType(self) -> Type:
        """The values' type."""
        return self.containedTypes()[1]


class TupleType(Type):
    """A tuple."""

    def __new__(cls, elements: Sequence[Type]) -> Self:
        return _C._make_type("TupleType", elements)

    def elements(self) -> list[Type]:
        """The elements' types."""
        return self.containedTypes()


class UnionType(Type):
    """A value of any of several types. With None and one other it is an ``OptionalType``."""

    def __new__(cls, types: Iterable[Type]) -> Self:
        return _C._make_type("UnionType", list(types))


class EnumType(Type):
    """An enumeration, made from a class of Python's."""

    def __new__(cls, members: type[enum.Enum]) -> Self:
        return _C._enum_type(members)


class ClassType(Type):
    """A class with attributes and methods, known by its name: ``ClassType("__torch__.package.Name")``."""

    def __new__(cls, qualified_name: str) -> Self:
        return _C._parse_type(qualified_name if "." in qualified_name else f"__torch__.{qualified_name}")

    def name(self) -> str:
        """The last part of its name."""
        return self._name.rpartition(".")[2]

    def qualified_name(self) -> str:
        """Its name with the packages it is in."""
        return self._name


class InterfaceType(Type):
    """The methods that a class must have."""


_CLASSES = {
    cls.__name__: cls
    for cls in (
        AnyType, AwaitType, BoolType, ClassType, ComplexType, DeviceObjType, DictType, EnumType, FloatType, FutureType,
        IntType, InterfaceType, ListType, NoneType, NumberType, OptionalType, PyObjectType, RRefType, StreamObjType,
        StringType, SymBoolType, SymIntType, TensorType, TupleType, UnionType,
    )
}  # fmt: skip
_C._set_type_classes({**_CLASSES, "GeneratorType": _GeneratorType, "": Type})
