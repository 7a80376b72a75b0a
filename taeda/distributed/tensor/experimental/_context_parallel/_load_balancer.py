"""Which places of a sequence a process gets, so that all have as much to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed.tensor.experimental._context_parallel._options import _cp_options


class _LoadBalancer(ABC):
    """An order of a sequence's places, which is cut evenly."""

    @abstractmethod
    def _generate_indices(self, restore: bool = False) -> Tensor | None:
        """The places in their new order, or with ``restore`` where each went: (1, length), or one row for each
        sequence of a batch."""


class _HeadTailLoadBalancer(_LoadBalancer):
    """Of twice as many pieces as there are processes, the first gets the first and the last, and so on inwards."""

    def __init__(self, seq_length: int, world_size: int, device: Any) -> None:
        if seq_length % (2 * world_size):
            raise ValueError(
                f"_HeadTailLoadBalancer: {seq_length} places are not cut into {2 * world_size} pieces of one length"
            )
        self.seq_length, self.world_size, self.device = seq_length, world_size, device

    def _generate_indices(self, restore: bool = False) -> Tensor:
        pieces = taeda.arange(self.seq_length, device=self.device).view(2 * self.world_size, -1)
        order = [piece for rank in range(self.world_size) for piece in (rank, 2 * self.world_size - 1 - rank)]
        indices = pieces[order].flatten()
        return (indices.argsort() if restore else indices).unsqueeze(0)


def default_balancer(length: int, size: int, device: Any) -> _LoadBalancer | None:
    """That of sequences that can be cut so, if the options want one."""
    even = length % (2 * size) == 0
    return _HeadTailLoadBalancer(length, size, device) if _cp_options.enable_load_balance and even else None
