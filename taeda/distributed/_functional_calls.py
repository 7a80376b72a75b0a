"""Collectives that give new tensors and leave their arguments alone; those called ``…_autograd`` pass gradients on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda import distributed as dist
from taeda.distributed import _counted
from taeda.distributed._queries import _resolve_process_group
from taeda.distributed._world import world
from taeda.distributed.nn import functional as differentiable

__all__ = [
    "AsyncCollectiveTensor", "all_gather_into_tensor_coalesced", "all_gather_single", "all_gather_single_autograd",
    "all_gather_single_coalesced", "all_gather_tensor", "all_gather_tensor_autograd", "all_reduce",
    "all_reduce_coalesced", "all_to_all_single", "all_to_all_single_autograd", "broadcast", "permute_tensor",
    "reduce_scatter_single", "reduce_scatter_single_autograd", "reduce_scatter_single_coalesced",
    "reduce_scatter_tensor", "reduce_scatter_tensor_autograd", "reduce_scatter_tensor_coalesced", "wait_tensor",
]  # fmt: skip

_OPS = {
    "sum": dist.ReduceOp.SUM, "avg": dist.ReduceOp.AVG, "product": dist.ReduceOp.PRODUCT, "min": dist.ReduceOp.MIN,
    "max": dist.ReduceOp.MAX, "band": dist.ReduceOp.BAND, "bor": dist.ReduceOp.BOR, "bxor": dist.ReduceOp.BXOR,
}  # fmt: skip


def _op(name: Any) -> Any:
    if not isinstance(name, str):
        return name
    if name.lower() not in _OPS:
        raise ValueError(f"taeda.distributed: reduceOp is wanted as one of {sorted(_OPS)}; got {name!r}")
    return _OPS[name.lower()]


def _group(group: Any) -> Any:
    """A process group, from one, its name, its ranks (or all groups' lists of them, of which one has this process),
    a mesh of one dimension, or a mesh and a dimension."""
    if isinstance(group, str):
        return _resolve_process_group(group)
    if isinstance(group, list):
        return _with_ranks(group)
    if isinstance(group, tuple):
        mesh, dim = group
        return mesh.get_group(dim)
    return group.get_group() if hasattr(group, "get_group") else group


def _with_ranks(ranks: list[Any]) -> Any:
    own = next((one for one in ranks if dist.get_rank() in one), []) if isinstance(ranks[0], list) else ranks
    found = next((group for group in world.groups if dist.get_process_group_ranks(group) == own), None)
    if found is None:
        raise ValueError(f"taeda.distributed: there is no process group of the ranks {own}; make it by new_group()")
    return found


class AsyncCollectiveTensor(Tensor):
    """What a collective gives, which a program may wait for: it has come already. Ops on it give plain tensors."""

    __torch_function__ = taeda._C._disabled_torch_function_impl  # type: ignore[assignment]

    def wait(self) -> Tensor:
        """The same as a plain tensor."""
        return self.as_subclass(Tensor)

    trigger_wait = wait

    def __repr__(self) -> str:  # type: ignore[override]
        return f"AsyncCollectiveTensor({self.wait()})"


def _come(result: Tensor) -> Tensor:
    return result.as_subclass(AsyncCollectiveTensor) if type(result) is Tensor else result


def wait_tensor(tensor: Tensor) -> Tensor:
    """``tensor`` as a plain tensor: what these functions give is there already."""
    return tensor.wait() if isinstance(tensor, AsyncCollectiveTensor) else tensor


def broadcast(self: Tensor, src: int, group: Any, tag: str = "") -> Tensor:
    """The tensor of the process ``src``."""
    _counted.tell("broadcast")
    result = self.detach().clone()
    dist.broadcast(result, src, _group(group))
    return _come(result)


def all_reduce(self: Tensor, reduceOp: str, group: Any, tag: str = "") -> Tensor:
    """The processes' tensors reduced to one."""
    _counted.tell("all_reduce")
    result = self.detach().clone(memory_format=taeda.contiguous_format)
    if result.is_meta:
        return _come(result)
    dist.all_reduce(result, _op(reduceOp), _group(group))
    return _come(result)


def all_reduce_coalesced(self: list[Tensor], reduceOp: str, group: Any, tag: str = "") -> list[Tensor]:
    """`all_reduce` of each."""
    _counted.tell("all_reduce_coalesced")
    results = [one.detach().clone(memory_format=taeda.contiguous_format) for one in self]
    dist.all_reduce_coalesced(results, _op(reduceOp), _group(group))
    return [_come(one) for one in results]


def all_gather_tensor(self: Tensor, gather_dim: int, group: Any, tag: str = "") -> Tensor:
    """The processes' tensors, joined along a dimension."""
    return _come(_gathered(self.detach(), gather_dim, group, dist.all_gather_into_tensor))


def _gathered(tensor: Tensor, gather_dim: int, group: Any, gather: Any) -> Tensor:
    _counted.tell("all_gather_into_tensor")
    made, own = _group(group), tensor.contiguous()
    whole = own.new_empty((dist.get_world_size(made), *own.shape))
    gather(whole.view(-1, *own.shape[1:]) if own.dim() else whole, own, made)
    return taeda.cat(list(whole), gather_dim) if own.dim() else whole


def all_gather_tensor_autograd(self: Tensor, gather_dim: int, group: Any, tag: str = "") -> Tensor:
    """`all_gather_tensor`; each process's gradient is the sum of all processes' for its part."""
    _counted.tell("all_gather_into_tensor")
    return taeda.cat(list(differentiable.all_gather(self.contiguous(), _group(group))), gather_dim)


def all_gather_into_tensor_coalesced(self: list[Tensor], group: Any, tag: str = "") -> list[Tensor]:
    """The processes' tensors in each place of the list, joined along the first dimension."""
    return [all_gather_tensor(one, 0, group, tag) for one in self]


def _parts(tensor: Tensor, scatter_dim: int, group: Any) -> list[Tensor]:
    _counted.tell("reduce_scatter_tensor")
    ranks = dist.get_world_size(group)
    if tensor.size(scatter_dim) % ranks:
        raise AssertionError(
            f"taeda.distributed.reduce_scatter_tensor: dimension {scatter_dim} of {list(tensor.shape)} does not divide "
            f"into {ranks} equal parts"
        )
    return [part.contiguous() for part in tensor.chunk(ranks, scatter_dim)]


def reduce_scatter_tensor(self: Tensor, reduceOp: str, scatter_dim: int, group: Any, tag: str = "") -> Tensor:
    """This process's equal part, along a dimension, of the processes' tensors reduced to one."""
    made = _group(group)
    parts = _parts(self.detach(), scatter_dim, made)
    result = taeda.empty_like(parts[0])
    dist.reduce_scatter(result, parts, _op(reduceOp), made)
    return _come(result)


def reduce_scatter_tensor_autograd(self: Tensor, reduceOp: str, scatter_dim: int, group: Any, tag: str = "") -> Tensor:
    """`reduce_scatter_tensor`, with the gradient of a sum or a mean."""
    made = _group(group)
    parts = _parts(self, scatter_dim, made)
    total = differentiable.reduce_scatter(taeda.empty_like(parts[0]), parts, dist.ReduceOp.SUM, made)
    return total / dist.get_world_size(made) if _op(reduceOp) == dist.ReduceOp.AVG else total


def reduce_scatter_tensor_coalesced(
    inputs: list[Tensor], reduceOp: str, scatter_dim: list[int], group: Any, tag: str = ""
) -> list[Tensor]:
    """`reduce_scatter_tensor` of each, along its own dimension."""
    return [reduce_scatter_tensor(one, reduceOp, dim, group, tag) for one, dim in zip(inputs, scatter_dim, strict=True)]


def _outputs(tensor: Tensor, output_split_sizes: Sequence[int] | None) -> Tensor:
    _counted.tell("all_to_all_single")
    first = sum(output_split_sizes) if output_split_sizes else tensor.size(0)
    return tensor.new_empty((first, *tensor.shape[1:]))


def all_to_all_single(
    self: Tensor, output_split_sizes: Sequence[int] | None, input_split_sizes: Sequence[int] | None, group: Any,
    tag: str = "",
) -> Tensor:  # fmt: skip
    """Each process's parts for this one, joined along the first dimension."""
    result = _outputs(self, output_split_sizes)
    own = self.detach().contiguous()
    dist.all_to_all_single(result, own, output_split_sizes, input_split_sizes, _group(group))
    return _come(result)


def all_to_all_single_autograd(
    self: Tensor, output_split_sizes: Sequence[int] | None, input_split_sizes: Sequence[int] | None, group: Any,
    tag: str = "",
) -> Tensor:  # fmt: skip
    """`all_to_all_single`; gradients go back the way that the parts came."""
    result = _outputs(self, output_split_sizes)
    own = self.contiguous()
    return differentiable.all_to_all_single(result, own, output_split_sizes, input_split_sizes, _group(group))


def permute_tensor(self: Tensor, src_dst: Sequence[int], group: Any, tag: str = "") -> Tensor:
    """The tensor of the process whose entry of ``src_dst`` is this one's rank."""
    made = _group(group)
    rank, ranks = dist.get_rank(made), dist.get_world_size(made)
    give, take = [0] * ranks, [0] * ranks
    for source, target in enumerate(src_dst):
        if source == rank:
            give[target] = self.numel()
        if target == rank:
            take[source] = self.numel()
    return _come(all_to_all_single(self.reshape(-1), take, give, made).view(self.shape))


all_gather_single, all_gather_single_autograd = all_gather_tensor, all_gather_tensor_autograd
reduce_scatter_single, reduce_scatter_single_autograd = reduce_scatter_tensor, reduce_scatter_tensor_autograd
all_gather_single_coalesced = all_gather_into_tensor_coalesced
reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced
