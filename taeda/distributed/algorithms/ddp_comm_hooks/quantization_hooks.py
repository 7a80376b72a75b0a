"""The mean of a bucket's gradients, each process's sent in eight bits with its own scale and zero."""

from __future__ import annotations

from typing import Any

import taeda
import taeda.distributed as dist
from taeda import Tensor
from taeda.distributed._reducer import GradBucket
from taeda.futures import Future

__all__ = ["quantization_perchannel_hook", "quantization_pertensor_hook"]


def _mean(process_group: Any, rows: Tensor, observer: Any) -> Future[Tensor]:
    """The mean of ``rows``, float32, after all processes have gathered all processes' codes."""
    size = dist.get_world_size(process_group)
    observer(rows)
    scale, zero = (one.float().view(-1, 1) for one in observer.calculate_qparams())
    codes = ((rows / scale).round() + zero).clamp(0, 255).to(taeda.uint8)
    own = taeda.stack([scale, zero])
    ranges, gathered = ([taeda.empty_like(one) for _ in range(size)] for one in (own, codes))
    first: Any = dist.all_gather(ranges, own, group=process_group, async_op=True)
    work: Any = dist.all_gather(gathered, codes, group=process_group, async_op=True)

    def decoded(done: Any) -> Tensor:
        first.wait()
        done.value()
        total = taeda.zeros(rows.shape, dtype=taeda.float32, device=rows.device)
        for (its_scale, its_zero), its_codes in zip(ranges, gathered, strict=True):
            total += its_scale * (its_codes.float() - its_zero)
        return total / size

    return work.get_future().then(decoded)  # type: ignore[no-any-return]


def quantization_pertensor_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The mean over the group, all processes for None; a bucket has one scale and zero on each of them."""
    from taeda.ao.quantization import MinMaxObserver

    rows = bucket.buffer().view(1, -1)
    return _mean(process_group, rows, MinMaxObserver()).then(lambda done: done.value().flatten())


def quantization_perchannel_hook(process_group: Any, bucket: GradBucket, bucket_size: int = 512) -> Future[Tensor]:
    """`quantization_pertensor_hook` with a scale and zero for every ``bucket_size`` gradients."""
    from taeda.ao.quantization import PerChannelMinMaxObserver

    flat = bucket.buffer()
    rows = taeda.nn.functional.pad(flat, (0, -len(flat) % bucket_size)).view(-1, bucket_size)
    mean = _mean(process_group, rows, PerChannelMinMaxObserver())
    return mean.then(lambda done: done.value().flatten()[: len(flat)])
