"""Whole parameters, for a moment."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import taeda
from taeda import Tensor, nn
from taeda.distributed.fsdp._flat_param import FlatGroup
from taeda.distributed.fsdp._outer import local, seen
from taeda.distributed.fsdp._unit import Unit, units_in


@contextlib.contextmanager
def full_params(
    module: nn.Module, recurse: bool = True, writeback: bool = True, rank0_only: bool = False, with_grads: bool = False
) -> Iterator[None]:
    """See `FullyShardedDataParallel.summon_full_params`."""
    if writeback and rank0_only:
        raise ValueError("summon_full_params: with rank0_only there is nothing to write back; set writeback=False")
    units = [one for one in units_in(module) if all(isinstance(group, FlatGroup) for group in one.groups)]
    if not recurse:
        inner = {id(below) for one in units for below in units_in(one.module) if below is not one}
        units = [one for one in units if id(one) not in inner]
    units = [one for one in units if not one.is_full]  # of nested calls the outermost counts
    for unit in units:
        if unit.in_backward or unit.context is not None and unit.context.in_backward:
            raise AssertionError("summon_full_params: not within a backward pass")
        if unit.in_forward:
            raise AssertionError("summon_full_params: not within a forward pass")
    shown = [(unit, show(unit, with_grads, rank0_only)) for unit in units]
    try:
        yield
    finally:
        for unit, full in shown:
            hide(unit, full, writeback, with_grads)


def show(unit: Unit, with_grads: bool = False, rank0_only: bool = False) -> list[list[nn.Parameter]]:
    """Has a unit's modules see whole parameters, and gives them. All processes call this."""
    unit.adopt()
    unit.reshard()
    made = []
    for group in unit.groups:
        assert isinstance(group, FlatGroup)
        values = zip(group.full(), group.outer, group.trained, strict=True)
        full = [nn.Parameter(seen(one, outer), trained) for one, outer, trained in values]
        if with_grads:
            for one, outer, grad in zip(full, group.outer, _full_grads(group), strict=True):
                one.grad = None if grad is None else seen(grad, outer)
        if not rank0_only or group.processes.rank == 0:
            group.show_full(full)
        made.append(full)
    unit.is_full = True
    return made


def hide(unit: Unit, full: list[list[nn.Parameter]], writeback: bool = True, with_grads: bool = False) -> None:
    """The opposite of `show`; with ``writeback`` what changed is kept."""
    unit.is_full = False
    for group, parameters in zip(unit.groups, full, strict=True):
        assert isinstance(group, FlatGroup)
        group.show_shards()
        if writeback:
            group.take(parameters)
            if with_grads and any(one.grad is not None for one in parameters):
                _keep_grads(group, parameters)


def _full_grads(group: FlatGroup) -> list[Tensor | None]:
    if all(one.grad is None for one in group.sharded) and group.processes.shard is None:
        return [None] * len(group.places)
    shard = group.shard.new_zeros(group.layout.shard)
    there = []
    for view, one in zip(group.views(shard), group.sharded, strict=True):
        there.append(one.grad is not None)
        if one.grad is not None:
            view.copy_(one.grad)
    if not group.as_views:
        there = there * len(group.places)
    return [grad.clone() if known else None for grad, known in zip(group.whole_of(shard), there, strict=True)]


def _keep_grads(group: FlatGroup, parameters: list[nn.Parameter]) -> None:
    from taeda.distributed.fsdp._layout import own_shard

    grads = [taeda.zeros_like(local(one)) if one.grad is None else local(one.grad) for one in parameters]
    shard = own_shard(group.layout, grads, group.processes.rank)
    for view, one in zip(group.views(shard), group.sharded, strict=True):
        if one.grad is not None:
            one.grad.copy_(view)
