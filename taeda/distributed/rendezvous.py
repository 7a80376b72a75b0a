"""How a process learns its rank, the number of processes and where they meet, from an address."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from taeda.distributed._store import FileStore, HashStore, PrefixStore, Store, TCPStore
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
    MASTER_ADDR and MASTER_PORT. The arguments come first. The server of the store is in rank 0's process.

    Raises:
        RuntimeError: no handler for such an address.
        ValueError: something is missing in it.
    """
    if not isinstance(url, str):
        raise RuntimeError(f"taeda.distributed.rendezvous: url is wanted as a string; got {url!r}")
    parts = urlsplit(url)
    if parts.scheme in _handlers:
        given = {"rank": rank, "world_size": world_size}
        query = "&".join([*filter(None, [parts.query]), *(f"{k}={v}" for k, v in given.items() if v != -1)])
        return _handlers[parts.scheme](parts._replace(query=query).geturl(), timeout=timeout, **kwargs)
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


def _both(parts: SplitResult, variables: bool = False) -> tuple[int, int]:
    rank, world_size = _number(parts, "rank", variables), _number(parts, "world_size", variables)
    if world_size > 1 and not 0 <= rank < world_size:
        raise ValueError(f"taeda.distributed: rank {rank} is none of a world of {world_size}")
    return rank, world_size


def _at_server(host: str, port: int, rank: int, world_size: int, timeout: timedelta) -> Store:
    """A store whose server is in the process of rank 0, unless a launcher has one. One process needs to meet nobody."""
    launched = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    if world_size == 1 and not launched:
        return HashStore()
    store = TCPStore(host, port, world_size, rank == 0 and not launched, timeout, False, True)
    if launched:  # it serves all attempts of the job
        return PrefixStore(f"/worker/attempt_{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
    return store


def _env(url: str, timeout: timedelta = default_pg_timeout, **_: Any) -> Meeting:
    rank, world_size = _both(urlsplit(url), variables=True)
    host, port = _variable("MASTER_ADDR"), int(_variable("MASTER_PORT"))
    yield _at_server(host, port, rank, world_size, timeout), rank, world_size


def _tcp(url: str, timeout: timedelta = default_pg_timeout, **_: Any) -> Meeting:
    parts = urlsplit(url)
    if parts.port is None:
        _missing("tcp", "the port number")
    rank, world_size = _both(parts)
    yield _at_server(parts.hostname or "localhost", int(parts.port or 0), rank, world_size, timeout), rank, world_size


def _file(url: str, **_: Any) -> Meeting:
    parts = urlsplit(url)
    if not parts.path:
        _missing("file", "the path")
    rank, world_size = _both(parts)
    yield HashStore() if world_size == 1 else FileStore(parts.path, world_size), rank, world_size


for _scheme, _handler in (("env", _env), ("tcp", _tcp), ("file", _file)):
    register_rendezvous_handler(_scheme, _handler)
