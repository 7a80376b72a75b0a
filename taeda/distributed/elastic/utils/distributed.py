"""Stores that processes of a job meet at."""

from __future__ import annotations

import socket
from datetime import timedelta
from typing import Any

from taeda.distributed._errors import DistNetworkError
from taeda.distributed._store import TCPStore
from taeda.distributed.elastic.utils.api import get_socket_with_port

__all__ = ["create_c10d_store", "get_free_port", "get_socket_with_port"]


def create_c10d_store(
    is_server: bool,
    server_addr: str,
    server_port: int = -1,
    world_size: int = 1,
    timeout: float = 600,
    wait_for_workers: bool = True,
    retries: int = 3,
    use_libuv: bool | None = None,
) -> TCPStore:
    """A `TCPStore` at an address.

    Args:
        is_server: whether this process serves it.
        server_port: -1 has the server take a free one.
        timeout: seconds to wait for the server, and for keys.
        wait_for_workers: wait until ``world_size`` processes have come.
        retries: how often to take another port, where one was to be found.

    Raises:
        ValueError: a client, or a server with workers to wait for, needs a port.
        DistNetworkError: the port is taken, or nobody serves there.
    """
    if server_port == -1 and world_size > 1:
        raise ValueError(
            f"taeda.distributed.elastic.create_c10d_store: {world_size} processes are to know the server's port; got "
            f"{server_port}"
        )
    given = dict[str, Any](
        world_size=world_size, is_master=is_server, timeout=timedelta(seconds=timeout), wait_for_workers=False
    )
    try:
        store = TCPStore(server_addr, max(server_port, 0), **given)
    except DistNetworkError:
        if server_port != -1 or retries <= 1:
            raise
        return create_c10d_store(is_server, server_addr, -1, world_size, timeout, wait_for_workers, retries - 1)
    if wait_for_workers:
        store.barrier("taeda/all-here", world_size)
    return store


def get_free_port() -> int:
    """The number of a port that was free a moment ago."""
    with get_socket_with_port() as sock:
        return int(sock.getsockname()[1])


def address_towards(host: str, port: int) -> str:
    """By which address of this machine its packets to ``host`` leave: what others there can reach it by.

    Its full name where that cannot be told.
    """
    try:
        family, kind, protocol, _, there = socket.getaddrinfo(host, port or 1, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.connect(there)  # a datagram's socket: nothing is sent
            return str(probe.getsockname()[0])
    except OSError:
        return socket.getfqdn()
