"""``context_parallel``: a scope in which tensors are parts of sequences, and attention reaches over all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed import _collectives as collectives
from taeda.distributed.device_mesh import DeviceMesh
from taeda.distributed.tensor._redistribute import local_of
from taeda.distributed.tensor._spec import DTensorSpec, placements_for
from taeda.distributed.tensor.experimental._context_parallel._load_balancer import _LoadBalancer, default_balancer
from taeda.distributed.tensor.experimental._context_parallel._options import _cp_options, _RotateMethod
from taeda.distributed.tensor.experimental._context_parallel._ring import attend
from taeda.distributed.tensor.placement_types import Shard
from taeda.overrides import TorchFunctionMode

_NAME = "scaled_dot_product_attention under context_parallel"


class _Reaching(TorchFunctionMode):
    """Has `scaled_dot_product_attention` take its arguments for parts of sequences."""

    def __init__(self, mesh: DeviceMesh) -> None:
        super().__init__()
        self.mesh = mesh

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is taeda.nn.functional.scaled_dot_product_attention:
            return _attention(self.mesh, *args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def _attention(
    mesh: DeviceMesh, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    if dropout_p:
        raise NotImplementedError(f"{_NAME}: dropout_p is not taken; got {dropout_p}")
    if {query.dim(), key.dim(), value.dim()} != {4}:
        raise ValueError(
            f"{_NAME}: query, key and value are wanted as (batch, heads, length, width); got shapes "
            f"{tuple(query.shape)}, {tuple(key.shape)} and {tuple(value.shape)}"
        )
    if query.shape[2] != key.shape[2]:
        raise ValueError(
            f"{_NAME}: queries and keys are wanted as parts of one sequence; got parts of {query.shape[2]} and "
            f"{key.shape[2]} places"
        )
    if enable_gqa:
        key, value = (one.repeat_interleave(query.shape[1] // one.shape[1], 1) for one in (key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    bias = None if attn_mask is None else _bias(attn_mask, query, key.shape[2] * mesh.size(), is_causal)
    return attend(query, key, value, mesh.get_group(), is_causal, scale, bias)


def _bias(mask: Tensor, query: Tensor, keys: int, is_causal: bool) -> Tensor:
    """What is added to the scores of this process's queries and all keys."""
    if is_causal:
        raise RuntimeError(f"{_NAME}: attn_mask and is_causal exclude each other")
    if mask.requires_grad:
        raise NotImplementedError(f"{_NAME}: an attn_mask that requires no gradient is wanted")
    wanted = (*query.shape[:3], keys)
    given = (1,) * (4 - mask.dim()) + tuple(mask.shape)
    if len(given) != 4 or any(size not in (1, whole) for size, whole in zip(given, wanted, strict=True)):
        raise ValueError(
            f"{_NAME}: of attn_mask the rows of this process's queries are wanted, with columns for all keys in their "
            f"order: {wanted}, or what broadcasts to it; got {tuple(mask.shape)}. Cut it as one of the buffers"
        )
    bias = mask.reshape(given).expand(*given[:3], keys)
    if mask.dtype == taeda.bool:
        return taeda.zeros(bias.shape, dtype=query.dtype).masked_fill_(~bias, -math.inf)
    return bias.to(query.dtype)


def _along(index: Tensor, tensor: Tensor, dim: int) -> Tensor:
    """The places ``index`` (1, length), or (batch, length), of the dimension ``dim``."""
    if index.shape[0] == 1:
        return tensor.index_select(dim, index[0])
    if dim == 0 or tensor.shape[0] != index.shape[0]:
        raise ValueError(
            f"context_parallel: the order of {index.shape[0]} sequences does not fit a tensor of shape "
            f"{tuple(tensor.shape)} along its dimension {dim}"
        )
    return taeda.stack([row.index_select(dim - 1, places) for row, places in zip(tensor, index, strict=True)])


def _parts(
    mesh: DeviceMesh, buffers: Sequence[Tensor], seq_dims: Sequence[int], balancer: _LoadBalancer | None
) -> list[Tensor]:
    """This process's places of each tensor."""
    order = None if balancer is None else balancer._generate_indices()
    made = []
    for buffer, dim in zip(buffers, seq_dims, strict=True):
        whole = buffer if order is None else _along(order, buffer, dim % buffer.dim())
        _, placed = placements_for("context_parallel", buffer.dim(), mesh, [Shard(dim)])
        made.append(local_of(whole, DTensorSpec(mesh, placed, tuple(whole.shape))).clone())
    return made


def _paired(function: str, buffers: Sequence[Any], seq_dims: Sequence[int]) -> None:
    if len(buffers) != len(seq_dims):
        raise ValueError(
            f"{function}: a dimension is wanted for each tensor; got {len(seq_dims)} for {len(buffers)} tensors"
        )


