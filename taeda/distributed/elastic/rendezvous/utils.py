"""Addresses and settings from texts."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket

__all__ = ["parse_rendezvous_endpoint"]


def _parse_rendezvous_config(config_str: str) -> dict[str, str]:
    """``"a=1,b=2"`` as a dictionary.

    Raises:
        ValueError: a part is no ``key=value``.
    """
    config: dict[str, str] = {}
    for part in config_str.split(",") if config_str.strip() else ():
        key, _, value = (one.strip() for one in part.partition("="))
        if not key or not value:
            raise ValueError(f"taeda.distributed.elastic: key=value is wanted, split by commas; got {part!r}")
        config[key] = value
    return config


def parse_rendezvous_endpoint(endpoint: str | None, default_port: int) -> tuple[str, int]:
    """Host and port of ``"host:port"`` or ``"host"``; ``localhost`` for nothing.

    Raises:
        ValueError: it is neither, or the port is none.
    """
    text = (endpoint or "").strip()
    if not text:
        return "localhost", default_port
    found = re.fullmatch(r"(?P<host>\[[0-9a-fA-F:.%\w]+\]|[\w.\-]+)(?::(?P<port>\d{1,5}))?", text)
    if found is None:
        raise ValueError(f"taeda.distributed.elastic: host:port is wanted for the endpoint; got {endpoint!r}")
    port = default_port if found["port"] is None else int(found["port"])
    if port > 65535:
        raise ValueError(f"taeda.distributed.elastic: a port is at most 65535; got {endpoint!r}")
    return found["host"].strip("[]"), port


def _matches_machine_hostname(host: str) -> bool:
    """Whether ``host`` names this machine, or an address that one of its interfaces has."""
    if host == "localhost" or host in (socket.gethostname(), socket.getfqdn()):
        return True
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        if address.is_loopback or address.is_unspecified:  # the latter names every machine, so none
            return address.is_loopback
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    for family, kind, protocol, _, there in found:
        with contextlib.suppress(OSError), socket.socket(family, kind, protocol) as probe:
            probe.bind(there)  # possible for an address of one's own only
            return True
    return False
