"""Objects as bytes, beside the memory of their tensors, which goes to the socket, and comes from it, as it is."""

from __future__ import annotations

import ctypes
import io
import pickle
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda.futures import Future
from taeda.nn.parameter import Parameter

__all__ = ["Packed", "Shape", "joined", "memory_of", "pack", "parts_of", "room_for", "shape_of", "unpack"]


class Shape(NamedTuple):
    """What a tensor is made anew from, besides its memory."""

    dtype: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    requires_grad: bool
    sparse: tuple[int, int, bool] | None = None  # entries, sparse dimensions, whether they are in order


class Packed(NamedTuple):
    """An object on its way: the pickle, and the tensors that it names by number."""

    data: bytes
    tensors: list[Tensor]


def pack(value: Any) -> Packed:
    """The object for another worker.

    Raises:
        RuntimeError: it holds what belongs to this process.
    """
    out = io.BytesIO()
    pickler = _Pickler(out)
    pickler.dump(value)
    return Packed(out.getvalue(), pickler.tensors)


def unpack(data: bytes | bytearray | memoryview, tensors: list[Tensor]) -> Any:
    """The object, over tensors that have arrived."""
    return _Unpickler(io.BytesIO(data), tensors).load()


def parts_of(tensor: Tensor) -> list[Tensor]:
    """The tensors without gaps whose memory makes it."""
    if tensor.is_sparse:
        plain = tensor.detach()
        return [plain._indices().contiguous(), plain._values().contiguous()]
    return [_without_gaps(tensor)]


def shape_of(tensor: Tensor, parts: list[Tensor]) -> Shape:
    """What `room_for` and `joined` need to make it of these parts."""
    dtype, sizes = str(tensor.dtype).rpartition(".")[2], tuple(tensor.shape)
    if tensor.is_sparse:
        about = tensor._nnz(), tensor.sparse_dim(), tensor.is_coalesced()
        return Shape(dtype, sizes, (), tensor.requires_grad, about)
    return Shape(dtype, sizes, parts[0].stride(), tensor.requires_grad)


def room_for(shape: Shape) -> list[Tensor]:
    """Parts to be filled."""
    dtype = getattr(taeda, shape.dtype)
    if shape.sparse is None:
        return [taeda.empty_strided(shape.sizes, shape.strides, dtype=dtype)]
    entries, dims, _ = shape.sparse
    return [taeda.empty(dims, entries, dtype=taeda.int64), taeda.empty(entries, *shape.sizes[dims:], dtype=dtype)]


def joined(shape: Shape, parts: list[Tensor]) -> Tensor:
    """The tensor, of filled parts."""
    if shape.sparse is None:
        return parts[0]
    return taeda.sparse_coo_tensor(parts[0], parts[1], shape.sizes, is_coalesced=shape.sparse[2])


def memory_of(tensor: Tensor) -> memoryview:
    """The memory of a tensor without gaps."""
    size = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())).cast("B") if size else memoryview(b"")


def _without_gaps(tensor: Tensor) -> Tensor:
    """The tensor, or a copy whose elements lie side by side, in the order of its strides."""
    plain = tensor.detach().resolve_conj().resolve_neg()
    return plain if plain.is_contiguous() else plain.clone()


class _Pickler(pickle.Pickler):
    def __init__(self, out: io.BytesIO) -> None:
        super().__init__(out, protocol=5)
        self.tensors: list[Tensor] = []
        self.numbers: dict[int, int] = {}

    def persistent_id(self, obj: Any) -> Any:
        if type(obj) is not Tensor or not _is_simple(obj):
            return None
        number = self.numbers.setdefault(id(obj), len(self.tensors))
        if number == len(self.tensors):
            self.tensors.append(obj)
        return number

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is Parameter:
            return Parameter, (obj.detach(), obj.requires_grad)
        if isinstance(obj, Future):
            raise RuntimeError("taeda.distributed.rpc: a Future belongs to its process; send what it holds")
        reduce = getattr(type(obj), "_reduce_for_rpc", None)
        return NotImplemented if reduce is None else reduce(obj)


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: io.BytesIO, tensors: list[Tensor]) -> None:
        super().__init__(data)
        self.tensors = tensors

    def persistent_load(self, pid: int) -> Tensor:
        return self.tensors[pid]


def _is_simple(tensor: Tensor) -> bool:
    return (
        tensor.layout in (taeda.strided, taeda.sparse_coo) and tensor.device.type == "cpu" and not tensor.is_quantized
        and not tensor.is_nested
    )  # fmt: skip
