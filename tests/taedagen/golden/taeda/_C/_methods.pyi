# Made by taedagen.
# mypy: disable-error-code="overload-cannot-match, overload-overlap, misc"
from builtins import bool as Bool, complex as Complex, float as Float, int as Int, str as Str
from collections.abc import Sequence
from typing import Any, overload

from taeda import return_types
from taeda._C import (
    Generator, Size, UntypedStorage, device as _device, dtype as Dtype, layout as Layout, memory_format as MemoryFormat
)
from taeda._tensor import Tensor
from taeda.storage import TypedStorage

Number = Int | Float | Bool | Complex
Device = _device | Str | Int
Storage = UntypedStorage | TypedStorage

class TensorMethods:
    def twice(self, *, out: Tensor | None = None) -> Tensor: ...
    def twice_(self) -> Tensor: ...
    def turned(self, dim0: Int, dim1: Int) -> Tensor: ...
class TensorOperators:
    def __mul__(self, other: Tensor | Number) -> Tensor: ...
    def __rmul__(self, other: Tensor | Number) -> Tensor: ...
