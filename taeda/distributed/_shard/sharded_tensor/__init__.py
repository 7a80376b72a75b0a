"""Tensors of which each process has some shards."""

from __future__ import annotations

from typing import Any

from taeda.distributed._shard.metadata import ShardMetadata as ShardMetadata
from taeda.distributed._shard.sharded_tensor.api import ShardedTensor as ShardedTensor
from taeda.distributed._shard.sharded_tensor.api import filled
from taeda.distributed._shard.sharded_tensor.metadata import ShardedTensorMetadata as ShardedTensorMetadata
from taeda.distributed._shard.sharded_tensor.metadata import TensorProperties as TensorProperties
from taeda.distributed._shard.sharded_tensor.shard import Shard as Shard
from taeda.distributed._shard.sharding_spec import ShardingSpec

__all__ = [
    "Shard", "ShardMetadata", "ShardedTensor", "ShardedTensorMetadata", "TensorProperties", "empty", "full",
    "init_from_local_shards", "ones", "pre_load_state_dict_hook", "rand", "randn", "state_dict_hook", "zeros",
]  # fmt: skip


def empty(sharding_spec: ShardingSpec, *size: Any, **options: Any) -> ShardedTensor:
    """One of values that nobody set; arguments as those of `ShardedTensor`."""
    return ShardedTensor(sharding_spec, *size, **options)


def ones(sharding_spec: ShardingSpec, *size: Any, **options: Any) -> ShardedTensor:
    """One of ones."""
    return filled(sharding_spec, lambda shard: shard.fill_(1), *size, **options)


def zeros(sharding_spec: ShardingSpec, *size: Any, **options: Any) -> ShardedTensor:
    """One of zeros."""
    return filled(sharding_spec, lambda shard: shard.zero_(), *size, **options)


def full(sharding_spec: ShardingSpec, size: Any, fill_value: Any, **options: Any) -> ShardedTensor:
    """One of ``fill_value``."""
    return filled(sharding_spec, lambda shard: shard.fill_(fill_value), size, **options)


def rand(sharding_spec: ShardingSpec, *size: Any, **options: Any) -> ShardedTensor:
    """One of numbers from [0, 1), which each process draws for its shards."""
    return filled(sharding_spec, lambda shard: shard.uniform_(), *size, **options)


def randn(sharding_spec: ShardingSpec, *size: Any, **options: Any) -> ShardedTensor:
    """One of normally distributed numbers, which each process draws for its shards."""
    return filled(sharding_spec, lambda shard: shard.normal_(), *size, **options)


def init_from_local_shards(local_shards: list[Shard], *global_size: Any, process_group: Any = None) -> ShardedTensor:
    """One of the shards that the processes have. All processes of the group call this.

    Args:
        local_shards: this process's, maybe none.
        global_size: the whole's sizes.
        process_group: the group, all processes by default.

    Raises:
        ValueError: the shards overlap, leave gaps, or are of different dtypes.
    """
    return ShardedTensor._init_from_local_shards(local_shards, *global_size, process_group=process_group)


def state_dict_hook(module: Any, destination: dict[str, Any], prefix: str, local_metadata: Any) -> None:
    """For `_register_state_dict_hook`: the module's attributes that are in shards go into its state."""
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if isinstance(value, ShardedTensor):
                destination[f"{prefix}{path}{'.' if path else ''}{name}"] = value


def pre_load_state_dict_hook(
    module: Any, state_dict: dict[str, Any], prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
    unexpected_keys: list[str], error_msgs: list[str],
) -> None:  # fmt: skip
    """For `_register_load_state_dict_pre_hook` with the module: takes such attributes from the state."""
    for path, part in module.named_modules():
        for name, value in list(vars(part).items()):
            key = f"{prefix}{path}{'.' if path else ''}{name}"
            if isinstance(value, ShardedTensor) and key in state_dict:
                setattr(part, name, state_dict[key])
