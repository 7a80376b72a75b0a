"""Names of the ways to call, as tests and tools use them."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple


class RPCExecMode(Enum):
    """The ways to call."""

    SYNC = "sync"
    ASYNC = "async"
    ASYNC_JIT = "async_jit"
    REMOTE = "remote"


class PythonUDF(NamedTuple):
    """A call."""

    func: Any
    args: Any
    kwargs: Any
