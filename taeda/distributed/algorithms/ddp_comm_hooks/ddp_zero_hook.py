"""Steps of a `ZeroRedundancyOptimizer` that belong to the backward pass of `DistributedDataParallel`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import Tensor
from taeda.autograd import Variable
from taeda.distributed._reducer import GradBucket
from taeda.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer
from taeda.futures import Future
from taeda.nn.parallel import DistributedDataParallel

__all__ = ["hook_with_zero_step", "hook_with_zero_step_interleaved"]

Hook = Callable[[Any, GradBucket], Future[Tensor]]


def hook_with_zero_step(
    hook: Hook, ddp: DistributedDataParallel, zero: ZeroRedundancyOptimizer, shard_buckets: bool = False
) -> Hook:
    """``hook``, and at the end of each backward pass a step of ``zero``, whose own ``step`` does nothing.

    The first two backward passes, three of a static graph, change no parameter: the buckets are not final before.

    Args:
        hook: reduces the gradients.
        ddp: whose gradients they are.
        zero: made with ``overlap_with_ddp=True``, over the parameters of ``ddp``.
        shard_buckets: accepted; who has which parameter is for ``zero`` to say.

    Raises:
        ValueError: ``zero`` was made otherwise.
    """
    if not zero._overlap_with_ddp:
        raise ValueError("hook_with_zero_step: the ZeroRedundancyOptimizer is wanted with overlap_with_ddp=True")
    passes = 0

    def step() -> None:
        if passes > (3 if ddp.static_graph else 2):
            zero.step_now()

    def hook_then_step(state: Any, bucket: GradBucket) -> Future[Tensor]:
        nonlocal passes
        if bucket.is_last():
            passes += 1
            Variable._execution_engine.queue_callback(step)
        return hook(state, bucket)

    return hook_then_step


hook_with_zero_step_interleaved = hook_with_zero_step  # steps send nothing before the pass ends, in either
