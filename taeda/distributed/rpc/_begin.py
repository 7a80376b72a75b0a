"""How a process becomes a worker: all of them meet at a store and tell their names and addresses."""

from __future__ import annotations

import itertools
import os
import secrets
import socket
from datetime import timedelta
from typing import Any

from taeda.distributed import _store as stores
from taeda.distributed.rendezvous import rendezvous
from taeda.distributed.rpc import _references as references
from taeda.distributed.rpc import backend_registry
from taeda.distributed.rpc._agent import Agent
from taeda.distributed.rpc._meeting import Meeting
from taeda.distributed.rpc._worker_info import WorkerInfo
from taeda.distributed.rpc.options import RpcBackendOptions, TensorPipeRpcBackendOptions

__all__ = ["begin", "init_rpc"]

_times = itertools.count()  # how often this process began: keys of a store that lives on are not taken for new ones


def init_rpc(
    name: str,
    backend: Any = None,
    rank: int = -1,
    world_size: int | None = None,
    rpc_backend_options: Any = None,
) -> None:
    """Makes this process a worker that others call by ``name``, and waits for all of them.

    Args:
        backend: of `BackendType`; there is one way to call.
        rank: this worker's number.
        world_size: how many there are.
        rpc_backend_options: timeouts, and where the workers meet; `TensorPipeRpcBackendOptions`.

    Raises:
        RuntimeError: the process is a worker already, the name is taken or none, or some did not come.
        ValueError: rank or world_size are neither given nor in the environment.
        TypeError: the options are of another type.
    """
    if references._current is not None:
        raise RuntimeError("taeda.distributed.rpc.init_rpc: RPC is already initialized: this process is a worker")
    options = TensorPipeRpcBackendOptions() if rpc_backend_options is None else rpc_backend_options
    if backend is None:
        backend = backend_registry.BackendType.TENSORPIPE
    if not hasattr(backend, "value"):
        raise TypeError(f"taeda.distributed.rpc.init_rpc: backend is wanted as one of BackendType; got {backend!r}")
    ours = backend is backend_registry.BackendType.TENSORPIPE
    if not isinstance(options, TensorPipeRpcBackendOptions if ours else RpcBackendOptions):
        raise TypeError(
            f"taeda.distributed.rpc.init_rpc: `rpc_backend_options` must be a `TensorPipeRpcBackendOptions`; got "
            f"{options!r}"
        )
    limit = timedelta(seconds=options.rpc_timeout) if options.rpc_timeout > 0 else timedelta(minutes=30)
    meeting = rendezvous(options.init_method, rank, -1 if world_size is None else world_size, timeout=limit)
    store, rank, world_size = next(meeting)
    store.set_timeout(limit)
    place = stores.PrefixStore(f"rpc_{next(_times)}", store)
    made = backend_registry.init_backend(
        backend, store=place, name=name, rank=rank, world_size=world_size, rpc_backend_options=options
    )
    if isinstance(made, Agent):
        context = references.References(made)
        references.set_current(context)
        context.start()
        try:
            made.meeting.gather(None, [worker.name for worker in made.workers], limit.total_seconds())
        except BaseException:
            references.set_current(None)
            context.stop()
            made.close()
            raise


def begin(store: Any, name: str, rank: int, world_size: int, rpc_backend_options: Any) -> Agent:
    """The agent of this process, which knows all others.

    Raises:
        RuntimeError: the name is taken, or some did not come.
    """
    worker = WorkerInfo(name, rank)
    holder = store.compare_set(f"name/{name}", "", str(rank)).decode()
    if holder != str(rank):
        raise RuntimeError(f"taeda.distributed.rpc.init_rpc: the name {name!r} is not unique: worker {holder} has it")
    if rank == 0:
        store.set("secret", secrets.token_bytes(32))
    secret = store.get("secret")
    agent = Agent(Meeting(store, name), worker, secret, _own_host(store), rpc_backend_options)
    try:
        host, port = agent.address
        store.set(f"worker/{rank}", f"{name} {host} {port}")
        for other, text in enumerate(store.multi_get([f"worker/{other}" for other in range(world_size)])):
            its_name, its_host, its_port = text.decode().split(" ")
            agent.workers.append(WorkerInfo(its_name, other))
            agent.addresses.append((its_host, int(its_port)))
        agent.meeting.server = agent.workers[0].name
    except BaseException:
        agent.close()
        raise
    return agent


def _own_host(store: Any) -> str:
    """The address of this machine at which others reach it: that from which it reaches the store."""
    inner = store._underlying_non_prefix_store
    there = getattr(inner, "host", None) or os.environ.get("MASTER_ADDR") or "127.0.0.1"
    try:
        family, kind, _, _, address = socket.getaddrinfo(there, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(address)  # sends nothing
            return str(probe.getsockname()[0])
    except OSError:
        return "127.0.0.1"


backend_registry.register_backend("TENSORPIPE", TensorPipeRpcBackendOptions, begin)
