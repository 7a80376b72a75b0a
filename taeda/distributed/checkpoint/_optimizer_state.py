"""An optimiser's state by parameters' names, flat and by numbers."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.distributed.checkpoint._names import Names
from taeda.distributed.checkpoint._spreading import spread_like

State = dict[str, Any]


def fill(optimizer: Any) -> None:
    """Has an optimiser make its state by a step that changes nothing."""
    if optimizer.state:
        return
    parameters = [one for group in optimizer.param_groups for one in group["params"] if one.requires_grad]
    if any(one.grad is not None for one in parameters):
        raise RuntimeError(
            "taeda.distributed.checkpoint.state_dict: the optimizer has no state, and gradients that it would lose; "
            "call this before backward(), or after step()"
        )
    rates = [group["lr"] for group in optimizer.param_groups if "lr" in group]
    for one in parameters:
        one.grad = taeda.zeros_like(one)
    for group in optimizer.param_groups:
        if "lr" in group:
            group["lr"] = taeda.tensor(0.0) if isinstance(group["lr"], Tensor) else 0.0
    optimizer.step(closure=None)
    for group, rate in zip([one for one in optimizer.param_groups if "lr" in one], rates, strict=True):
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


def by_name(names: Names, optimizer: Any) -> State:
    """The state with names in place of numbers."""
    known, saved = names.of_parameters(), optimizer.state_dict()
    order = [known[id(one)][0] for group in optimizer.param_groups for one in group["params"]]
    numbers = [number for group in saved["param_groups"] for number in group["params"]]
    to_name = dict(zip(numbers, order, strict=True))
    return {
        "state": {to_name[number]: value for number, value in saved["state"].items()},
        "param_groups": [
            {**group, "params": [to_name[number] for number in group["params"]]} for group in saved["param_groups"]
        ],
    }


def own_part(names: Names, optimizer: Any, given: State, model: nn.Module) -> State:
    """What belongs to this optimiser, its groups in its own order."""
    known = names.of_parameters()
    state: State = {}
    groups = []
    for group in optimizer.param_groups:
        mine = [name for one in group["params"] for name in known[id(one)]]
        theirs = next((one for one in given["param_groups"] if mine and mine[0] in one["params"]), group)
        groups.append({**theirs, "params": mine})
        state.update({name: given["state"][name] for name in mine if name in given["state"]})
    return {"state": state, "param_groups": groups}


def by_number(names: Names, optimizer: Any, given: State) -> State:
    """The opposite of `by_name`, tensors spread as the parameters are."""
    known = names.of_parameters()
    state: dict[int, State] = {}
    groups, number = [], 0
    for group, theirs in zip(optimizer.param_groups, given["param_groups"], strict=True):
        first = number
        for one in group["params"]:
            found = given["state"].get(known[id(one)][0])
            if found is not None:
                state[number] = {
                    key: spread_like(value, one) if isinstance(value, Tensor) else value for key, value in found.items()
                }
            number += 1
        groups.append({**theirs, "params": list(range(first, number))})
    return {"state": state, "param_groups": groups}


def flattened(given: State) -> State:
    """One dictionary: ``state.NAME.KEY`` and ``param_groups.NAME.KEY``."""
    flat = {f"state.{name}.{key}": value for name, one in given["state"].items() for key, value in one.items()}
    for group in given["param_groups"]:
        for name in group["params"]:
            flat.update({f"param_groups.{name}.{key}": value for key, value in group.items() if key != "params"})
    return flat


def nested(names: Names, model: nn.Module, optimizer: Any, flat: State) -> State:
    """The opposite of `flattened`, of what belongs to this optimiser."""
    known = names.of_parameters()
    state: State = {}
    groups = []
    for group in optimizer.param_groups:
        mine = [name for one in group["params"] for name in known[id(one)]]
        made = {key: value for key, value in group.items() if key != "params"}
        for name in mine:
            prefix = f"state.{name}."
            own = {key[len(prefix) :]: value for key, value in flat.items()
                   if key.startswith(prefix) and "." not in key[len(prefix) :]}  # fmt: skip
            if own:
                state[name] = own
        for key in made:
            made[key] = flat.get(f"param_groups.{mine[0]}.{key}", made[key]) if mine else made[key]
        groups.append({**made, "params": mine})
    return {"state": state, "param_groups": groups}
