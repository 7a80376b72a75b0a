"""Which handler a program gets."""

from __future__ import annotations

from typing import Any

from taeda.distributed.elastic.multiprocessing.subprocess_handler.subprocess_handler import SubprocessHandler

__all__ = ["get_subprocess_handler"]


def get_subprocess_handler(
    entrypoint: str, args: tuple[Any, ...], env: dict[str, str], stdout: str | None, stderr: str | None,
    local_rank_id: int, numa_options: Any = None,
) -> SubprocessHandler:  # fmt: skip
    """Starts the program."""
    return SubprocessHandler(entrypoint, args, env, stdout, stderr, local_rank_id)
