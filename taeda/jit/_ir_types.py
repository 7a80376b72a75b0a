"""What graphs know of types beyond the tree of types: functions as values, and facts about single tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import dtype
from taeda._schema.tensor_facts import DTYPE_NAMES as DTYPE_NAMES
from taeda._schema.tensor_facts import DTYPES as DTYPES
from taeda._schema.tensor_facts import ShapedTensorType as ShapedTensorType
from taeda._schema.tensor_facts import TensorFacts as TensorFacts
from taeda._schema.types import Type

Text = str  # methods have the name, too

LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged")
MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")


def number_of(value: Any) -> int:
    """The number by which programs know a dtype, layout or memory format."""
    if isinstance(value, dtype):
        return DTYPES.index(value)
    name = str(value).rpartition(".")[2]
    return (MEMORY_FORMATS if isinstance(value, taeda.memory_format) else LAYOUTS).index(name)


class FunctionType:
    """The type of a value that is one known function. Not of the tree: no schema speaks of it."""

    def __init__(self, function: Any) -> None:
        self.function = function

    @property
    def name(self) -> Text:
        """The function's name."""
        return self.function.name

    annotation_str = "Function"

    def str(self) -> Text:
        """``Function``."""
        return "Function"

    def __str__(self) -> Text:
        return "Function"

    __repr__ = __str__

    def kind(self) -> Text:
        """``FunctionType``."""
        return "FunctionType"

    def containedTypes(self) -> list[Type]:
        """Nothing."""
        return []

    def isSubtypeOf(self, other: Any) -> bool:
        """Whether it is the same function."""
        return isinstance(other, FunctionType) and other.function is self.function


def shaped(type: Any, facts: TensorFacts | None) -> Any:
    """The type, with facts if there are any."""
    return type if facts is None else ShapedTensorType(facts)


def contained_in(type: Any, found: Callable[[Any], bool]) -> bool:
    """Whether ``found`` says so of the type or of one it is made of."""
    return found(type) or any(contained_in(inner, found) for inner in type.containedTypes())
