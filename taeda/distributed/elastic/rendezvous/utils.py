"""Addresses and settings from texts."""

from __future__ import annotations

import contextlib
import ipaddress
import random
import re
import socket
import threading
import time
import weakref
from collections.abc import Callable
from datetime import timedelta
from typing import Any

__all__ = ["parse_rendezvous_endpoint"]

_MOMENT = 1.0  # seconds


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


def _delay(seconds: float | tuple[float, float]) -> None:
    """Waits, within bounds for a time that chance decides."""
    time.sleep(random.uniform(*seconds) if isinstance(seconds, tuple) else seconds)


class _PeriodicTimer:
    """Calls a function again and again in a thread of its own, until it is cancelled or nobody holds the timer.

    Args:
        interval: between the end of a call and the next one.
        function: what to call, with the arguments that follow. It must not hold the timer.

    Raises:
        RuntimeError: started or named after its start.
    """

    def __init__(self, interval: timedelta, function: Callable[..., None], *args: Any, **kwargs: Any) -> None:
        self._name: str | None = None
        self._work = interval.total_seconds(), lambda: function(*args, **kwargs)
        self._end: weakref.finalize[Any, _PeriodicTimer] | None = None

    @property
    def name(self) -> str | None:
        """The thread's."""
        return self._name

    def set_name(self, name: str) -> None:
        """Names the thread that will be."""
        self._want_new("set_name")
        self._name = name

    def start(self) -> None:
        """Begins, with a wait."""
        self._want_new("start")
        stopped = threading.Event()
        work = (*self._work, stopped)
        thread = threading.Thread(target=self._run, args=work, name=self._name or "PeriodicTimer", daemon=True)
        self._end = weakref.finalize(self, self._stop, thread, stopped)
        self._end.atexit = False
        thread.start()

    def cancel(self) -> None:
        """Ends; waits a moment for a call that is under way."""
        if self._end is not None:
            self._end()

    def _want_new(self, function: str) -> None:
        if self._end is not None:
            raise RuntimeError(f"taeda.distributed.elastic._PeriodicTimer.{function}: it has been started already")

    @staticmethod
    def _run(interval: float, call: Callable[[], None], stopped: threading.Event) -> None:
        while not stopped.wait(interval):
            call()

    @staticmethod
    def _stop(thread: threading.Thread, stopped: threading.Event) -> None:
        stopped.set()
        if thread is not threading.current_thread():
            thread.join(_MOMENT)
