"""``ShardedGradScaler``: a gradient scaler whose processes agree on whether a step is left out."""

from __future__ import annotations

from typing import Any

import taeda
from taeda.amp import GradScaler
from taeda.distributed import _collectives as collectives
from taeda.distributed._queries import _get_default_group
from taeda.distributed._reduce_op import ReduceOp

__all__ = ["ShardedGradScaler"]


class ShardedGradScaler(GradScaler):
    """`GradScaler` for gradients that are cut over ``process_group``, by default all processes."""

    def __init__(
        self, device: str = "cpu", init_scale: float = 2.0**16, backoff_factor: float = 0.5,
        growth_factor: float = 2.0, growth_interval: int = 2000, enabled: bool = True, process_group: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
        self.process_group = process_group

    def unscale_(self, optimizer: Any) -> None:
        """As `GradScaler`'s; an infinite gradient of one process counts for all."""
        super().unscale_(optimizer)
        if not self._enabled:
            return
        state = self._per_optimizer_states[id(optimizer)]
        of_any = any(value.item() for value in state["found_inf_per_device"].values())
        found = taeda.tensor(float(of_any))
        collectives.all_reduce(found, ReduceOp.MAX, self.process_group or _get_default_group())
        state["found_inf_per_device"] = {found.device: found}
