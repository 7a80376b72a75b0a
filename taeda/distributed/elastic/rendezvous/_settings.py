"""What a rendezvous is told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

__all__ = ["RendezvousSettings", "RendezvousTimeout"]


class RendezvousTimeout:
    """How long a round waits.

    Args:
        join: for enough nodes; 600 s by default.
        last_call: for more nodes, once there are enough; 30 s.
        close: for word that it is over to reach the store; 30 s.
        heartbeat: for word that this node lives to reach it; 5 s.

    Raises:
        ValueError: a time is not above 0.
    """

    _DEFAULTS = {"join": 600, "last_call": 30, "close": 30, "heartbeat": 5}

    def __init__(
        self, join: timedelta | None = None, last_call: timedelta | None = None, close: timedelta | None = None,
        heartbeat: timedelta | None = None,
    ) -> None:  # fmt: skip
        for name, given in {"join": join, "last_call": last_call, "close": close, "heartbeat": heartbeat}.items():
            value = timedelta(seconds=self._DEFAULTS[name]) if given is None else given
            if value <= timedelta(0):
                raise ValueError(f"taeda.distributed.elastic.RendezvousTimeout: {name} is wanted above 0; got {value}")
            setattr(self, f"_{name}", value)

    join = property(lambda self: self._join, doc="How long to wait for enough nodes.")
    last_call = property(lambda self: self._last_call, doc="How long to wait for more.")
    close = property(lambda self: self._close, doc="How long closing may take.")
    heartbeat = property(lambda self: self._heartbeat, doc="How long a heartbeat may take.")


@dataclass(repr=False, eq=False, frozen=True)
class RendezvousSettings:
    """What a rendezvous was told. A node that has not been heard of for ``keep_alive_max_attempt`` times
    ``keep_alive_interval`` is taken for dead."""

    run_id: str
    min_nodes: int
    max_nodes: int
    timeout: RendezvousTimeout
    keep_alive_interval: timedelta
    keep_alive_max_attempt: int
