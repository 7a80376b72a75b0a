"""Cutting tensors and parameters into shards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from taeda import Tensor, nn
from taeda.distributed._shard.sharded_tensor import ShardedTensor
from taeda.distributed._shard.sharded_tensor.api import loading
from taeda.distributed._shard.sharding_spec import ShardingSpec

__all__ = ["load_with_process_group", "shard_parameter"]


def _shard_tensor(
    tensor: Tensor, sharding_spec: ShardingSpec, src_rank: int = 0, process_group: Any = None
) -> ShardedTensor:
    """The values that ``tensor`` has on the rank ``src_rank`` of the group, in shards.

    Raises:
        ValueError: ``tensor`` has gaps.
    """
    if not tensor.is_contiguous():
        raise ValueError(f"_shard_tensor: a contiguous tensor is wanted; got strides {tensor.stride()}")
    return sharding_spec.shard(tensor, src_rank, process_group)


def shard_parameter(
    module: nn.Module, param_name: str, sharding_spec: ShardingSpec, src_rank: int = 0, process_group: Any = None
) -> None:
    """Puts a `ShardedTensor` of its values into the place of a module's parameter.

    Raises:
        AttributeError: the module has no such parameter.
        ValueError: it is no tensor, or has gaps.
    """
    value = getattr(module, param_name)
    if not isinstance(value, Tensor):
        raise ValueError(f"shard_parameter: {param_name} of {type(module).__name__} is no tensor")
    sharded = _shard_tensor(value, sharding_spec, src_rank, process_group)
    delattr(module, param_name)
    module.register_parameter(param_name, nn.Parameter(sharded, requires_grad=value.requires_grad))


@contextmanager
def load_with_process_group(process_group: Any) -> Iterator[Any]:
    """Tensors in shards that are loaded within are of ``process_group``.

    Raises:
        RuntimeError: within another such scope.
    """
    if loading:
        raise RuntimeError("load_with_process_group: there is a scope of a process group already")
    loading.append(process_group)
    try:
        yield process_group
    finally:
        loading.pop()
