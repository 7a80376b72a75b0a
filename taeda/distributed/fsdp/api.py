"""The choices that `FullyShardedDataParallel` gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import taeda
from taeda.nn.modules.batchnorm import _BatchNorm

__all__ = [
    "BackwardPrefetch", "CPUOffload", "FullOptimStateDictConfig", "FullStateDictConfig", "LocalOptimStateDictConfig",
    "LocalStateDictConfig", "MixedPrecision", "OptimStateDictConfig", "OptimStateKeyType",
    "ShardedOptimStateDictConfig", "ShardedStateDictConfig", "ShardingStrategy", "StateDictConfig",
    "StateDictSettings", "StateDictType",
]  # fmt: skip


class ShardingStrategy(Enum):
    """What is cut over the processes."""

    FULL_SHARD = auto()  # parameters, gradients, optimiser state
    SHARD_GRAD_OP = auto()  # the same, but parameters stay whole from forward to backward pass
    NO_SHARD = auto()  # nothing
    HYBRID_SHARD = auto()  # as FULL_SHARD over the processes of a machine; machines have copies
    _HYBRID_SHARD_ZERO2 = auto()  # likewise as SHARD_GRAD_OP


class BackwardPrefetch(Enum):
    """When the parameters that a backward pass needs next are gathered."""

    BACKWARD_PRE = auto()  # before the current ones are used
    BACKWARD_POST = auto()  # after


class StateDictType(Enum):
    """What ``state_dict`` gives."""

    FULL_STATE_DICT = auto()  # whole tensors
    LOCAL_STATE_DICT = auto()  # this process's flat shards
    SHARDED_STATE_DICT = auto()  # `ShardedTensor`, or DTensors


class OptimStateKeyType(Enum):
    """What tells parameters apart in an optimiser's state."""

    PARAM_NAME = auto()
    PARAM_ID = auto()


@dataclass
class MixedPrecision:
    """Dtypes: of parameters in use, of the reduction of gradients, of buffers; None leaves them as they are.

    ``keep_low_precision_grads``: gradients stay in the reduction's dtype. ``cast_forward_inputs``: a module's
    floating-point arguments become ``param_dtype``; ``cast_root_forward_inputs``: those of the outermost one do.
    """

    param_dtype: taeda.dtype | None = None
    reduce_dtype: taeda.dtype | None = None
    buffer_dtype: taeda.dtype | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True
    _module_classes_to_ignore: Sequence[type[Any]] = (_BatchNorm,)


@dataclass
class CPUOffload:
    """Whether shards stay on the CPU; those of modules on the CPU do."""

    offload_params: bool = False


@dataclass
class StateDictConfig:
    """``offload_to_cpu``: whether the tensors go to the CPU."""

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """``rank0_only``: whether the other processes get none."""

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """As `StateDictConfig`."""


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """``_use_dtensor``: DTensors in place of `ShardedTensor`, as where the wrappers were given a mesh."""

    _use_dtensor: bool = False


@dataclass
class OptimStateDictConfig:
    """As `StateDictConfig`, of optimisers."""

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """As `FullStateDictConfig`."""

    rank0_only: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """As `LocalStateDictConfig`."""

    offload_to_cpu: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """As `ShardedStateDictConfig`."""

    _use_dtensor: bool = False


@dataclass
class StateDictSettings:
    """What a module's state dictionaries are."""

    state_dict_type: StateDictType
    state_dict_config: StateDictConfig
    optim_state_dict_config: OptimStateDictConfig


CONFIGS: dict[StateDictType, tuple[type[StateDictConfig], type[OptimStateDictConfig]]] = {
    StateDictType.FULL_STATE_DICT: (FullStateDictConfig, FullOptimStateDictConfig),
    StateDictType.LOCAL_STATE_DICT: (LocalStateDictConfig, LocalOptimStateDictConfig),
    StateDictType.SHARDED_STATE_DICT: (ShardedStateDictConfig, ShardedOptimStateDictConfig),
}
