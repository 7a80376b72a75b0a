"""Runs a function in several processes that are forked off here, and collects what each returns."""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import taeda.distributed as dist

LIMIT = 40.0  # seconds, for all ranks together
SOON = timedelta(seconds=20)

needs_mpi = pytest.mark.skipif(
    not dist.is_mpi_available(), reason="several processes need MPI: pip install taeda[distributed]"
)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


class Failed(Exception):
    """What a rank raised, as text."""


def run(
    size: int, function: Callable[..., Any], *arguments: Any, setup: bool = True, may_die: bool = False
) -> list[Any]:
    """``function(rank, *arguments)`` in ``size`` processes with a group of them all; their results in order of rank."""
    port = free_port()
    pipes = [os.pipe() for _ in range(size)]
    children = [_start(rank, size, port, pipes, function, arguments, setup) for rank in range(size)]
    for _, write in pipes:
        os.close(write)
    try:
        results = [_read(read, children[rank], time.monotonic() + LIMIT) for rank, (read, _) in enumerate(pipes)]
    finally:
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.waitpid(child, 0)
        for read, _ in pipes:
            os.close(read)
    failures = [f"rank {rank}: {result}" for rank, result in enumerate(results) if isinstance(result, Failed)]
    if failures and not may_die:
        raise AssertionError("\n".join(failures))
    return results


def _start(rank: int, size: int, port: int, pipes: Any, function: Any, arguments: Any, setup: bool) -> int:
    child = os.fork()
    if child:
        return child
    try:
        faulthandler.dump_traceback_later(LIMIT - 5, file=sys.__stderr__)  # where it hangs, should it
        os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        try:
            if setup:
                dist.init_process_group(timeout=SOON)
            result = function(rank, *arguments)
            if setup and dist.is_initialized():
                dist.destroy_process_group()
        except BaseException:
            result = Failed(traceback.format_exc())
        with os.fdopen(pipes[rank][1], "wb") as out:
            out.write(pickle.dumps(result))
    finally:
        os._exit(0)


def _read(file: int, child: int, deadline: float) -> Any:
    """What the rank wrote; `Failed` if it died first."""
    data = b""
    os.set_blocking(file, False)
    while time.monotonic() < deadline:
        try:
            part = os.read(file, 1 << 16)
        except BlockingIOError:
            time.sleep(0.002)
            continue
        if not part:
            return pickle.loads(data) if data else Failed("ended without a result")
        data += part
    return Failed(f"gave no result in {LIMIT} s")
