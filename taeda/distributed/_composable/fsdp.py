"""`fully_shard`, where PyTorch had it first."""

from __future__ import annotations

from taeda.distributed.fsdp import CPUOffloadPolicy as CPUOffloadPolicy
from taeda.distributed.fsdp import FSDPModule as FSDPModule
from taeda.distributed.fsdp import MixedPrecisionPolicy as MixedPrecisionPolicy
from taeda.distributed.fsdp import OffloadPolicy as OffloadPolicy
from taeda.distributed.fsdp import UnshardHandle as UnshardHandle
from taeda.distributed.fsdp import fully_shard as fully_shard
from taeda.distributed.fsdp import register_fsdp_forward_method as register_fsdp_forward_method

__all__ = [
    "CPUOffloadPolicy", "FSDPModule", "MixedPrecisionPolicy", "OffloadPolicy", "UnshardHandle", "fully_shard",
    "register_fsdp_forward_method",
]  # fmt: skip
