"""Tensors of states: made whole, or spread as others are."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed import _collectives as collectives
from taeda.distributed import _objects as objects
from taeda.distributed._queries import get_rank, get_world_size
from taeda.distributed._world import is_initialized
from taeda.distributed.tensor import DTensor
from taeda.distributed.tensor._redistribute import local_of
from taeda.utils._pytree import tree_flatten, tree_unflatten


def whole(state: dict[str, Any], full: bool, offload: bool) -> dict[str, Any]:
    """A state with whole tensors if ``full``, on the CPU if ``offload``; of the first process only, with both."""
    leaves, tree = tree_flatten(state)
    keeps = not (full and offload) or not is_initialized() or get_rank() == 0
    made: list[Any] = []
    for one in leaves:
        if full and isinstance(one, DTensor):
            one = one.full_tensor().detach()  # all take part, also those that drop it
        if not keeps:
            one = None
        elif offload and isinstance(one, Tensor) and not isinstance(one, DTensor):
            one = one.detach().cpu()
        made.append(one)
    return tree_unflatten(made, tree) if keeps else {}  # type: ignore[no-any-return]


def spread_like(value: Tensor, like: Any) -> Tensor:
    """A whole tensor as ``like`` is: a DTensor, if that is one."""
    if not isinstance(like, DTensor) or isinstance(value, DTensor) or value.dim() == 0:
        return value
    if tuple(value.shape) != tuple(like.shape):
        return value
    part = local_of(value.detach().to(like.dtype), like._spec)
    return DTensor(part.clone(), like._spec, requires_grad=False)


class _Place:
    """Stands for a tensor that is sent by itself."""

    def __init__(self, tensor: Tensor) -> None:
        self.shape, self.dtype = tuple(tensor.shape), tensor.dtype


def from_first(state: dict[str, Any]) -> dict[str, Any]:
    """The state that the first process has, on all: tensors one by one, so that they are not pickled."""
    if not is_initialized() or get_world_size() == 1:
        return state
    first = get_rank() == 0
    leaves, tree = tree_flatten(state)
    told: list[Any] = [None]
    if first:
        told = [([_Place(one) if isinstance(one, Tensor) else one for one in leaves], tree)]
    objects.broadcast_object_list(told, src=0)
    plain, tree = told[0]
    made: list[Any] = []
    for at, one in enumerate(plain):
        if isinstance(one, _Place):
            own = leaves[at].detach().contiguous() if first else taeda.empty(one.shape, dtype=one.dtype)
            collectives.broadcast(own, src=0)
            one = own
        made.append(one)
    return tree_unflatten(made, tree)  # type: ignore[no-any-return]
