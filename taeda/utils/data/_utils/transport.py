"""Sending objects with tensors through a pipe.

An object is pickled with its arrays and tensors left out of the stream (pickle protocol 5). Small buffers follow
through the pipe. Large ones are written to an anonymous memory file whose descriptor goes over, and the receiver maps
it: the data is copied once, there is no name to leak if a process is killed, and the memory goes with the last tensor
on it. One file holds a whole batch and is closed once mapped, so that any number of batches can be kept. A tensor that
is in shared memory already is not copied: the receiver gets the same memory.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
from typing import Any

import taeda
from taeda import Tensor, UntypedStorage
from taeda.multiprocessing.connection import Connection, collecting, latest, unpacking
from taeda.multiprocessing.reductions import reduce_storage, reduce_tensor

_ALIGN = 64  # bytes; what vector kernels like best
_INLINE = 1 << 20  # bytes up to which the pipe is no slower than a memory file (measured)
_WRITE_AT_ONCE = 512  # buffers in one system call; IOV_MAX is 1024 and each may need padding
_HAS_MEMORY_FILES = hasattr(os, "memfd_create")


class _Pickler(pickle.Pickler):
    """Leaves the elements of plain CPU tensors out of the stream, and shared memory where it is."""

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is Tensor and obj.layout is taeda.strided:
            return _reduce(obj)
        if isinstance(obj, UntypedStorage) and obj.device.type == "cpu" and obj.is_shared():
            return reduce_storage(obj)
        return NotImplemented


def _reduce(tensor: Tensor) -> Any:
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "DataLoader: a worker cannot send a tensor that requires grad and is no leaf; detach() it in the dataset"
        )
    if tensor.device.type != "cpu" or tensor.is_shared():
        return reduce_tensor(tensor)
    if tensor.is_quantized or tensor.__dict__:
        return NotImplemented
    plain = tensor.detach().resolve_conj().resolve_neg()
    order = _order_in_memory(plain)
    if order is not None:
        plain = plain.permute(order)
    plain = plain.contiguous()
    buffer: Any = None
    if plain.numel():
        array: Any = plain.reshape(-1).view(taeda.uint8).numpy()
        buffer = pickle.PickleBuffer(array)
    return _rebuild, (buffer, plain.dtype, tuple(plain.shape), order, tensor.requires_grad)


def _order_in_memory(tensor: Tensor) -> tuple[int, ...] | None:
    """The dimensions as they lie in memory, where that is another order without gaps (``channels_last``, say)."""
    if tensor.is_contiguous():
        return None
    strides = tensor.stride()
    order = tuple(sorted(range(len(strides)), key=lambda dim: -strides[dim]))
    return order if tensor.permute(order).is_contiguous() else None


def _rebuild(
    buffer: Any, dtype: Any, shape: tuple[int, ...], order: tuple[int, ...] | None, requires_grad: bool
) -> Tensor:
    if buffer is None:
        return taeda.empty(shape, dtype=dtype, requires_grad=requires_grad)
    tensor = taeda.frombuffer(buffer, dtype=taeda.uint8).view(dtype).view(shape)
    if order is not None:
        tensor = tensor.permute([order.index(dim) for dim in range(len(order))])
    return tensor.requires_grad_() if requires_grad else tensor


def send(connection: Connection, obj: Any) -> None:
    """Sends ``obj``; blocks while the pipe is full.

    Raises:
        OSError: the other side is gone.
        Exception: whatever pickling ``obj`` raises; nothing was sent then.
    """
    buffers: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    with collecting() as descriptors:
        _Pickler(stream, 5, buffer_callback=buffers.append).dump(obj)
    parts = [buffer.raw() for buffer in buffers]
    sizes = [part.nbytes for part in parts]
    total = sum(_padded(size) for size in sizes)
    pieces: list[Any] = []
    for part, size in zip(parts, sizes, strict=True):
        pieces += [part, bytes(_padded(size) - size)]
    if not (_HAS_MEMORY_FILES and total > _INLINE):
        _send_with(connection, descriptors, (stream.getvalue(), sizes, None))
        if parts:
            connection.send_bytes(b"".join(pieces))
        return
    file = os.memfd_create("taeda_batch")
    try:
        _write_all(file, pieces)
        descriptors.append((file, None))
        _send_with(connection, descriptors, (stream.getvalue(), sizes, len(descriptors) - 1))
    finally:
        os.close(file)


def _send_with(connection: Connection, descriptors: list[Any], message: Any) -> None:
    with collecting(descriptors):
        connection.send_bytes(pickle.dumps(message))


def receive(connection: Connection) -> Any:
    """The next object; its tensors and arrays own writable memory.

    Raises:
        EOFError, OSError: the other side is gone.
    """
    payload, sizes, file_index = pickle.loads(connection.recv_bytes())
    received = latest()
    memory: Any = b""
    if file_index is not None:
        file = received.take(file_index)
        try:
            memory = mmap.mmap(file, 0, flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
        finally:
            os.close(file)
    elif sizes:
        memory = bytearray(connection.recv_bytes())
    view, buffers, offset = memoryview(memory), [], 0
    for size in sizes:
        buffers.append(view[offset : offset + size])
        offset += _padded(size)
    with unpacking(received):
        return pickle.loads(payload, buffers=buffers)


def _padded(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


def _write_all(file: int, pieces: list[Any]) -> None:
    """Writes every byte of ``pieces``; a system call may write less than it was given."""
    for start in range(0, len(pieces), _WRITE_AT_ONCE):
        waiting = [memoryview(piece).cast("B") for piece in pieces[start : start + _WRITE_AT_ONCE] if len(piece)]
        while waiting:
            written = os.writev(file, waiting)
            while waiting and written >= len(waiting[0]):
                written -= len(waiting.pop(0))
            if written:
                waiting[0] = waiting[0][written:]
