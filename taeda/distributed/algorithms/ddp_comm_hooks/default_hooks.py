"""The mean of a bucket's gradients over the processes, at full or at half the width on its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
import taeda.distributed as dist
from taeda import Tensor
from taeda.distributed._reducer import GradBucket
from taeda.futures import Future

__all__ = [
    "allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook", "fp16_compress_wrapper",
]  # fmt: skip

Hook = Callable[[Any, GradBucket], Future[Tensor]]


def _mean(process_group: Any, tensor: Tensor) -> Future[Tensor]:
    tensor.div_(dist.get_world_size(process_group))
    work: Any = dist.all_reduce(tensor, group=process_group, async_op=True)
    return work.get_future().then(lambda done: done.value()[0])


def _narrowed(process_group: Any, bucket: GradBucket, dtype: Any) -> Future[Tensor]:
    buffer = bucket.buffer()
    return _mean(process_group, buffer.to(dtype)).then(lambda done: buffer.copy_(done.value()))


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The mean over the group, over all processes for None."""
    return _mean(process_group, bucket.buffer())


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """`allreduce_hook` in float16."""
    return _narrowed(process_group, bucket, taeda.float16)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """`allreduce_hook` in bfloat16."""
    return _narrowed(process_group, bucket, taeda.bfloat16)


def _narrowing(hook: Hook, dtype: Any) -> Hook:
    def narrowed(state: Any, bucket: GradBucket) -> Future[Tensor]:
        wide = bucket.buffer()
        bucket.set_buffer(wide.to(dtype))
        return hook(state, bucket).then(lambda done: wide.copy_(done.value()))

    return narrowed


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """``hook`` upon buckets in float16."""
    return _narrowing(hook, taeda.float16)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """``hook`` upon buckets in bfloat16."""
    return _narrowing(hook, taeda.bfloat16)
