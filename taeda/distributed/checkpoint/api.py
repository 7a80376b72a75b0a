"""The exception of checkpoints."""

from __future__ import annotations

import traceback

__all__ = ["CheckpointException"]


class CheckpointException(BaseException):
    """What went wrong on which process; `failures` has exceptions and where they were raised, by rank."""

    def __init__(self, msg: str, failures: dict[int, tuple[BaseException, traceback.StackSummary]]) -> None:
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self) -> dict[int, tuple[BaseException, traceback.StackSummary]]:
        """By rank."""
        return self._failures

    def __str__(self) -> str:
        lines = [f"taeda.distributed.checkpoint: {self.args[0]} failed on ranks {sorted(self._failures)}"]
        for rank, (error, stack) in sorted(self._failures.items()):
            lines.append(f"rank {rank}: {type(error).__name__}: {error}\n{''.join(stack.format())}")
        return "\n".join(lines)
