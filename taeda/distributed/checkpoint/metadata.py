"""What a checkpoint says of itself: the tensors, in which chunks they are, and where these lie."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import taeda
from taeda import Size, Tensor

__all__ = [
    "BytesStorageMetadata", "ChunkStorageMetadata", "Metadata", "MetadataIndex", "StorageMeta", "TensorProperties",
    "TensorStorageMetadata",
]  # fmt: skip

STATE_DICT_TYPE = dict[str, Any]


@dataclass
class ChunkStorageMetadata:
    """A part of a tensor: where it begins, and its shape."""

    offsets: Size
    sizes: Size


class _MEM_FORMAT_ENCODING(Enum):
    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


_FORMATS = {
    taeda.contiguous_format: _MEM_FORMAT_ENCODING.TORCH_CONTIGUOUS_FORMAT,
    taeda.channels_last: _MEM_FORMAT_ENCODING.TORCH_CHANNELS_LAST,
    taeda.preserve_format: _MEM_FORMAT_ENCODING.TORCH_PRESERVE_FORMAT,
}


@dataclass
class TensorProperties:
    """What is to know of a tensor but its shape."""

    dtype: taeda.dtype = field(default_factory=taeda.get_default_dtype)
    layout: taeda.layout = taeda.strided
    requires_grad: bool = False
    memory_format: taeda.memory_format = taeda.contiguous_format
    pin_memory: bool = False

    def __getstate__(self) -> Any:
        return self.dtype, self.layout, self.requires_grad, _FORMATS[self.memory_format], self.pin_memory

    def __setstate__(self, state: Any) -> None:
        self.dtype, self.layout, self.requires_grad, memory, self.pin_memory = state
        self.memory_format = {value: key for key, value in _FORMATS.items()}[memory]

    @staticmethod
    def create_from_tensor(tensor: Tensor) -> TensorProperties:
        """Those of ``tensor``."""
        return TensorProperties(tensor.dtype, tensor.layout, tensor.requires_grad)


@dataclass
class TensorStorageMetadata:
    """A tensor in chunks."""

    properties: TensorProperties
    size: Size
    chunks: list[ChunkStorageMetadata]


@dataclass
class BytesStorageMetadata:
    """Anything else, pickled."""


@dataclass
class StorageMeta:
    """Which checkpoint this is."""

    checkpoint_id: str | os.PathLike[str] | None = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list[str] = field(default_factory=list)


@dataclass
class Metadata:
    """Of a whole checkpoint, by names.

    ``planner_data`` is the planner's, by default the paths that were flattened into names; ``storage_data`` the
    storage's, by default the file and place of each chunk.
    """

    state_dict_metadata: dict[str, TensorStorageMetadata | BytesStorageMetadata]
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass(frozen=True)
class MetadataIndex:
    """A name and, of a tensor, the chunk: where it begins; ``index`` is a hint of its number."""

    fqn: str
    offset: Size | None = None
    index: int | None = field(hash=False, compare=False, default=None)

    def __init__(self, fqn: str, offset: Sequence[int] | None = None, index: int | None = None) -> None:
        object.__setattr__(self, "fqn", fqn)
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "offset", None if offset is None else Size(offset))
