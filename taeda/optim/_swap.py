"""Other parameters and state in an optimiser, for a while."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from taeda import Tensor

from .optimizer import Optimizer

_NAME = "taeda.optim.swap_in_optimizer_params_and_state"


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: Mapping[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Within the ``with`` block the optimiser has other parameters and another state; then its own again.

    Args:
        optimizer: One that has made a step, so that there is a state.
        swapin_parameters: The parameters, in the order of the optimiser's own.
        swapin_optim_state: As ``optimizer.state_dict()`` gives it. What ``step()`` writes into its tensors stays
            there; new tensors and options are forgotten.
    """
    if not optimizer.state:
        raise RuntimeError(f"{_NAME}: the optimiser has no state yet; make a step first")
    groups, state = optimizer.param_groups, optimizer.state
    try:
        optimizer.param_groups = _groups(groups, list(swapin_parameters.values()), swapin_optim_state)
        optimizer.state = _state(optimizer.param_groups, swapin_optim_state)
        yield
    finally:
        optimizer.param_groups, optimizer.state = groups, state


def _groups(own: list[Any], parameters: list[Tensor], given: dict[str, Any]) -> list[Any]:
    options = given.get("param_groups")
    if not isinstance(given.get("state"), dict) or options is None:
        raise RuntimeError(
            f"{_NAME}: the state must be a dict with 'state' and 'param_groups', as state_dict() gives it"
        )
    if len(options) != len(own) or sum(len(group["params"]) for group in own) != len(parameters):
        raise RuntimeError(
            f"{_NAME}: wanted {sum(len(group['params']) for group in own)} parameters in {len(own)} groups; got "
            f"{len(parameters)} in {len(options)}"
        )
    rest = iter(parameters)
    return [{**group, "params": [next(rest) for _ in mine["params"]]} for mine, group in zip(own, options)]


def _state(groups: list[Any], given: dict[str, Any]) -> defaultdict[Tensor, Any]:
    numbers = [number for group in given["param_groups"] for number in group["params"]]
    parameters = [parameter for group in groups for parameter in group["params"]]
    result: defaultdict[Any, Any] = defaultdict(dict)
    for number, parameter in zip(numbers, parameters):
        if number in given["state"]:
            result[parameter] = dict(given["state"][number])
    return result
