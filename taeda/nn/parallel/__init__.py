"""One module on several devices, or in several processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taeda.nn.parallel import comm
from taeda.nn.parallel.data_parallel import DataParallel, data_parallel
from taeda.nn.parallel.parallel_apply import parallel_apply
from taeda.nn.parallel.replicate import replicate
from taeda.nn.parallel.scatter_gather import gather, scatter

__all__ = [
    "DataParallel", "DistributedDataParallel", "comm", "data_parallel", "gather", "parallel_apply", "replicate",
    "scatter",
]  # fmt: skip


if TYPE_CHECKING:
    from taeda.nn.parallel import distributed as distributed
    from taeda.nn.parallel.distributed import DistributedDataParallel as DistributedDataParallel
else:

    def __getattr__(name: str) -> Any:
        # Loaded on first use, and with it the process groups.
        if name not in ("DistributedDataParallel", "distributed"):
            raise AttributeError(f"module 'taeda.nn.parallel' has no attribute '{name}'")
        import importlib

        module = importlib.import_module("taeda.nn.parallel.distributed")
        return module if name == "distributed" else module.DistributedDataParallel
