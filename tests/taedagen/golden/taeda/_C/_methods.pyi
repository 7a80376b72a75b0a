# Made by taedagen.
from collections.abc import Sequence
from typing import Any, overload

from taeda import Generator, Tensor, device, dtype, layout, memory_format

Number = int | float | bool | complex

class TensorMethods:
    def twice(self, *, out: Tensor | None = None) -> Tensor: ...
    def twice_(self) -> Tensor: ...
    def turned(self, dim0: int, dim1: int) -> Tensor: ...
