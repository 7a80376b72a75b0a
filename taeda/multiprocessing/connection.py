"""Pipes that carry open files beside their bytes.

The two ends are a pair of local sockets, and a message's descriptors travel with it, in the kernel's hands: the sender
may end before anyone has read the message, and a message that nobody reads any more closes its files by itself. The
pipes of the standard library cannot do that; objects sent over those fall back on its server thread.
"""

from __future__ import annotations

import array
import contextlib
import errno
import io
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from multiprocessing import connection, reduction
from typing import Any

__all__ = ["Connection", "Pipe"]

_HEADER = struct.Struct("!QI")  # bytes of the message, descriptors that come with it
_MOST_AT_ONCE = 253  # descriptors in one system call: Linux' limit
_ROOM = socket.CMSG_SPACE(_MOST_AT_ONCE * array.array("i").itemsize)
_JOINED = 1 << 14  # bytes up to which header and message are sent as one piece
_RETRY = 0.005  # seconds until descriptors are sent again when too many are on their way


class _Received:
    """The descriptors of one message; those that nobody takes are closed."""

    def __init__(self) -> None:
        self.descriptors: list[int | None] = []

    def take(self, index: int) -> int:
        """The descriptor at ``index``, the caller's from now on."""
        descriptor = self.descriptors[index] if index < len(self.descriptors) else None
        if descriptor is None:
            raise RuntimeError(
                "taeda.multiprocessing: the message's descriptors are gone; unpickle it once, on arrival"
            )
        self.descriptors[index] = None
        return descriptor

    def __del__(self) -> None:
        for descriptor in self.descriptors:
            if descriptor is not None:
                os.close(descriptor)


class _Thread(threading.local):
    """What one thread is sending and what it received last."""

    outgoing: list[tuple[int, Any]] | None = None  # descriptors, each with what keeps it open; None: not collecting
    incoming: _Received | None = None


_thread = _Thread()


class Ancillary:
    """Stands in a pickle for a descriptor that travels beside it."""

    def __init__(self, index: int) -> None:
        self.index = index

    def detach(self) -> int:
        """The descriptor, the caller's from now on."""
        return (_thread.incoming or _Received()).take(self.index)


@contextlib.contextmanager
def collecting(descriptors: list[tuple[int, Any]] | None = None) -> Iterator[list[tuple[int, Any]]]:
    """What this thread pickles inside the block goes through a :class:`Connection`, which takes the descriptors."""
    before = _thread.outgoing
    _thread.outgoing = [] if descriptors is None else descriptors
    try:
        yield _thread.outgoing
    finally:
        _thread.outgoing = before


def attach(descriptors: list[tuple[int, Any]]) -> None:
    """The next message that this thread sends carries ``descriptors``."""
    _thread.outgoing = descriptors


def carried(descriptor: int, owner: Any) -> Any:
    """What to pickle for ``descriptor``: an object whose ``detach()`` gives the receiver a copy.

    Args:
        owner: what keeps the descriptor open; held until it is sent.
    """
    if _thread.outgoing is None:
        return reduction.DupFd(descriptor)
    _thread.outgoing.append((descriptor, owner))
    return Ancillary(len(_thread.outgoing) - 1)


def latest() -> Any:
    """The descriptors of the message that this thread received last."""
    return _thread.incoming


@contextlib.contextmanager
def unpacking(received: Any) -> Iterator[None]:
    """What this thread unpickles inside the block came with ``received``, see :func:`latest`."""
    before, _thread.incoming = _thread.incoming, received
    try:
        yield
    finally:
        _thread.incoming = before


class Connection(connection.Connection):
    """One end of a pipe; see ``multiprocessing.connection.Connection``."""

    _channel: socket.socket | None = None

    def send(self, obj: Any) -> None:
        """Sends a pickled object and the memory of its tensors."""
        with collecting():
            super().send(obj)

    def _socket(self) -> socket.socket:
        if self._channel is None:
            self._channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, self.fileno())
            self._channel.setblocking(True)
        return self._channel

    def _close(self) -> None:  # type: ignore[override]
        if self._channel is not None:
            self._channel.detach()
            self._channel = None
        os.close(self._handle)  # type: ignore[attr-defined]

    def _send_bytes(self, buf: Any) -> None:
        descriptors, _thread.outgoing = _thread.outgoing or [], None
        header = _HEADER.pack(len(buf), len(descriptors))
        numbers = [number for number, _ in descriptors]
        first = [header, buf] if len(buf) <= _JOINED and len(numbers) <= _MOST_AT_ONCE else [header]
        self._send_pieces(first, numbers[:_MOST_AT_ONCE])
        for start in range(_MOST_AT_ONCE, len(numbers), _MOST_AT_ONCE):
            self._send_pieces([b"\0"], numbers[start : start + _MOST_AT_ONCE])
        if len(first) == 1:
            self._send(memoryview(buf))  # type: ignore[attr-defined]

    def _send_pieces(self, pieces: list[Any], descriptors: list[int]) -> None:
        """Sends small pieces, the descriptors with the first byte of them."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        while True:
            try:
                sent = self._socket().sendmsg(pieces, rights)
                break
            except OSError as error:  # others must read some of theirs first
                if error.errno != errno.ETOOMANYREFS:
                    raise
                time.sleep(_RETRY)
        rest = b"".join(pieces)[sent:]
        if rest:
            self._send(rest)  # type: ignore[attr-defined]

    def _recv_bytes(self, maxsize: int | None = None) -> io.BytesIO | None:
        received = _Received()
        size, count = _HEADER.unpack(self._recv_piece(_HEADER.size, received))
        for _ in range(_MOST_AT_ONCE, count, _MOST_AT_ONCE):
            self._recv_piece(1, received)
        _thread.incoming = received
        if maxsize is not None and size > maxsize:
            return None
        message: io.BytesIO = self._recv(size)  # type: ignore[attr-defined]
        if len(received.descriptors) < count:  # said now, when the next message can be read
            raise OSError(errno.EMFILE, "taeda.multiprocessing: too many open files to receive a message's tensors")
        return message

    def _recv_piece(self, size: int, received: _Received) -> bytes:
        piece = b""
        while len(piece) < size:
            data, rights, _, _ = self._socket().recvmsg(size - len(piece), _ROOM, socket.MSG_CMSG_CLOEXEC)
            for level, kind, numbers in rights:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    received.descriptors.extend(array.array("i", numbers[: len(numbers) & ~3]))
            if not data:
                raise OSError("taeda.multiprocessing: the pipe ended in a message") if piece else EOFError
            piece += data
        return piece


def Pipe(duplex: bool = True) -> tuple[Connection, Connection]:
    """Two connected ends; without ``duplex`` the first only receives and the second only sends."""
    ends = socket.socketpair()
    for end in ends:
        end.setblocking(True)
    first, second = (end.detach() for end in ends)
    return Connection(first, writable=duplex), Connection(second, readable=duplex)


def _rebuild_connection(handle: Any, readable: bool, writable: bool) -> Connection:
    return Connection(handle.detach(), readable, writable)


def _reduce_connection(end: Connection) -> Any:
    return _rebuild_connection, (carried(end.fileno(), end), end.readable, end.writable)


reduction.register(Connection, _reduce_connection)