@contextmanager
def context_parallel(
    mesh: DeviceMesh,
    *,
    buffers: list[Tensor] | None = None,
    buffer_seq_dims: list[int] | None = None,
    no_restore_buffers: set[Tensor] | None = None,
) -> Iterator[None]:
    """A scope in which each process has a part of the sequences, and attention reaches over the whole of them.

    ``scaled_dot_product_attention`` of (batch, heads, part of the length, width) there is that of the wholes, forward
    and backward; the result is this process's part. Where a length is a multiple of twice the number of processes, a
    part is two pieces, from the front and from the back, so that all have as much to do under a causal mask. Of
    ``attn_mask`` a process wants the rows of its queries, which it has if the mask is among the buffers, and columns
    for all keys in their order.

    Args:
        mesh: a mesh of one dimension.
        buffers: tensors that have the sequence (inputs, targets, positions), no parameters. Within, they are this
            process's parts, in place; behind, they are what they were.
        buffer_seq_dims: the sequence's dimension of each.
        no_restore_buffers: those that need not become whole again.

    Raises:
        ValueError: not one dimension for each tensor, or ``no_restore_buffers`` that are not among them.
        NotImplementedError: attention with dropout, or with a mask that requires a gradient.
    """
    given, dims = buffers or [], buffer_seq_dims or []
    _paired("context_parallel", given, dims)
    dropped = {id(one) for one in no_restore_buffers or ()}
    if not dropped <= {id(one) for one in given}:
        raise ValueError("context_parallel: no_restore_buffers are wanted from among buffers; got another tensor")
    balanced = _cp_options.enable_load_balance
    with taeda.no_grad():
        balancer = default_balancer(given[0].shape[dims[0]], mesh.size(), given[0].device) if given else None
        wholes = [None if id(one) in dropped else one.clone() for one in given]
        for buffer, part in zip(given, _parts(mesh, given, dims, balancer), strict=True):
            buffer.resize_(part.shape).copy_(part)
    _cp_options.enable_load_balance = balancer is not None
    try:
        with _Reaching(mesh):
            yield
    finally:
        _cp_options.enable_load_balance = balanced
        with taeda.no_grad():
            for buffer, whole in zip(given, wholes, strict=True):
                if whole is not None:
                    buffer.resize_(whole.shape).copy_(whole)


def context_parallel_unshard(
    mesh: DeviceMesh, buffers: list[Tensor], seq_dims: list[int], load_balancer: _LoadBalancer | None = None
) -> list[Tensor]:
    """The wholes of tensors of which each process has a part.

    Args:
        buffers, seq_dims: the parts, and the sequence's dimension of each.
        load_balancer: that by which they were cut; by default that of `context_parallel`.

    Raises:
        ValueError: not one dimension for each tensor.
    """
    _paired("context_parallel_unshard", buffers, seq_dims)
    made = []
    with taeda.no_grad():
        for buffer, dim in zip(buffers, seq_dims, strict=True):
            length = buffer.shape[dim] * mesh.size()
            balancer = load_balancer or default_balancer(length, mesh.size(), buffer.device)
            parts = [taeda.empty_like(buffer) for _ in range(mesh.size())]
            collectives.all_gather(parts, buffer.contiguous(), group=mesh.get_group())
            whole = taeda.cat(parts, dim)
            order = None if balancer is None else balancer._generate_indices(restore=True)
            made.append(whole if order is None else _along(order, whole, dim % whole.dim()))
    return made


def _context_parallel_shard(
    mesh: DeviceMesh, buffers: Any, seq_dims: Any, load_balancer: _LoadBalancer | None = None
) -> Any:
    """This process's parts of ``buffers``, a list or dict, as a new one; ``seq_dims`` likewise."""
    _paired("_context_parallel_shard", buffers, seq_dims)
    _cp_options.enable_load_balance = load_balancer is not None
    with taeda.no_grad():
        if isinstance(buffers, dict):
            dims = [seq_dims[name] for name in buffers]
            return dict(zip(buffers, _parts(mesh, list(buffers.values()), dims, load_balancer), strict=True))
        return _parts(mesh, buffers, seq_dims, load_balancer)


def set_rotate_method(rotate_method: str) -> None:
    """How keys and values come: ``"allgather"``, all at once, or ``"alltoall"``, one part after the other.

    Raises:
        NotImplementedError: another word.
    """
    methods = {"allgather": _RotateMethod.ALL_GATHER, "alltoall": _RotateMethod.ALL_TO_ALL}
    if rotate_method not in methods:
        raise NotImplementedError(f"set_rotate_method: 'allgather' or 'alltoall' is wanted; got {rotate_method!r}")
    _cp_options.rotate_method = methods[rotate_method]
