"""What the nodes of a rendezvous agree on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

__all__ = ["RendezvousState"]


@dataclass
class RendezvousState:
    """A round: who takes part, and who waits for the next one.

    While it is not complete, nodes come in. When it is, each has its rank; nodes that come later wait, or are spare
    where there is no room for more. It ends when the last one has left, and the next begins.
    """

    round: int = 0
    complete: bool = False
    closed: bool = False
    participants: dict[str, int | None] = field(default_factory=dict)  # and their ranks
    waiting: list[str] = field(default_factory=list)
    spare: list[str] = field(default_factory=list)
    beats: dict[str, int] = field(default_factory=dict)  # how often each node has said that it lives

    def to_bytes(self) -> bytes:
        """For the store."""
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def of(data: bytes) -> RendezvousState:
        """Of what `to_bytes` gave.

        Raises:
            ValueError: it is something else.
        """
        try:
            return RendezvousState(**json.loads(data))
        except TypeError as error:
            raise ValueError(str(error)) from error

    def join(self, node: str, most: int) -> None:
        """``node`` comes in, or waits. The round is complete when ``most`` are in."""
        self.beats.setdefault(node, 0)
        if self.closed or node in self.participants:
            return
        self._stop_waiting(node)
        if self.complete:
            (self.waiting if len(self.participants) < most else self.spare).append(node)
            return
        self.participants[node] = None
        if len(self.participants) == most:
            self.finish()

    def finish(self) -> None:
        """The round is complete: everybody in it gets a rank."""
        if not self.complete:
            self.complete = True
            self.participants = {node: rank for rank, node in enumerate(sorted(self.participants, key=_place))}

    def leave(self, node: str) -> None:
        """``node`` is no part any more; after the last one the next round begins."""
        self.beats.pop(node, None)
        self._stop_waiting(node)
        self.participants.pop(node, None)
        if self.complete and not self.participants:
            self.complete = False
            self.round += 1

    def _stop_waiting(self, node: str) -> None:
        for line in (self.waiting, self.spare):
            if node in line:
                line.remove(node)


def _place(node: str) -> tuple[str, int, int]:
    """Where a node stands among others: by address, process and number there."""
    address, process, number = node.rsplit("_", 2)
    return address, int(process), int(number)
