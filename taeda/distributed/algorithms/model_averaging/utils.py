"""Means of parameters over processes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import taeda
import taeda.distributed as dist

__all__ = ["average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average"]


def average_parameters(params: Iterable[Any], process_group: Any = None) -> None:
    """Makes the parameters their mean over the group, in one collective for each dtype."""
    if dist.distributed_c10d._rank_not_in_group(process_group):
        return
    kinds: dict[Any, list[Any]] = {}
    for parameter in params:
        kinds.setdefault(parameter.dtype, []).append(parameter)
    size = dist.get_world_size(process_group)
    with taeda.no_grad():
        for members in kinds.values():
            flat = taeda.cat([parameter.reshape(-1) for parameter in members]).div_(size)
            dist.all_reduce(flat, group=process_group)
            for parameter, piece in zip(members, flat.split([one.numel() for one in members]), strict=True):
                parameter.copy_(piece.view_as(parameter))


def get_params_to_average(params: Iterable[Any] | Iterable[dict[str, Any]]) -> list[Any]:
    """Those that have a gradient, of parameters or of groups of them."""
    found = []
    for one in params:
        members = one["params"] if isinstance(one, dict) else [one]
        found += [parameter for parameter in members if parameter.grad is not None]
    return found


def average_parameters_or_parameter_groups(params: Iterable[Any], process_group: Any) -> None:
    """`average_parameters` of those that have a gradient."""
    given: Iterator[Any] = itertools.chain(get_params_to_average(params))
    average_parameters(given, process_group)
