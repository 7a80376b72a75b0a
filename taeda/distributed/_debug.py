"""``DebugLevel``, and the comparison of the ranks' calls at its highest."""

from __future__ import annotations

import os
from datetime import timedelta
from enum import IntEnum
from typing import Any

from taeda import Tensor
from taeda.distributed._backend_class import CALLS
from taeda.distributed._rounds import finish
from taeda.distributed._work import Work

__all__ = ["DebugLevel", "get_debug_level", "set_debug_level", "set_debug_level_from_env"]


class DebugLevel(IntEnum):
    """How closely process groups look at what they are asked. At ``DETAIL`` each collective is compared with those that
    the other ranks call, before it begins."""

    OFF = 0
    INFO = 1
    DETAIL = 2


_level: DebugLevel | None = None


def get_debug_level() -> DebugLevel:
    """The level that was set, or that TORCH_DISTRIBUTED_DEBUG names."""
    if _level is None:
        set_debug_level_from_env()
    return _level  # type: ignore[return-value]


def set_debug_level(level: DebugLevel) -> None:
    """Sets the level, for groups that are made afterwards."""
    global _level
    _level = DebugLevel(level)


def set_debug_level_from_env() -> None:
    """Sets the level that the environment variable TORCH_DISTRIBUTED_DEBUG names: OFF (the usual), INFO or DETAIL.

    Raises:
        ValueError: it names another.
    """
    name = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper()
    if name not in DebugLevel.__members__:
        raise ValueError(f"taeda.distributed: TORCH_DISTRIBUTED_DEBUG is wanted as OFF, INFO or DETAIL; got {name!r}")
    set_debug_level(DebugLevel[name])


class CheckedBackend:
    """A backend whose collectives all ranks compare first: which one, its number, dtypes, shapes and options."""

    def __init__(self, backend: Any, store: Any, timeout: timedelta) -> None:
        self._backend = backend
        self._store = store
        self._timeout = timeout
        self._turn = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._backend, name)
        if name not in CALLS or name in ("send", "recv", "recv_anysource"):
            return found

        def call(*arguments: Any) -> Work:
            self._compare(_describe(name, arguments))
            return found(*arguments)  # type: ignore[no-any-return]

        return call

    def _compare(self, own: str) -> None:
        """The ranks tell each other at the store, which is slow and works when nothing else does."""
        self._turn += 1
        rank, size = self._backend.rank(), self._backend.size()
        if size == 1:
            return
        keys = [f"call/{self._turn}/{other}" for other in range(size)]
        self._store.set(keys[rank], own)
        try:
            self._store.wait(keys, self._timeout)
        except RuntimeError as error:
            absent = [other for other in range(size) if not self._store.check([keys[other]])]
            raise RuntimeError(
                f"taeda.distributed: collective {self._turn} of this group is {own} on rank {rank}; within "
                f"{self._timeout.total_seconds():g} s the ranks {absent} called none"
            ) from error
        calls = [text.decode() for text in self._store.multi_get(keys)]
        if self._turn > 1:
            for key in (rank, f"read/{rank}"):  # all have read it, being here
                self._store.delete_key(f"call/{self._turn - 1}/{key}")
        finish(self._store, f"call/{self._turn}", rank, range(1, size))
        different = {other: text for other, text in enumerate(calls) if text != own}
        if different:
            told = "; ".join(f"rank {other}: {text}" for other, text in different.items())
            raise RuntimeError(
                f"taeda.distributed: the ranks differ in collective {self._turn} of this group. "
                f"rank {rank}: {own}; {told}"
            )


# Whose tensors may differ among the ranks.
_UNEVEN = ("alltoall", "alltoall_base", "gather", "scatter", "allgather")


def _describe(name: str, arguments: tuple[Any, ...]) -> str:
    *tensors, opts = arguments
    root = f", root {opts.rootRank}" if hasattr(opts, "rootRank") else ""
    op = f", {opts.reduceOp}" if hasattr(opts, "reduceOp") else ""
    if name in _UNEVEN:
        return f"{name}{root}{op}"
    return f"{name}({_shapes(tensors)}{op}{root})"


def _shapes(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_shapes(one) for one in value) + "]"
    return str(value)
