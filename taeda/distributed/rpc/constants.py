"""Defaults of calls between workers."""

from __future__ import annotations

DEFAULT_RPC_TIMEOUT_SEC = 60.0
DEFAULT_SHUTDOWN_TIMEOUT = 0.0  # no end
DEFAULT_INIT_METHOD = "env://"
DEFAULT_NUM_WORKER_THREADS = 16
UNSET_RPC_TIMEOUT = -1.0  # the worker's own
