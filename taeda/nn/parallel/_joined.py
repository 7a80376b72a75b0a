"""A process that has no inputs left, while others go on with `DistributedDataParallel`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import taeda
import taeda.distributed as dist
from taeda.distributed._reducer import GradBucket, pieces
from taeda.distributed._replicas import broadcast_coalesced
from taeda.distributed.algorithms.join import JoinHook

if TYPE_CHECKING:
    from taeda.nn.parallel.distributed import DistributedDataParallel


class JoinedProcess(JoinHook):
    """Takes part in each of the others' collectives, in their order."""

    def __init__(self, ddp: DistributedDataParallel) -> None:
        self.ddp = ddp

    def main_hook(self) -> None:
        ddp, reducer = self.ddp, self.ddp.reducer
        if ddp.will_sync_module_buffers():
            broadcast_coalesced(ddp.process_group, ddp._buffers_to_sync())
        for bucket in reducer.buckets():
            zeros = taeda.zeros_like(bucket.flat)
            if reducer.hook is not None:
                last = bucket is reducer.buckets()[-1]
                reducer.hook(GradBucket(bucket.index, zeros, bucket.parameters, last)).wait()
            elif reducer.size > 1:
                dist.all_reduce(zeros, group=ddp.process_group)
            # An optimiser of this process's share of the parameters goes on with what the others found.
            for parameter, gradient in zip(bucket.parameters, pieces(zeros, bucket.parameters), strict=True):
                parameter.grad = gradient.clone()
        if reducer.find_unused and reducer.size > 1:
            used = taeda.zeros(len(reducer.parameters), dtype=taeda.int32)
            dist.all_reduce(used, group=ddp.process_group)
            for parameter, count in zip(reducer.parameters, used.tolist(), strict=True):
                if not count:  # nor have the others a gradient
                    parameter.grad = None
        if not reducer.ordered:
            reducer.reorder(None)

    def post_hook(self, is_last_joiner: bool) -> None:
        """All processes end with the state of one that went on to the last."""
        ddp = self.ddp
        if dist.get_world_size(ddp.process_group) == 1:
            return
        rank = taeda.tensor([dist.get_rank(ddp.process_group) if is_last_joiner else -1])
        dist.all_reduce(rank, op=dist.ReduceOp.MAX, group=ddp.process_group)
        states = [p.detach() for p in ddp.module.parameters()]
        broadcast_coalesced(ddp.process_group, states + ddp._buffers_to_sync(), int(rank))
