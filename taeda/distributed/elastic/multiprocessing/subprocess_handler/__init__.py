"""A program as a worker."""

from __future__ import annotations

from taeda.distributed.elastic.multiprocessing.subprocess_handler.handlers import (
    get_subprocess_handler as get_subprocess_handler,
)
from taeda.distributed.elastic.multiprocessing.subprocess_handler.subprocess_handler import (
    SubprocessHandler as SubprocessHandler,
)
