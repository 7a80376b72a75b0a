"""How a process learns its rank, the number of processes and where they meet, from an address."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from taeda.distributed._store import FileStore, PrefixStore, Store, TCPStore
from taeda.distributed.constants import default_pg_timeout

__all__ = ["register_rendezvous_handler", "rendezvous"]

Meeting = Iterator[tuple[Store, int, int]]
_handlers: dict[str, Callable[..., Meeting]] = {}


def register_rendezvous_handler(scheme: str, handler: Callable[..., Meeting]) -> None:
    """Has ``handler(url, timeout=...)``, an iterator of (store, rank, world size), answer for ``scheme://``.

    Raises:
        RuntimeError: somebody does already.
    """
    if scheme in _handlers:
        raise RuntimeError(f"taeda.distributed.register_rendezvous_handler: {scheme}:// has one already")
    _handlers[scheme] = handler


def rendezvous(
    url: str, rank: int = -1, world_size: int = -1, *, timeout: timedelta = default_pg_timeout, **kwargs: Any
) -> Meeting:
    """An iterator of one (store, rank, world size), from ``env://``, ``tcp://host:port`` or ``file://path``.

    Rank and world size may stand in the address (``?rank=0&world_size=1``); ``env://`` reads RANK, WORLD_SIZE,
    MASTER_ADDR and MASTER_PORT.

    Raises:
        RuntimeError: no handler for such an address.
        DistNetworkError: the address is taken, or nobody answers there.
        ValueError: something is missing in it.
        AssertionError: rank or world size are given twice.
    """
    if not isinstance(url, str):
        raise RuntimeError(f"taeda.distributed.rendezvous: url is wanted as a string; got {url!r}")
    parts = urlsplit(url)
    if parts.scheme in _handlers:
        given = {name: value for name, value in (("rank", rank), ("world_size", world_size)) if value != -1}
        if given and {"rank", "world_size"} & set(parse_qs(parts.query)):
            raise AssertionError(
                f"taeda.distributed.rendezvous: the address has node-specific arguments, and {given} are given, too: "
                f"{url}"
            )
        query = "&".join(f"{name}={value}" for name, value in given.items())
        whole = url + ("&" if parts.query else "?") + query if query else url
        return _handlers[parts.scheme](whole, timeout=timeout, **kwargs)
    raise RuntimeError(f"taeda.distributed.rendezvous: no handler for {parts.scheme}://; there are {sorted(_handlers)}")


def _number(parts: SplitResult, name: str, variable: bool) -> int:
    """``rank`` or ``world_size`` from the address or, if that may be, from the environment."""
    query = parse_qs(parts.query)
    if name in query:
        return int(query[name][-1])
    return int(_variable(name.upper()) if variable else _missing(parts.scheme, f"the {name}"))


def _variable(name: str) -> str:
    return os.environ.get(name) or _missing("env", f"the environment variable {name}")


def _missing(scheme: str, what: str) -> Any:
    raise ValueError(f"taeda.distributed: {what} is missing for {scheme}://")


def _env(url: str, timeout: timedelta = default_pg_timeout, **_: Any) -> Meeting:
    parts = urlsplit(url)
    rank, world_size = _number(parts, "rank", True), _number(parts, "world_size", True)
    address, port = _variable("MASTER_ADDR"), int(_variable("MASTER_PORT"))
    yield _tcp_store(parts, address, port, rank, world_size, timeout), rank, world_size


def _tcp_store(parts: SplitResult, address: str, port: int, rank: int, world_size: int, timeout: timedelta) -> Store:
    # A launcher that serves a store itself has every attempt use keys of its own.
    served = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True" and os.environ.get("MASTER_PORT") == str(port)
    serves = rank == 0 and not served
    libuv = parse_qs(parts.query).get("use_libuv", [os.environ.get("USE_LIBUV", "1")])[-1] == "1"
    store = TCPStore(
        address, port, world_size, serves, timeout, wait_for_workers=False, multi_tenant=True, use_libuv=libuv
    )
    if not served:
        return store
    return PrefixStore(f"/worker/attempt_{os.environ.get('TORCHELASTIC_RESTART_COUNT', 0)}", store)


def _tcp(url: str, timeout: timedelta = default_pg_timeout, **_: Any) -> Meeting:
    parts = urlsplit(url)
    rank, world_size = _number(parts, "rank", False), _number(parts, "world_size", False)
    if parts.port is None or parts.hostname is None:
        _missing("tcp", "the port number")
    store = _tcp_store(parts, str(parts.hostname), int(parts.port or 0), rank, world_size, timeout)
    yield store, rank, world_size


def _file(url: str, **_: Any) -> Meeting:
    parts = urlsplit(url)
    rank, world_size = _number(parts, "rank", False), _number(parts, "world_size", False)
    if not parts.path:
        _missing("file", "the path")
    yield FileStore(unquote(parts.netloc + parts.path), world_size), rank, world_size


for _scheme, _handler in (("env", _env), ("tcp", _tcp), ("file", _file)):
    register_rendezvous_handler(_scheme, _handler)
