"""Names for annotations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, TypeAlias

import taeda
from taeda.storage import TypedStorage, UntypedStorage

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number: TypeAlias = int | float | bool
Device: TypeAlias = taeda.device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Storage: TypeAlias = UntypedStorage | TypedStorage

_bool, _int, _float, _complex, _str, _bytes = bool, int, float, complex, str, bytes
_device: TypeAlias = taeda.device
_dtype: TypeAlias = taeda.dtype
_layout: TypeAlias = taeda.layout
_Number = (bool, int, float)
_size: TypeAlias = taeda.Size | list[int] | tuple[int, ...]
_TensorOrTensors: TypeAlias = taeda.Tensor | Sequence[taeda.Tensor]
