"""``ShardedTensor``: a tensor of which each process has some shards."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import taeda
import taeda.distributed as dist
from taeda import Tensor
from taeda.distributed._shard.metadata import ShardMetadata, check_shards
from taeda.distributed._shard.sharded_tensor.metadata import ShardedTensorMetadata, TensorProperties
from taeda.distributed._shard.sharded_tensor.shard import Shard
from taeda.distributed._shard.sharding_spec import ShardingSpec, spec_of
from taeda.distributed.tensor.placement_types import narrowed, part_of
from taeda.utils._pytree import tree_flatten, tree_map

# Beside pointwise ops these, too, work on each shard by itself.
_EACH = {"detach", "clone", "_to_copy", "alias", "copy_", "zero_", "fill_", "uniform_", "normal_", "zeros_like",
         "ones_like", "empty_like", "full_like"}  # fmt: skip


class ShardedTensor(Tensor):
    """A tensor of which the processes of a group have shards, allocated here as ``sharding_spec`` says.

    Ops that treat each element by itself work on the shards, and take tensors that are cut alike, and numbers. For
    others, gather it.

    Args:
        size: the whole's sizes, apart or as one sequence.
        dtype, layout, requires_grad, pin_memory, memory_format: the shards', as in `taeda.empty`.
        process_group: the group, all processes by default.

    Raises:
        ValueError: the spec does not fit the sizes.
    """

    _shards: list[Shard]
    _metadata: ShardedTensorMetadata
    _sharding_spec: ShardingSpec
    _process_group: Any

    def __new__(
        cls,
        sharding_spec: ShardingSpec,
        *size: Any,
        dtype: taeda.dtype | None = None,
        layout: taeda.layout = taeda.strided,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: taeda.memory_format = taeda.contiguous_format,
        process_group: Any = None,
    ) -> ShardedTensor:
        kind = taeda.get_default_dtype() if dtype is None else dtype
        properties = TensorProperties(kind, layout, requires_grad, memory_format, pin_memory)
        made = sharding_spec.build_metadata(_size(size), properties)
        own = [
            Shard(taeda.empty(one.shard_sizes, dtype=kind, layout=layout, device=one.placement.device(),
                              requires_grad=requires_grad, memory_format=memory_format), one)
            for one in made.shards_metadata if one.placement is not None and one.placement.rank() == dist.get_rank()
        ]  # fmt: skip
        return cls._around(own, made, sharding_spec, process_group)

    @classmethod
    def _around(cls, shards: list[Shard], metadata: ShardedTensorMetadata, spec: Any, group: Any) -> ShardedTensor:
        """One that has these shards."""
        properties = metadata.tensor_properties
        places = [one.placement for one in metadata.shards_metadata if one.placement is not None]
        device = shards[0].tensor.device if shards else places[0].device() if places else taeda.device("cpu")
        made: ShardedTensor = Tensor._make_wrapper_subclass(
            cls, metadata.size, dtype=properties.dtype, device=device, requires_grad=properties.requires_grad
        )  # type: ignore[assignment]
        made._shards, made._metadata, made._process_group = shards, metadata, group
        made._sharding_spec = spec_of(metadata.shards_metadata, metadata.size) if spec is None else spec
        return made

    @classmethod
    def _init_from_local_shards(
        cls, local_shards: list[Shard], *global_size: Any, process_group: Any = None
    ) -> ShardedTensor:
        """One of the shards that the processes have; all call this. `init_from_local_shards`."""
        own = ShardedTensorMetadata(
            [one.metadata for one in local_shards], _size(global_size),
            TensorProperties.create_from_tensor(local_shards[0].tensor) if local_shards else TensorProperties(),
        )  # fmt: skip
        every: list[Any] = [None] * dist.get_world_size(process_group)
        dist.all_gather_object(every, own, group=process_group)
        shown = [one for one in every if one.shards_metadata]
        if not shown:
            raise ValueError("ShardedTensor: a shard is wanted on one of the processes; none has any")
        for one in shown:
            if (one.size, one.tensor_properties) != (shown[0].size, shown[0].tensor_properties):
                raise ValueError(f"ShardedTensor: the processes have shards of different tensors: {shown}")
        joined = [shard for one in every for shard in one.shards_metadata]
        whole = ShardedTensorMetadata(joined, shown[0].size, shown[0].tensor_properties)
        return cls._init_from_local_shards_and_global_metadata(local_shards, whole, process_group)

    @classmethod
    def _init_from_local_shards_and_global_metadata(
        cls,
        local_shards: list[Shard],
        sharded_tensor_metadata: ShardedTensorMetadata,
        process_group: Any = None,
        sharding_spec: ShardingSpec | None = None,
    ) -> ShardedTensor:
        """One of this process's shards, where all processes know all metadata; nothing is sent.

        Raises:
            ValueError: shards that are not among the metadata, or those do not make up a tensor of its size.
        """
        check_shards(sharded_tensor_metadata.shards_metadata, list(sharded_tensor_metadata.size))
        for one in local_shards:
            if one.metadata not in sharded_tensor_metadata.shards_metadata:
                raise ValueError(f"ShardedTensor: a shard {one.metadata} is not among the metadata")
            if one.tensor.dtype != sharded_tensor_metadata.tensor_properties.dtype:
                raise ValueError(
                    f"ShardedTensor: a shard of {sharded_tensor_metadata.tensor_properties.dtype} is wanted; got "
                    f"{one.tensor.dtype}"
                )
        return cls._around(local_shards, sharded_tensor_metadata, sharding_spec, process_group)

    def metadata(self) -> ShardedTensorMetadata:
        """Of the whole tensor."""
        return self._metadata

    def local_shards(self) -> list[Shard]:
        """The shards that this process has."""
        return self._shards

    def local_tensor(self) -> Tensor:
        """The tensor of this process's only shard.

        Raises:
            NotImplementedError: it has another number of shards.
        """
        if len(self._shards) != 1:
            raise NotImplementedError(f"ShardedTensor.local_tensor: this process has {len(self._shards)} shards, not 1")
        return self._shards[0].tensor

    def sharding_spec(self) -> ShardingSpec:
        """How it is cut."""
        return self._sharding_spec

    def gather(  # type: ignore[override]
        self, dst: int = 0, out: Tensor | None = None, enforce_dtype: bool = False, dtype: taeda.dtype | None = None
    ) -> None:
        """Puts the whole into ``out`` on the rank ``dst`` of the group; all processes call this.

        Args:
            out: a tensor of the whole's size; None on the other ranks.
            enforce_dtype: the shards are sent as ``out``'s dtype, which all processes tell.
            dtype: the dtype that shards are sent as, theirs by default.

        Raises:
            ValueError: no ``out``, or one of another size, on ``dst``; ``enforce_dtype`` without a dtype.
        """
        here = dist.get_rank(self._process_group) == dst
        if enforce_dtype and dtype is None:
            raise ValueError("ShardedTensor.gather: enforce_dtype wants a dtype")
        if here and (out is None or out.shape != self.shape):
            raise ValueError(f"ShardedTensor.gather: out is wanted with shape {tuple(self.shape)} on rank {dst}")
        own, places = self._to_send(dtype or self.dtype)
        parts = [taeda.empty_like(own) for _ in places] if here else None
        dist.gather(own, parts, group=self._process_group, group_dst=dst)
        if parts is not None and out is not None:
            _put_together(out, places, parts)

    def _whole(self) -> Tensor:
        """The whole, a plain tensor, on all processes of the group, which all call this."""
        own, places = self._to_send(self.dtype)
        parts = [taeda.empty_like(own) for _ in places]
        dist.all_gather(parts, own, group=self._process_group)
        out = taeda.empty(self.shape, dtype=self.dtype, device=self.device)
        _put_together(out, places, parts)
        return out

    def _to_send(self, dtype: taeda.dtype) -> tuple[Tensor, list[list[ShardMetadata]]]:
        """The own shards, one behind the other, as long as those of any process; and who has which."""
        places: list[Any] = [None] * dist.get_world_size(self._process_group)
        dist.all_gather_object(places, [one.metadata for one in self._shards], group=self._process_group)
        longest = max(sum(_count(one) for one in shards) for shards in places)
        flat = [one.tensor.detach().to(dtype).flatten() for one in self._shards]
        own = taeda.cat(flat) if flat else taeda.empty(0, dtype=dtype, device=self.device)
        return taeda.nn.functional.pad(own, (0, longest - len(own))), places

    __torch_function__ = taeda._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        leaves = [leaf for leaf in tree_flatten((args, kwargs or {}))[0] if isinstance(leaf, Tensor)]
        sharded = [leaf for leaf in leaves if isinstance(leaf, ShardedTensor)]
        name = func._schema.name.partition("::")[2]
        first = sharded[0]
        alike = all(
            isinstance(one, ShardedTensor) and one._metadata.shards_metadata == first._metadata.shards_metadata
            or one.dim() == 0 for one in leaves
        )  # fmt: skip
        if not alike or (name not in _EACH and taeda.Tag.pointwise not in func.tags):
            raise RuntimeError(f"ShardedTensor: {func} does not work on each shard by itself; gather it first")
        results = [func(*_at(number, args), **_at(number, kwargs or {})) for number in range(len(first._shards))]
        if func._schema.is_mutable:
            return first
        return _joined(first, results)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            copies = [Shard(one.tensor.detach().clone(), one.metadata) for one in self._shards]
            memo[id(self)] = self._around(copies, self._metadata, self._sharding_spec, self._process_group)
        return memo[id(self)]

    def __repr__(self) -> str:  # type: ignore[override]
        return f"ShardedTensor({self._metadata})"

    def __reduce_ex__(self, proto: Any) -> Any:
        return _rebuild, (self._shards, self._metadata, self._sharding_spec)


loading: list[Any] = []  # the process group of what is loaded, if a scope has said so


def _rebuild(shards: list[Shard], metadata: ShardedTensorMetadata, spec: ShardingSpec) -> ShardedTensor:
    return ShardedTensor._around(shards, metadata, spec, loading[-1] if loading else None)


def _size(given: tuple[Any, ...]) -> taeda.Size:
    """A size that is given by its numbers, or as one sequence."""
    return taeda.Size(given[0] if len(given) == 1 and not isinstance(given[0], int) else given)


def _count(shard: ShardMetadata) -> int:
    return math.prod(shard.shard_sizes)


@taeda.no_grad()
def _put_together(out: Tensor, places: list[list[ShardMetadata]], parts: list[Tensor]) -> None:
    """Copies what the processes sent to where it lies in the whole."""
    for shards, part in zip(places, parts, strict=True):
        at = 0
        for one in shards:
            narrowed(out, one.shard_offsets, one.shard_sizes).copy_(part[at : at + _count(one)].view(one.shard_sizes))
            at += _count(one)


def _at(number: int, values: Any) -> Any:
    """The shards of that number in place of the tensors."""
    return tree_map(lambda one: one._shards[number].tensor if isinstance(one, ShardedTensor) else one, values)


def _joined(like: ShardedTensor, results: list[Any]) -> Any:
    """Results for each shard as one tensor, which lies as ``like``; where there are no shards, that one's dtype."""
    if not results:
        return like._around([], like._metadata, like._sharding_spec, like._process_group)
    properties = TensorProperties.create_from_tensor(results[0])
    metadata = ShardedTensorMetadata(like._metadata.shards_metadata, like._metadata.size, properties)
    shards = [Shard(one, old.metadata) for one, old in zip(results, like._shards, strict=True)]
    return like._around(shards, metadata, like._sharding_spec, like._process_group)


def rows_of(whole: Tensor, group: Any) -> ShardedTensor:
    """What all processes of a group have whole, cut along its first dimension; a process may have no shard."""
    count, shards = dist.get_world_size(group), []
    for rank in range(count):
        start, size = part_of(whole.shape[0], count, rank)
        if size:
            offsets, place = [start] + [0] * (whole.dim() - 1), dist.get_global_rank(group, rank)
            shards.append(ShardMetadata(offsets, [size, *whole.shape[1:]], f"rank:{place}/{whole.device}"))
    metadata = ShardedTensorMetadata(shards, whole.shape, TensorProperties(whole.dtype))
    own = [Shard(whole[one.shard_offsets[0] :][: one.shard_sizes[0]].clone(), one)
           for one in shards[dist.get_rank(group) : dist.get_rank(group) + 1]]  # fmt: skip
    return ShardedTensor._around(own, metadata, None, group)


def filled(spec: ShardingSpec, fill: Callable[[Tensor], Any], *size: Any, **options: Any) -> ShardedTensor:
    """A new one, each of whose shards goes through ``fill``."""
    made = ShardedTensor(spec, *size, **options)
    with taeda.no_grad():
        for one in made._shards:
            fill(one.tensor)
    return made
