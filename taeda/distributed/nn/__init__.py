"""What a group of processes does together with tensors, as functions that gradients pass through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taeda.distributed.nn import functional as functional
from taeda.distributed.nn.functional import *  # noqa: F403

if TYPE_CHECKING:
    from taeda.distributed.nn.api.remote_module import RemoteModule as RemoteModule


def __getattr__(name: str) -> Any:
    if name == "RemoteModule":  # with workers that call each other, which most programs have not
        from taeda.distributed.nn.api.remote_module import RemoteModule

        return RemoteModule
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
