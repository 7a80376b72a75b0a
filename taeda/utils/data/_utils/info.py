"""What a worker process knows about itself."""

from __future__ import annotations

from typing import Any, NamedTuple


class WorkerInfo(NamedTuple):
    """A worker's number ``id`` of ``num_workers``, its ``seed`` and its copy of the ``dataset``."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker process what it is; None in the main process."""
    return _worker_info


def set_worker_info(info: WorkerInfo) -> None:
    """Says what this process is."""
    global _worker_info
    _worker_info = info
