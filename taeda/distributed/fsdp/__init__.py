"""Modules whose parameters, gradients and optimiser state are cut over the processes."""

from __future__ import annotations

from taeda.distributed.fsdp._fully_shard import CPUOffloadPolicy as CPUOffloadPolicy
from taeda.distributed.fsdp._fully_shard import DataParallelMeshDims as DataParallelMeshDims
from taeda.distributed.fsdp._fully_shard import FSDPModule as FSDPModule
from taeda.distributed.fsdp._fully_shard import MixedPrecisionPolicy as MixedPrecisionPolicy
from taeda.distributed.fsdp._fully_shard import OffloadPolicy as OffloadPolicy
from taeda.distributed.fsdp._fully_shard import UnshardHandle as UnshardHandle
from taeda.distributed.fsdp._fully_shard import fully_shard as fully_shard
from taeda.distributed.fsdp._fully_shard import register_fsdp_forward_method as register_fsdp_forward_method
from taeda.distributed.fsdp._fully_shard import share_comm_ctx as share_comm_ctx
from taeda.distributed.fsdp.api import BackwardPrefetch as BackwardPrefetch
from taeda.distributed.fsdp.api import CPUOffload as CPUOffload
from taeda.distributed.fsdp.api import FullOptimStateDictConfig as FullOptimStateDictConfig
from taeda.distributed.fsdp.api import FullStateDictConfig as FullStateDictConfig
from taeda.distributed.fsdp.api import LocalOptimStateDictConfig as LocalOptimStateDictConfig
from taeda.distributed.fsdp.api import LocalStateDictConfig as LocalStateDictConfig
from taeda.distributed.fsdp.api import MixedPrecision as MixedPrecision
from taeda.distributed.fsdp.api import OptimStateDictConfig as OptimStateDictConfig
from taeda.distributed.fsdp.api import OptimStateKeyType as OptimStateKeyType
from taeda.distributed.fsdp.api import ShardedOptimStateDictConfig as ShardedOptimStateDictConfig
from taeda.distributed.fsdp.api import ShardedStateDictConfig as ShardedStateDictConfig
from taeda.distributed.fsdp.api import ShardingStrategy as ShardingStrategy
from taeda.distributed.fsdp.api import StateDictConfig as StateDictConfig
from taeda.distributed.fsdp.api import StateDictSettings as StateDictSettings
from taeda.distributed.fsdp.api import StateDictType as StateDictType
from taeda.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel as FullyShardedDataParallel

__all__ = [
    "BackwardPrefetch", "CPUOffload", "CPUOffloadPolicy", "DataParallelMeshDims", "FSDPModule",
    "FullOptimStateDictConfig", "FullStateDictConfig", "FullyShardedDataParallel", "LocalOptimStateDictConfig",
    "LocalStateDictConfig", "MixedPrecision", "MixedPrecisionPolicy", "OffloadPolicy", "OptimStateDictConfig",
    "OptimStateKeyType", "ShardedOptimStateDictConfig", "ShardedStateDictConfig", "ShardingStrategy",
    "StateDictConfig", "StateDictSettings", "StateDictType", "UnshardHandle", "fully_shard",
    "register_fsdp_forward_method", "share_comm_ctx",
]  # fmt: skip
