"""What is known of a tensor beyond that it is one: dtype, sizes, strides, device."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import taeda
from taeda import Tensor, device, dtype
from taeda._schema.types import TensorType, Type

Text = str  # methods have the name, too

# In the order of the numbers by which programs know them, with the names that graphs print.
_NUMBERED = [
    ("Byte", "uint8"), ("Char", "int8"), ("Short", "int16"), ("Int", "int32"), ("Long", "int64"), ("Half", "float16"),
    ("Float", "float32"), ("Double", "float64"), ("ComplexHalf", "complex32"), ("ComplexFloat", "complex64"),
    ("ComplexDouble", "complex128"), ("Bool", "bool"), ("QInt8", "qint8"), ("QUInt8", "quint8"), ("QInt32", "qint32"),
    ("BFloat16", "bfloat16"), ("QUInt4x2", "quint4x2"), ("QUInt2x4", "quint2x4"), ("Bits1x8", "bits1x8"),
    ("Bits2x4", "bits2x4"), ("Bits4x2", "bits4x2"), ("Bits8", "bits8"), ("Bits16", "bits16"),
    ("Float8_e5m2", "float8_e5m2"), ("Float8_e4m3fn", "float8_e4m3fn"), ("Float8_e5m2fnuz", "float8_e5m2fnuz"),
    ("Float8_e4m3fnuz", "float8_e4m3fnuz"), ("UInt16", "uint16"), ("UInt32", "uint32"), ("UInt64", "uint64"),
]  # fmt: skip
DTYPES: list[dtype | None] = [getattr(taeda, name, None) for _, name in _NUMBERED]
DTYPE_NAMES = [name for name, _ in _NUMBERED]


def _size(value: int | None) -> str:
    return "*" if value is None else f"{value}"


@dataclass(frozen=True)
class TensorFacts:
    """What is known of a tensor; None is unknown, also among the sizes and strides."""

    dtype: dtype | None = None
    sizes: tuple[int | None, ...] | None = None
    strides: tuple[int | None, ...] | None = None
    requires_grad: bool | None = None
    device: device | None = None

    @staticmethod
    def of(tensor: Tensor) -> TensorFacts:
        """Everything about this tensor."""
        strides = tuple(tensor.stride()) if tensor.layout is taeda.strided else None
        return TensorFacts(tensor.dtype, tuple(tensor.shape), strides, tensor.requires_grad, tensor.device)

    def is_complete(self) -> bool:
        """Whether dtype, sizes, strides and device are all known."""
        known = (self.dtype, self.sizes, self.strides, self.device)
        return None not in known and None not in (*self.sizes, *self.strides)  # type: ignore[misc]

    def str(self) -> Text:
        """As graphs print it: ``Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)``."""
        name = "Tensor" if self.dtype is None else DTYPE_NAMES[DTYPES.index(self.dtype)]
        parts = [_size(n) for n in self.sizes or ()]
        if self.strides and None not in self.strides:
            parts.append(f"strides=[{', '.join(map(_size, self.strides))}]")
        if self.requires_grad is not None:
            parts.append(f"requires_grad={int(self.requires_grad)}")
        if self.device is not None:
            parts.append(f"device={self.device}")
        return f"{name}({', '.join(parts)})" if parts or self.sizes == () else name


_UNKNOWN = itertools.count(-2, -1)


class ShapedTensorType:
    """`TensorType` with `TensorFacts`: what ``value.type()`` gives for a tensor of which more is known."""

    def __init__(self, facts: TensorFacts) -> None:
        self.facts = facts
        self.tree = TensorType.get()

    annotation_str = "Tensor"

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """`TensorType`, for who asks ``isinstance(value.type(), TensorType)``."""
        return TensorType

    def kind(self) -> Text:
        """``TensorType``."""
        return "TensorType"

    def containedTypes(self) -> list[Type]:
        """Nothing."""
        return []

    def isSubtypeOf(self, other: Any) -> bool:
        """Whether every tensor is one of ``other``."""
        return self.tree.isSubtypeOf(getattr(other, "tree", other))

    def str(self) -> Text:
        """``Tensor``."""
        return "Tensor"

    def __str__(self) -> Text:
        return "Tensor"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapedTensorType) and other.facts == self.facts

    def __hash__(self) -> int:
        return hash(self.facts)

    def sizes(self) -> list[int] | None:
        """The sizes, if all are known."""
        sizes = self.facts.sizes
        return None if sizes is None or None in sizes else list(sizes)  # type: ignore[arg-type]

    def varyingSizes(self) -> list[int | None] | None:
        """The sizes, None where one is unknown."""
        return None if self.facts.sizes is None else list(self.facts.sizes)

    def symbolic_sizes(self) -> list[int] | None:
        """The sizes, a negative number of its own where one is unknown."""
        sizes = self.facts.sizes
        return None if sizes is None else [next(_UNKNOWN) if n is None else n for n in sizes]

    def strides(self) -> list[int] | None:
        """The strides, if all are known."""
        strides = self.facts.strides
        return None if strides is None or None in strides else list(strides)  # type: ignore[arg-type]

    def dim(self) -> int | None:
        """How many dimensions it has."""
        return None if self.facts.sizes is None else len(self.facts.sizes)

    def dtype(self) -> Any:
        """Its dtype."""
        return self.facts.dtype

    def scalarType(self) -> Any:
        """The name of its dtype in graphs: ``Float``."""
        return None if self.facts.dtype is None else DTYPE_NAMES[DTYPES.index(self.facts.dtype)]

    def device(self) -> Any:
        """Its device."""
        return self.facts.device

    def requires_grad(self) -> bool:
        """Whether it is known to be recorded by autograd."""
        return bool(self.facts.requires_grad)

    def undefined(self) -> bool:
        """Whether it is known to be no tensor at all: never."""
        return False

    def contiguous(self) -> ShapedTensorType:
        """The same with the strides that a contiguous tensor has."""
        sizes = self.sizes()
        strides = None if sizes is None else tuple(taeda.empty(sizes, device="meta").stride())
        return ShapedTensorType(replace(self.facts, strides=strides))

    def with_sizes(self, sizes: Any) -> ShapedTensorType:
        """The same with other sizes."""
        return ShapedTensorType(replace(self.facts, sizes=None if sizes is None else tuple(sizes), strides=None))

    def with_dtype(self, dtype: Any) -> ShapedTensorType:
        """The same with another dtype."""
        return ShapedTensorType(replace(self.facts, dtype=dtype))

    def with_device(self, device: Any) -> ShapedTensorType:
        """The same on another device."""
        return ShapedTensorType(replace(self.facts, device=device))
