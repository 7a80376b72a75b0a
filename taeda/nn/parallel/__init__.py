"""One module on several devices."""

from __future__ import annotations

from taeda.nn.parallel import comm
from taeda.nn.parallel.data_parallel import DataParallel, data_parallel
from taeda.nn.parallel.parallel_apply import parallel_apply
from taeda.nn.parallel.replicate import replicate
from taeda.nn.parallel.scatter_gather import gather, scatter

__all__ = ["DataParallel", "comm", "data_parallel", "gather", "parallel_apply", "replicate", "scatter"]
