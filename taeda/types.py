"""Names for annotations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import taeda

if TYPE_CHECKING:
    from taeda.storage import TypedStorage, UntypedStorage

    Storage: TypeAlias = UntypedStorage | TypedStorage

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number: TypeAlias = int | float | bool
Device: TypeAlias = taeda.device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]

_bool, _int, _float, _complex, _str, _bytes = bool, int, float, complex, str, bytes
_device: TypeAlias = taeda.device
_dtype: TypeAlias = taeda.dtype
_layout: TypeAlias = taeda.layout
_Number = (bool, int, float)
_size: TypeAlias = taeda.Size | list[int] | tuple[int, ...]
_TensorOrTensors: TypeAlias = taeda.Tensor | Sequence[taeda.Tensor]


def __getattr__(name: str) -> Any:
    if name == "Storage":  # the one for which more must be loaded
        from taeda.storage import TypedStorage, UntypedStorage

        return UntypedStorage | TypedStorage
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
