"""Which backends there are, and which one serves which kind of device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import taeda
from taeda.distributed._mpi import find_mpi

__all__ = [
    "Backend", "BackendConfig", "get_default_backend_for_device", "is_backend_available", "is_gloo_available",
    "is_mpi_available", "is_nccl_available", "is_ucc_available", "is_xccl_available",
]  # fmt: skip


class Plugin(NamedTuple):
    """How a backend of a program's own is made."""

    creator_fn: Callable[..., Any]
    extended_api: bool

    def make(self, store: Any, rank: int, size: int, timeout: Any, name: str, ranks: list[int], options: Any) -> Any:
        """The backend, or a whole process group."""
        if self.extended_api:
            return self.creator_fn(DistributedBackendOptions(store, rank, size, timeout, name, ranks), options)
        return self.creator_fn(store, rank, size, timeout)


class Backend(str):
    """The name of a backend, in lower case: ``Backend("GLOO") == Backend.GLOO == "gloo"``.

    Raises:
        ValueError: the name is no string.
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"

    _plugins: ClassVar[dict[str, Plugin]] = {}  # by names in capitals
    backend_list: ClassVar[list[str]] = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]
    default_device_backend_map: ClassVar[dict[str, str]] = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}
    backend_capability: ClassVar[dict[str, list[str]]] = {
        GLOO: ["cpu", "cuda"], NCCL: ["cuda"], XCCL: ["xpu"], UCC: ["cpu", "cuda"], MPI: ["cpu", "cuda"],
    }  # fmt: skip

    @classmethod
    def register_backend(
        cls, name: str, func: Callable[..., Any], extended_api: bool = False, devices: str | Sequence[str] | None = None
    ) -> None:
        """Has ``func(store, rank, size, timeout)`` make a group's backend (or the whole group) where ``name`` is asked
        for, for ``devices`` ("cpu" by default); with ``extended_api`` it is called with an object that holds these, the
        ranks and the options.

        Raises:
            AssertionError: there is such a backend.
        """
        name = cls(name)
        if name in plugins or name in cls.backend_list:
            raise AssertionError(f"taeda.distributed.Backend.register_backend: {name!r} exists already")
        setattr(cls, name.upper(), name)
        cls.backend_list.append(name)
        wanted = [devices] if isinstance(devices, str) else list(devices or ["cpu", "cuda"])
        cls.backend_capability[name] = wanted
        for device in wanted:
            cls.default_device_backend_map.setdefault(device, name)
        plugins[name] = cls._plugins[name.upper()] = Plugin(func, extended_api)

    def __new__(cls, name: str) -> str:  # type: ignore[misc]
        if not isinstance(name, str):
            raise ValueError(f"taeda.distributed.Backend: a name is wanted; got {type(name).__name__}")
        return name.lower()


class BackendConfig:
    """The backend of each kind of device, from one name for all of them or from ``"cpu:gloo,cuda:nccl"``.

    Raises:
        ValueError: an entry is not of the form device:backend, or a device has two.
    """

    def __init__(self, backend: str) -> None:
        if backend == Backend.UNDEFINED:
            self.device_backend_map = {"cpu": Backend.GLOO}  # of the devices that groups can serve
        elif ":" in backend:
            entries = [_entry(part) for part in backend.lower().split(",")]
            self.device_backend_map = dict(entries)
            if len(self.device_backend_map) < len(entries):
                raise ValueError(f"taeda.distributed: one backend for each device is wanted; got {backend!r}")
        else:
            backend = backend.lower()
            self.device_backend_map = dict.fromkeys(Backend.backend_capability.get(backend, ["cpu"]), backend)

    def get_device_backend_map(self) -> dict[str, str]:
        """From a kind of device to the backend's name."""
        return self.device_backend_map

    def __repr__(self) -> str:
        return ",".join(f"{device}:{backend}" for device, backend in self.device_backend_map.items())


def _entry(text: str) -> tuple[str, str]:
    device, _, backend = text.strip().partition(":")
    if not device or not backend:
        raise ValueError(f"taeda.distributed: wanted device:backend,device:backend,...; got {text!r}")
    return device, backend


class DistributedBackendOptions:
    """What a backend of a program's own is made with, if it wants all."""

    def __init__(self, store: Any, rank: int, size: int, timeout: Any, name: str, ranks: list[int]) -> None:
        self.store = store
        self.group_rank = rank
        self.group_size = size
        self.timeout = timeout
        self.group_id = name
        self.global_ranks_in_group = ranks


plugins: dict[str, Plugin] = {}


def check_backends(config: BackendConfig) -> None:
    """Raises for a backend that is not there."""
    for backend in config.device_backend_map.values():
        if backend in plugins:
            continue
        if backend == Backend.NCCL:
            raise RuntimeError("taeda.distributed: there is no nccl in this release; 'gloo' serves CPU tensors")
        if backend not in (Backend.GLOO, Backend.MPI, "fake"):
            raise AssertionError(f"taeda.distributed: unknown backend {backend!r}; 'gloo' serves CPU tensors")


def is_gloo_available() -> bool:
    """True: a group can ask for ``"gloo"``, the backend of CPU tensors, which the engine of all CPU groups serves."""
    return True


def is_nccl_available() -> bool:
    """False: there is no NCCL in this release."""
    return False


def is_mpi_available() -> bool:
    """Whether there is an MPI, without which a group has one process."""
    return find_mpi() is not None


def is_ucc_available() -> bool:
    """False: there is no UCC."""
    return False


def is_xccl_available() -> bool:
    """False: there is no XCCL."""
    return False


def is_backend_available(backend: str) -> bool:
    """Whether a group can ask for that backend."""
    name = backend.lower()
    return name == Backend.GLOO or name in plugins or (name == Backend.MPI and is_mpi_available())


def get_default_backend_for_device(device: Any) -> str:
    """The backend that a group takes for tensors of a device unless told.

    Raises:
        ValueError: there is none.
    """
    kind = taeda.device(device).type
    if kind not in Backend.default_device_backend_map:
        raise ValueError(f"taeda.distributed.get_default_backend_for_device: there is none for {kind!r}")
    return Backend.default_device_backend_map[kind]
