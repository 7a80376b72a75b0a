"""Who takes part."""

from __future__ import annotations

import re
from typing import NamedTuple

_LONGEST = 127


class _Pair(NamedTuple):
    name: str
    id: int


class WorkerInfo(_Pair):
    """The name and the number of a worker.

    Raises:
        RuntimeError: the name is none.
    """

    __slots__ = ()

    def __new__(cls, name: str, id: int) -> WorkerInfo:
        return super().__new__(cls, checked_name(name), id)

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
