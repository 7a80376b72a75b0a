"""Ways to reduce gradients, for ``DistributedDataParallel.register_comm_hook``."""

from __future__ import annotations

from enum import Enum
from typing import Any

from taeda.distributed.algorithms.ddp_comm_hooks import debugging_hooks as debugging_hooks
from taeda.distributed.algorithms.ddp_comm_hooks import default_hooks as default_hooks
from taeda.distributed.algorithms.ddp_comm_hooks import post_localSGD_hook as post_localSGD_hook
from taeda.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as powerSGD_hook

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


class DDPCommHookType(Enum):
    """The hooks by name."""

    ALLREDUCE = "allreduce_hook"
    FP16_COMPRESS = "fp16_compress_hook"
    BF16_COMPRESS = "bf16_compress_hook"
    POWER_SGD = "powerSGD_hook", 1
    POWER_SGD_RANK2 = "powerSGD_hook", 2
    BATCHED_POWER_SGD = "batched_powerSGD_hook", 1
    BATCHED_POWER_SGD_RANK2 = "batched_powerSGD_hook", 2
    NOOP = "noop_hook"


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Registers a hook; ``state`` is a process group, and for the two of PowerSGD becomes a `PowerSGDState`."""
    if isinstance(comm_hook_type.value, tuple):
        name, rank = comm_hook_type.value
        model.register_comm_hook(powerSGD_hook.PowerSGDState(state, rank), getattr(powerSGD_hook, name))
        return
    home = debugging_hooks if comm_hook_type is DDPCommHookType.NOOP else default_hooks
    model.register_comm_hook(state, getattr(home, comm_hook_type.value))
