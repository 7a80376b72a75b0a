"""Starting and ending one program."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import IO, Any

__all__ = ["SubprocessHandler"]

_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def _ends_with(parent: int) -> Callable[[], None] | None:
    """What a child runs before its program, so that the system ends it when ``parent`` dies by whatever cause."""
    if sys.platform != "linux":
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl

    def arrange() -> None:
        prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGTERM))
        if os.getppid() != parent:
            os._exit(1)

    return arrange


class SubprocessHandler:
    """Runs ``entrypoint`` with ``args``; ``env`` is put over this process's environment.

    It ends with this process, and is the head of a process group of its own, which signals go to: what it has started
    ends with it.
    """

    def __init__(
        self, entrypoint: str, args: tuple[Any, ...], env: dict[str, str], stdout: str | None, stderr: str | None,
        local_rank_id: int, numa_options: Any = None,
    ) -> None:  # fmt: skip
        self.local_rank_id = local_rank_id
        with contextlib.ExitStack() as opened:
            files: list[IO[bytes] | None] = [
                opened.enter_context(open(path, "wb")) if path else None for path in (stdout, stderr)
            ]
            self.proc: subprocess.Popen[bytes] = subprocess.Popen(
                [entrypoint, *(str(one) for one in args)],
                env={**os.environ, **env},
                stdout=files[0],
                stderr=files[1],
                start_new_session=True,
                preexec_fn=_ends_with(os.getpid()),
            )

    def close(self, death_sig: signal.Signals | None = None) -> None:
        """Sends the signal, SIGTERM by default, to the program and all in its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.proc.pid, signal.SIGTERM if death_sig is None else death_sig)
