"""Tensor parallelism: modules whose parameters are cut over the processes, which all see the same batch."""

from __future__ import annotations

from taeda.distributed.tensor._special import loss_parallel as loss_parallel
from taeda.distributed.tensor.parallel.api import parallelize_module as parallelize_module
from taeda.distributed.tensor.parallel.style import ColwiseParallel as ColwiseParallel
from taeda.distributed.tensor.parallel.style import ParallelStyle as ParallelStyle
from taeda.distributed.tensor.parallel.style import PrepareModuleInput as PrepareModuleInput
from taeda.distributed.tensor.parallel.style import PrepareModuleInputOutput as PrepareModuleInputOutput
from taeda.distributed.tensor.parallel.style import PrepareModuleOutput as PrepareModuleOutput
from taeda.distributed.tensor.parallel.style import RowwiseParallel as RowwiseParallel
from taeda.distributed.tensor.parallel.style import SequenceParallel as SequenceParallel

__all__ = [
    "ColwiseParallel", "ParallelStyle", "PrepareModuleInput", "PrepareModuleInputOutput", "PrepareModuleOutput",
    "RowwiseParallel", "SequenceParallel", "loss_parallel", "parallelize_module",
]  # fmt: skip
