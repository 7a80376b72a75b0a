"""Gradients that are averaged over all processes at first, later over some, or not at all."""

from __future__ import annotations

from typing import Any

import taeda.distributed as dist
from taeda import Tensor
from taeda.distributed._reducer import GradBucket
from taeda.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from taeda.futures import Future

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]


class PostLocalSGDState:
    """What `post_localSGD_hook` needs to know; ``iter`` counts the iterations.

    Args:
        process_group: whose mean it is at first; all processes for None.
        subgroup: whose mean it is later; None for what `new_subgroups` makes by itself, where it can.
        start_localSGD_iter: how many iterations "at first" lasts.
        post_local_gradient_allreduce: whether there is any mean later.
    """

    __slots__ = ("iter", "post_local_gradient_allreduce", "process_group", "start_localSGD_iter", "subgroup")

    def __init__(
        self, process_group: Any, subgroup: Any, start_localSGD_iter: int, post_local_gradient_allreduce: bool = True
    ) -> None:
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Counts an iteration if ``bucket`` is its last."""
        if bucket.is_last():
            self.iter += 1


def post_localSGD_hook(state: PostLocalSGDState, bucket: GradBucket) -> Future[Tensor]:
    """The mean over ``state.process_group`` at first, later over ``state.subgroup``, see `PostLocalSGDState`.

    The parameters drift apart later; it is for the program to average them now and then.
    """
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return allreduce_hook(state.process_group, bucket)
    if not state.post_local_gradient_allreduce:
        left: Future[Tensor] = Future()
        left.set_result(bucket.buffer())
        return left
    if state.subgroup is None:
        state.subgroup, _ = dist.new_subgroups()
    return allreduce_hook(state.subgroup, bucket)
