"""Objects with a state of their own."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, runtime_checkable

__all__ = ["Stateful", "StatefulT"]


@runtime_checkable
class Stateful(Protocol):
    """Whose ``state_dict()`` is saved in its place, and given to ``load_state_dict``."""

    def state_dict(self) -> dict[str, Any]:
        """What is to be saved."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what was saved."""
        ...


StatefulT = TypeVar("StatefulT", bound=Stateful)
