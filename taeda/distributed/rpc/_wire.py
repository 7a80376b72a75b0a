"""Messages over a socket: a head of fixed size, what the message says, and the memory of its tensors."""

from __future__ import annotations

import pickle
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Generator
from enum import IntEnum
from typing import Any, NamedTuple

from taeda import Tensor
from taeda.distributed.rpc import _pickling as pickling
from taeda.distributed.rpc._pickling import Packed, Shape

_HEAD = struct.Struct("<BQQQ")  # kind, number of the request, bytes of the preface and of the pickle
_MOST_PARTS = 512  # of one system call
_ENOUGH = 1 << 24  # bytes of one connection, until others have their turn


class Kind(IntEnum):
    """What a message asks for, or that it answers."""

    ANSWER = 0
    ERROR = 1
    CALL = 2
    REMOTE = 3  # make an object that stays here
    FETCH = 4  # its value
    FORK = 5  # somebody more refers to it
    ADOPTED = 6  # the reference that was sent has come, and the owner knows
    DELETE = 7
    MAP = 8  # of the part of a graph that is here
    BEGIN = 9
    GRADIENTS = 10
    FINISH = 11
    RELEASE = 12


class Message(NamedTuple):
    """A message that has arrived. ``graph`` says to which recorded graph its tensors belong."""

    kind: Kind
    number: int
    graph: tuple[int, int] | None
    shapes: list[Shape]
    data: bytearray
    tensors: list[Tensor]


class Connection:
    """One connection. Any thread may send; one alone receives."""

    def __init__(self, link: socket.socket, arrived: Callable[[Connection, Message], None], peer: int) -> None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.link, self.peer = link, peer
        self._arrived = arrived
        self._lock = threading.Lock()
        self._reader = self._read()
        self._room = next(self._reader)

    def fileno(self) -> int:
        return self.link.fileno()

    def send(
        self, kind: Kind, number: int, graph: tuple[int, int] | None, packed: Packed, deadline: float | None = None
    ) -> None:
        """Sends a message, whole.

        Raises:
            OSError: the connection is lost; it is if the other end takes nothing before the ``deadline``.
        """
        dense = [pickling.parts_of(tensor) for tensor in packed.tensors]
        shapes = [tuple(pickling.shape_of(tensor, parts)) for tensor, parts in zip(packed.tensors, dense)]
        preface = pickle.dumps((graph, shapes)) if graph or shapes else b""
        head = _HEAD.pack(kind, number, len(preface), len(packed.data)) + preface
        parts = [
            memoryview(head),
            memoryview(packed.data),
            *(pickling.memory_of(part) for parts in dense for part in parts),
        ]
        if not self._lock.acquire(timeout=-1 if deadline is None else max(0.0, deadline - time.monotonic())):
            raise TimeoutError("another message to it was not taken")
        try:
            self._send([part for part in parts if len(part)], deadline)
        finally:
            self._lock.release()

    def _wait_for_room(self, deadline: float | None) -> None:
        ready = select.poll()
        try:
            ready.register(self.link, select.POLLOUT)
        except ValueError:
            raise OSError("the connection has ended") from None
        if not ready.poll(None if deadline is None else max(0.0, 1000 * (deadline - time.monotonic()))):
            self.link.shutdown(socket.SHUT_RDWR)  # a message that ends within cannot be followed by another
            raise TimeoutError("it takes no messages: the call ran for more than its timeout")

    def _send(self, parts: list[memoryview], deadline: float | None) -> None:
        first = 0
        while first < len(parts):
            try:
                sent = self.link.sendmsg(parts[first : first + _MOST_PARTS], [], socket.MSG_DONTWAIT)
            except BlockingIOError:
                self._wait_for_room(deadline)
                continue
            while first < len(parts) and sent >= len(parts[first]):
                sent -= len(parts[first])
                first += 1
            if sent:
                parts[first] = parts[first][sent:]

    def receive(self) -> None:
        """Takes what there is, and hands on what is whole.

        Raises:
            OSError, EOFError: the connection has ended.
        """
        taken = 0
        while taken < _ENOUGH:
            try:
                count = self.link.recv_into(self._room, 0, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            if count == 0:
                raise EOFError("the connection has ended")
            taken += count
            self._room = self._room[count:]
            while not len(self._room):
                self._room = next(self._reader)

    def _read(self) -> Generator[memoryview, None, None]:
        """Yields one room after the other, each to be filled."""
        while True:
            head = bytearray(_HEAD.size)
            yield memoryview(head)
            kind, number, preface_size, size = _HEAD.unpack(head)
            preface, data = bytearray(preface_size), bytearray(size)
            yield memoryview(preface)
            yield memoryview(data)
            graph, listed = pickle.loads(preface) if preface else (None, [])
            shapes = [Shape(*shape) for shape in listed]
            rooms = [pickling.room_for(shape) for shape in shapes]
            for room in rooms:
                for part in room:
                    yield pickling.memory_of(part)
            tensors = [pickling.joined(shape, room) for shape, room in zip(shapes, rooms)]
            self._arrived(self, Message(Kind(kind), number, graph, shapes, data, tensors))

    def close(self) -> None:
        """Ends the connection, also for a thread that is sending."""
        try:
            self.link.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.link.close()


class Failure(NamedTuple):
    """An exception that was raised elsewhere."""

    kind: type[BaseException]
    text: str

    def exception(self) -> BaseException:
        """The same kind of exception here, if it can be made from a text; else a RuntimeError."""
        try:
            made: Any = self.kind(self.text)
        except Exception:
            made = None
        return made if isinstance(made, BaseException) else RuntimeError(self.text)
