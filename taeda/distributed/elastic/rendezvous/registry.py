"""The handlers that there are."""

from __future__ import annotations

from taeda.distributed.elastic.rendezvous.api import (
    RendezvousHandler,
    RendezvousParameters,
    rendezvous_handler_registry,
)

__all__ = ["get_rendezvous_handler"]


def _static(params: RendezvousParameters) -> RendezvousHandler:
    from taeda.distributed.elastic.rendezvous import static_tcp_rendezvous

    return static_tcp_rendezvous.create_rdzv_handler(params)


def _c10d(params: RendezvousParameters) -> RendezvousHandler:
    from taeda.distributed.elastic.rendezvous.c10d_rendezvous_backend import create_backend
    from taeda.distributed.elastic.rendezvous.dynamic_rendezvous import create_handler

    backend, store = create_backend(params)
    return create_handler(store, backend, params)


rendezvous_handler_registry.register("static", _static)
rendezvous_handler_registry.register("c10d", _c10d)


def get_rendezvous_handler(params: RendezvousParameters) -> RendezvousHandler:
    """The handler for ``params.backend``: ``static``, ``c10d``, or what a program has registered.

    Raises:
        ValueError: there is no such backend.
    """
    return rendezvous_handler_registry.create_handler(params)
