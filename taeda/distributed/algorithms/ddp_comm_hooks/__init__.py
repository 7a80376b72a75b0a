"""Ways to reduce gradients, for ``DistributedDataParallel.register_comm_hook``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from taeda.distributed.algorithms.ddp_comm_hooks import debugging_hooks as debugging_hooks
from taeda.distributed.algorithms.ddp_comm_hooks import default_hooks as default_hooks
from taeda.distributed.algorithms.ddp_comm_hooks import post_localSGD_hook as post_localSGD_hook
from taeda.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as powerSGD_hook
from taeda.distributed.algorithms.ddp_comm_hooks import quantization_hooks as quantization_hooks

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


@dataclass(frozen=True)
class _Registration:
    """Registers a hook; called with a model and a process group, of which ``rank`` makes a `PowerSGDState`."""

    hook: Any
    rank: int | None = None

    def __call__(self, model: Any, state: Any = None) -> None:
        made = state if self.rank is None else powerSGD_hook.PowerSGDState(state, self.rank)
        model.register_comm_hook(made, self.hook)


class DDPCommHookType(Enum):
    """The hooks by name; a value, called with ``model`` and ``state``, registers its hook."""

    ALLREDUCE = _Registration(default_hooks.allreduce_hook)
    FP16_COMPRESS = _Registration(default_hooks.fp16_compress_hook)
    BF16_COMPRESS = _Registration(default_hooks.bf16_compress_hook)
    QUANTIZE_PER_TENSOR = _Registration(quantization_hooks.quantization_pertensor_hook)
    QUANTIZE_PER_CHANNEL = _Registration(quantization_hooks.quantization_perchannel_hook)
    POWER_SGD = _Registration(powerSGD_hook.powerSGD_hook, 1)
    POWER_SGD_RANK2 = _Registration(powerSGD_hook.powerSGD_hook, 2)
    BATCHED_POWER_SGD = _Registration(powerSGD_hook.batched_powerSGD_hook, 1)
    BATCHED_POWER_SGD_RANK2 = _Registration(powerSGD_hook.batched_powerSGD_hook, 2)
    NOOP = _Registration(debugging_hooks.noop_hook)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Registers a hook; ``state`` is a process group, and for those of PowerSGD becomes a `PowerSGDState`."""
    comm_hook_type.value(model=model, state=state)
