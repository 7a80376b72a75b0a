"""Answers whoever asks over TCP whether an agent lives."""

from __future__ import annotations

import socketserver
import threading
import time
from collections.abc import Callable

__all__ = ["HealthCheckServer", "create_healthcheck_server"]


class HealthCheckServer:
    """At ``port`` answers HTTP requests: 200 if the agent was heard of within ``timeout`` seconds, else 503.

    Args:
        alive_callback: gives when that was, in seconds since 1970.
    """

    def __init__(self, alive_callback: Callable[[], int], port: int, timeout: int) -> None:
        self._alive_callback, self._port, self._timeout = alive_callback, port, timeout
        self._server: socketserver.TCPServer | None = None

    @property
    def alive_callback(self) -> Callable[[], int]:
        """Gives when the agent was last heard of."""
        return self._alive_callback

    def start(self) -> None:
        """Begins to listen, in a thread of its own."""
        outer = self

        class Answer(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.rfile.readline()
                alive = time.time() - outer._alive_callback() < outer._timeout
                status = b"200 OK" if alive else b"503 Service Unavailable"
                self.wfile.write(b"HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self._server = Server(("", self._port), Answer)
        threading.Thread(target=self._server.serve_forever, name="taeda-health", daemon=True).start()

    def stop(self) -> None:
        """Ends it."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


def create_healthcheck_server(alive_callback: Callable[[], int], port: int, timeout: int) -> HealthCheckServer:
    """A `HealthCheckServer`, which does not listen yet."""
    return HealthCheckServer(alive_callback, port, timeout)
