"""Who takes part."""

from __future__ import annotations

import re
from typing import NamedTuple

_LONGEST = 127


class WorkerInfo(NamedTuple):
    """The name and the number of a worker."""

    name: str
    id: int

    def __repr__(self) -> str:
        return f"WorkerInfo(id={self.id}, name={self.name})"


def checked_name(name: object) -> str:
    """``name``, which another worker can call.

    Raises:
        RuntimeError: it is none.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[\w:-]+", name, re.ASCII) or len(name) > _LONGEST:
        raise RuntimeError(
            f"taeda.distributed.rpc: a worker's name is wanted as 1 to {_LONGEST} letters, digits, '-', '_' or ':'; "
            f"got {name!r}"
        )
    return name
