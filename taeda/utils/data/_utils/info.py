"""What a worker process knows about itself."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple


class WorkerInfo(NamedTuple):
    """A worker's number ``id`` of ``num_workers``, its ``seed`` and its copy of the ``dataset``."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> WorkerInfo | None:
    """In a worker process what it is; None in the main process."""
    worker = sys.modules.get(f"{__package__}.worker")  # which programs set it in
    return None if worker is None else worker._worker_info
