"""The state of a rendezvous as a value in a store."""

from __future__ import annotations

import base64
import os
import tempfile
from datetime import timedelta
from typing import Any

from taeda.distributed._errors import DistError, DistNetworkError
from taeda.distributed._store import FileStore, Store, TCPStore
from taeda.distributed.elastic.rendezvous.api import (
    RendezvousConnectionError,
    RendezvousParameters,
    RendezvousStateError,
)
from taeda.distributed.elastic.rendezvous.dynamic_rendezvous import RendezvousBackend
from taeda.distributed.elastic.rendezvous.utils import _matches_machine_hostname, parse_rendezvous_endpoint

__all__ = ["C10dRendezvousBackend", "create_backend"]

_NOTHING = "-"  # what the key holds in place of a first state


class C10dRendezvousBackend(RendezvousBackend):
    """The state at ``torch.rendezvous.RUN_ID`` of a store; its token is what the store holds.

    Raises:
        ValueError: ``run_id`` is empty.
    """

    def __init__(self, store: Store, run_id: str) -> None:
        if not run_id:
            raise ValueError("taeda.distributed.elastic.C10dRendezvousBackend: run_id is wanted")
        self._store = store
        self._key = f"torch.rendezvous.{run_id}"

    @property
    def name(self) -> str:
        return "c10d"

    def get_state(self) -> tuple[bytes, Any] | None:
        return self._decode(self._ask("compare_set", self._key, _NOTHING, _NOTHING))

    def set_state(self, state: bytes, token: Any | None = None) -> tuple[bytes, Any, bool] | None:
        if token is not None and not isinstance(token, bytes):
            current = self.get_state()  # a token of another backend fits nothing
            return None if current is None else (*current, False)
        new = base64.b64encode(state)
        held = self._ask("compare_set", self._key, token or _NOTHING, new)
        if held == _NOTHING.encode() and token is None:  # nobody has asked before: there is no value yet
            held = self._ask("compare_set", self._key, "", new)
        decoded = self._decode(held)
        return None if decoded is None else (*decoded, held == new)

    def _ask(self, function: str, *args: Any) -> Any:
        try:
            return getattr(self._store, function)(*args)
        except (ValueError, RuntimeError) as error:
            raise RendezvousConnectionError(
                f"taeda.distributed.elastic: the store of the rendezvous cannot be reached: {error}"
            ) from error

    def _decode(self, held: bytes) -> tuple[bytes, Any] | None:
        if held == _NOTHING.encode():
            return None
        try:
            return base64.b64decode(held, validate=True), held
        except ValueError as error:
            raise RendezvousStateError("taeda.distributed.elastic: the state of the rendezvous is damaged") from error


def _tcp_store(params: RendezvousParameters) -> TCPStore:
    host, port = parse_rendezvous_endpoint(params.endpoint, default_port=29400)
    timeout = timedelta(seconds=params.get_as_int("read_timeout", 60) or 0)
    if timeout <= timedelta(0):
        raise ValueError("taeda.distributed.elastic: read_timeout is wanted above 0")
    serves = params.get_as_bool("is_host")
    try:
        if serves is None:
            # Several nodes may be on this machine: whoever comes first serves.
            serves = _matches_machine_hostname(host)
            try:
                return TCPStore(host, port, is_master=serves, timeout=timeout, multi_tenant=serves)
            except DistNetworkError:
                if not serves:
                    raise
                serves = False
        return TCPStore(host, port, is_master=serves, timeout=timeout, multi_tenant=serves)
    except (DistError, ValueError, RuntimeError) as error:
        raise RendezvousConnectionError(
            f"taeda.distributed.elastic: the store of the rendezvous at {host}:{port} cannot be "
            f"{'served' if serves else 'reached'}: {error}"
        ) from error


def _file_store(params: RendezvousParameters) -> FileStore:
    path = params.endpoint or os.path.join(tempfile.gettempdir(), "taeda_rendezvous")
    try:
        return FileStore(path)
    except (OSError, RuntimeError) as error:
        raise RendezvousConnectionError(
            f"taeda.distributed.elastic: the file of the rendezvous cannot be used: {error}"
        ) from error


def create_backend(params: RendezvousParameters) -> tuple[C10dRendezvousBackend, Store]:
    """A backend and its store: served at the endpoint if that is this machine, unless ``is_host`` says otherwise.

    The settings ``store_type`` (``tcp`` or ``file``), ``read_timeout`` (seconds) and ``is_host`` are looked at.

    Raises:
        RendezvousConnectionError: the store cannot be reached.
        ValueError: another type of store.
    """
    kind = str(params.get("store_type", "tcp")).strip().lower()
    if kind not in ("tcp", "file"):
        raise ValueError(f"taeda.distributed.elastic: store_type is wanted as tcp or file; got {kind!r}")
    store: Store = _file_store(params) if kind == "file" else _tcp_store(params)
    # What the nodes of a round wait for in the store does not hold up the state.
    held = store.clone() if isinstance(store, TCPStore) else store
    return C10dRendezvousBackend(held, params.run_id), store
