"""A device of one of the processes."""

from __future__ import annotations

import taeda

_FORMS = "'cpu', 'worker_name/cpu' or 'rank:0/cpu'"


class _remote_device:
    """A device, and whose: of a worker of remote calls, by name, or of a rank.

    Args:
        remote_device: ``"cpu"``, ``"worker_name/cpu"``, ``"rank:0/cpu"`` or a device; the worker alone means its CPU.

    Raises:
        ValueError: anything else.
    """

    def __init__(self, remote_device: str | taeda.device) -> None:
        whose, slash, device = str(remote_device).rpartition("/")
        if not slash and isinstance(remote_device, str) and not _is_device(device):
            whose, device = device, "cpu"
        self._worker_name: str | None = None
        self._rank: int | None = None
        if whose.startswith("rank:") and whose[5:].isdigit():
            self._rank = int(whose[5:])
        elif whose and ":" not in whose and "/" not in whose:
            self._worker_name = whose
        if not _is_device(device) or (whose or slash) and self._rank is None and self._worker_name is None:
            raise ValueError(f"_remote_device: {_FORMS} is wanted; got {remote_device!r}")
        self._device = taeda.device(device)

    def worker_name(self) -> str | None:
        """The worker, if it was named."""
        return self._worker_name

    def rank(self) -> int | None:
        """The rank, if it was given."""
        return self._rank

    def device(self) -> taeda.device:
        """The device there."""
        return self._device

    def __repr__(self) -> str:
        whose = f"{self._worker_name}/" if self._rank is None else f"rank:{self._rank}/"
        return f"{whose if whose != 'None/' else ''}{self._device}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _remote_device) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def _is_device(text: str) -> bool:
    try:
        taeda.device(text)
    except RuntimeError:
        return False
    return True
