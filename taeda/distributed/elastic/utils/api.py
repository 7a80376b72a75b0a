"""Variables, free ports, and what a worker's arguments may name."""

from __future__ import annotations

import os
import socket
from string import Template
from typing import Any

__all__ = ["get_env_variable_or_raise", "get_socket_with_port", "macros"]


def get_env_variable_or_raise(env_name: str) -> str:
    """The variable's value.

    Raises:
        ValueError: it is not set.
    """
    value = os.environ.get(env_name)
    if value is None:
        raise ValueError(f"taeda.distributed.elastic: the environment variable {env_name} is not set")
    return value


def get_socket_with_port() -> socket.socket:
    """A socket that listens on a free port of this machine. Close it to let somebody else have the port.

    Raises:
        RuntimeError: there is none.
    """
    for family, kind, protocol, _, _ in socket.getaddrinfo("localhost", None, type=socket.SOCK_STREAM):
        made = socket.socket(family, kind, protocol)
        try:
            made.bind(("localhost", 0))
            made.listen(0)
            return made
        except OSError:
            made.close()
    raise RuntimeError("taeda.distributed.elastic: no socket could be made on localhost")


class macros:
    """What arguments of a worker may hold in place of a number that differs from worker to worker."""

    local_rank = "${local_rank}"

    @staticmethod
    def substitute(args: list[Any], local_rank: str) -> list[str]:
        """``args`` with the number in place of the macro; what is no string stays."""
        values = {"local_rank": local_rank}
        return [Template(one).safe_substitute(values) if isinstance(one, str) else one for one in args]
