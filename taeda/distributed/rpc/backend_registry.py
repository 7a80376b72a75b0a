"""Ways to call, by name. There is one; a program may add its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = [
    "BackendType", "BackendValue", "backend_registered", "construct_rpc_backend_options", "init_backend",
    "register_backend",
]  # fmt: skip


class BackendValue(NamedTuple):
    """How options are made, and how the worker begins."""

    construct_rpc_backend_options_handler: Callable[..., Any]
    init_backend_handler: Callable[..., Any] | None


class _Backend(NamedTuple):
    """A way to call."""

    name: str
    value: BackendValue

    def __repr__(self) -> str:
        return f"BackendType.{self.name}"


class _Backends:
    """The ways that there are: ``BackendType.TENSORPIPE``, ``BackendType["TENSORPIPE"]``."""

    def __init__(self) -> None:
        self.__members__: dict[str, _Backend] = {}

    def __getitem__(self, name: str) -> _Backend:
        return self.__members__[name]

    def __getattr__(self, name: str) -> _Backend:
        try:
            return self.__dict__["__members__"][name]
        except KeyError:
            raise AttributeError(f"taeda.distributed.rpc.BackendType: there is no {name}") from None

    def __iter__(self) -> Any:
        return iter(self.__members__.values())


BackendType = _Backends()


def backend_registered(backend_name: str) -> bool:
    """Whether there is one of that name."""
    return backend_name in BackendType.__members__


def register_backend(
    backend_name: str, construct_rpc_backend_options_handler: Callable[..., Any],
    init_backend_handler: Callable[..., Any] | None,
) -> Any:  # fmt: skip
    """Adds one: ``init_backend_handler(store, name, rank, world_size, rpc_backend_options)`` makes the worker.

    Raises:
        RuntimeError: there is one of that name.
    """
    if backend_registered(backend_name):
        raise RuntimeError(f"taeda.distributed.rpc.register_backend: there is a {backend_name} already")
    made = _Backend(backend_name, BackendValue(construct_rpc_backend_options_handler, init_backend_handler))
    BackendType.__members__[backend_name] = made
    return BackendType


def construct_rpc_backend_options(backend: Any, **kwargs: Any) -> Any:
    """The options of a backend."""
    return backend.value.construct_rpc_backend_options_handler(**kwargs)


def init_backend(backend: Any, *args: Any, **kwargs: Any) -> Any:
    """Makes the worker."""
    return backend.value.init_backend_handler(*args, **kwargs)
