"""The connections of a worker, and the one thread that listens to them and to the clock."""

from __future__ import annotations

import heapq
import hmac
import selectors
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from taeda.distributed.rpc._wire import Connection, Message

_GREETING = 32 + 8  # bytes: the job's secret, and who calls


class Links:
    """Connections to and from other workers.

    One that begins without the job's ``secret`` is not listened to: what comes later is unpickled.
    """

    def __init__(
        self, host: str, rank: int, secret: bytes, arrived: Callable[[Connection, Message], None],
        lost: Callable[[Connection, BaseException], None],
    ) -> None:  # fmt: skip
        self._secret, self._rank = secret, rank
        self._arrived, self._lost = arrived, lost
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listening = socket.create_server((host, 0), family=family, backlog=512)
        self._listening.setblocking(False)
        self.port: int = self._listening.getsockname()[1]
        self._bell, self._rope = socket.socketpair()
        self._bell.setblocking(False)
        self._new: list[Connection] = []
        self._alarms: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._lock = threading.Lock()
        self._wakes_at = 0.0
        self._closed = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ, None)
        self._selector.register(self._bell, selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._listen, name="taeda rpc", daemon=True)
        self._thread.start()

    def connect(self, host: str, port: int, peer: int, timeout: float) -> Connection:
        """A new connection to the worker ``peer``.

        Raises:
            OSError: nobody answers there.
        """
        link = socket.create_connection((host, port), timeout)
        link.settimeout(None)
        link.sendall(self._secret + self._rank.to_bytes(8, "little"))
        made = Connection(link, self._arrived, peer)
        with self._lock:
            self._new.append(made)
        self._ring()
        return made

    @staticmethod
    def is_deserted(host: str, port: int) -> bool:
        """Whether nobody listens there; False if that cannot be told within a second."""
        try:
            socket.create_connection((host, port), 1.0).close()
        except ConnectionRefusedError:
            return True
        except OSError:
            pass
        return False

    def at(self, when: float, alarm: Callable[[], None]) -> None:
        """Calls ``alarm`` at a time of the monotonic clock."""
        with self._lock:
            self._count += 1
            heapq.heappush(self._alarms, (when, self._count, alarm))
            early = when < self._wakes_at
        if early:
            self._ring()

    def close(self) -> None:
        """Ends all connections, and the thread."""
        self._closed = True
        self._ring()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _ring(self) -> None:
        try:
            self._rope.send(b"\0", socket.MSG_DONTWAIT)
        except OSError:  # it rings already, or has been taken down
            pass

    def _listen(self) -> None:
        while not self._closed:
            for key, _ in self._selector.select(self._until_alarm()):
                if key.fileobj is self._bell:
                    self._answer_bell()
                elif key.fileobj is self._listening:
                    self._welcome()
                elif isinstance(key.fileobj, Connection):
                    self._receive(key.fileobj)
                else:
                    self._identify(key.fileobj)
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        for made in self._new:
            made.close()
        self._rope.close()
        self._selector.close()

    def _until_alarm(self) -> float:
        """Rings what is due, and says how long nothing will be."""
        while True:
            with self._lock:
                now = time.monotonic()
                if not self._alarms or self._alarms[0][0] > now:
                    self._wakes_at = self._alarms[0][0] if self._alarms else now + 60
                    return self._wakes_at - now
                alarm = heapq.heappop(self._alarms)[2]
            alarm()

    def _answer_bell(self) -> None:
        try:
            while self._bell.recv(4096):
                pass
        except BlockingIOError:
            pass
        with self._lock:
            new, self._new = self._new, []
        for made in new:
            self._selector.register(made, selectors.EVENT_READ, None)

    def _welcome(self) -> None:
        try:
            link, _ = self._listening.accept()
        except OSError:
            return
        link.setblocking(False)
        self._selector.register(link, selectors.EVENT_READ, None)

    def _identify(self, link: Any) -> None:
        try:
            greeting = link.recv(_GREETING, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError:
            greeting = b""
        if 0 < len(greeting) < _GREETING and self._secret.startswith(greeting[:32]):
            return  # the rest is under way
        self._selector.unregister(link)
        if len(greeting) < _GREETING or not hmac.compare_digest(greeting[:32], self._secret):
            link.close()
            return
        link.recv(_GREETING)
        link.setblocking(True)
        made = Connection(link, self._arrived, int.from_bytes(greeting[32:], "little"))
        self._selector.register(made, selectors.EVENT_READ, None)
        self._receive(made)

    def _receive(self, connection: Connection) -> None:
        try:
            connection.receive()
        except Exception as error:
            self._selector.unregister(connection)
            connection.close()
            self._lost(connection, error)
