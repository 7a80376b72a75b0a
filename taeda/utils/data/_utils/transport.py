"""Sending objects with tensors through a pipe.

An object is pickled with its arrays and tensors left out of the stream (pickle protocol 5). Small buffers follow
through the pipe. Large ones are written to an anonymous memory file whose descriptor goes over, and the receiver maps
it: the data is copied once, there is no name to leak if a process is killed, and the memory goes with the last tensor
on it.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import taeda
from taeda import Tensor

_ALIGN = 64  # bytes; what vector kernels like best
_INLINE = 1 << 20  # bytes up to which the pipe is no slower than a memory file (measured)
_WRITE_AT_ONCE = 512  # buffers in one system call; IOV_MAX is 1024 and each may need padding
_HAS_MEMORY_FILES = hasattr(os, "memfd_create")


class _Pickler(pickle.Pickler):
    """Leaves the elements of plain CPU tensors out of the stream."""

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is Tensor and obj.layout is taeda.strided and obj.device.type == "cpu":
            return _reduce(obj)
        return NotImplemented


def _reduce(tensor: Tensor) -> Any:
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "DataLoader: a worker cannot send a tensor that requires grad and is no leaf; detach() it in the dataset"
        )
    if tensor.is_quantized:
        return NotImplemented
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    buffer: Any = None
    if plain.numel():
        buffer = pickle.PickleBuffer(plain.reshape(-1).view(taeda.uint8).numpy())
    return _rebuild, (buffer, plain.dtype, tuple(plain.shape), tensor.requires_grad)


def _rebuild(buffer: Any, dtype: Any, shape: tuple[int, ...], requires_grad: bool) -> Tensor:
    if buffer is None:
        return taeda.empty(shape, dtype=dtype, requires_grad=requires_grad)
    tensor = taeda.frombuffer(buffer, dtype=taeda.uint8).view(dtype).view(shape)
    return tensor.requires_grad_() if requires_grad else tensor


def send(connection: Connection, obj: Any) -> None:
    """Sends ``obj``; blocks while the pipe is full.

    Raises:
        OSError: the other side is gone.
        Exception: whatever pickling ``obj`` raises; nothing was sent then.
    """
    buffers: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _Pickler(stream, 5, buffer_callback=buffers.append).dump(obj)
    parts = [buffer.raw() for buffer in buffers]
    sizes = [part.nbytes for part in parts]
    total = sum(_padded(size) for size in sizes)
    as_file = _HAS_MEMORY_FILES and total > _INLINE
    connection.send_bytes(pickle.dumps((stream.getbuffer().tobytes(), sizes, as_file)))
    if not parts:
        return
    pieces: list[Any] = []
    for part, size in zip(parts, sizes, strict=True):
        pieces += [part, bytes(_padded(size) - size)]
    if not as_file:
        connection.send_bytes(b"".join(pieces))
        return
    file = os.memfd_create("taeda_batch")
    try:
        _write_all(file, pieces)
        reduction.send_handle(connection, file, 0)
    finally:
        os.close(file)


def receive(connection: Connection) -> Any:
    """The next object; its tensors and arrays own writable memory.

    Raises:
        EOFError, OSError: the other side is gone.
    """
    payload, sizes, as_file = pickle.loads(connection.recv_bytes())
    if not sizes:
        return pickle.loads(payload)
    if as_file:
        file = reduction.recv_handle(connection)
        try:
            memory: Any = mmap.mmap(file, 0, flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
        finally:
            os.close(file)
    else:
        memory = bytearray(connection.recv_bytes())
    view, buffers, offset = memoryview(memory), [], 0
    for size in sizes:
        buffers.append(view[offset : offset + size])
        offset += _padded(size)
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
