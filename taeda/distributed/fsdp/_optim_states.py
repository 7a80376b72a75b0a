"""The state of an optimiser of wrapped modules: by the names that parameters have without wrappers, whole or cut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.distributed import _objects as objects
from taeda.distributed._queries import _get_default_group, get_rank, get_world_size
from taeda.distributed._world import is_initialized
from taeda.distributed.fsdp._flat_param import FlatGroup
from taeda.distributed.fsdp._layout import own_shard
from taeda.distributed.fsdp._outer import part_of, whole
from taeda.distributed.fsdp._state_dicts import clean, cut, full, settings_of
from taeda.distributed.fsdp._unit import units_in
from taeda.distributed.fsdp.api import (
    FullOptimStateDictConfig,
    OptimStateKeyType,
    StateDictType,
)

State = dict[str, Any]


class _Parameters:
    """What stands for which parameters of ``model``: shards, and parameters that are no one's."""

    def __init__(self, model: nn.Module) -> None:
        paths = {
            id(one): clean(f"{name}." if name else "") for name, one in model.named_modules(remove_duplicate=False)
        }
        self.groups: list[FlatGroup] = []
        self.names: dict[int, list[str]] = {}  # by the id of what an optimiser has: the names below it
        self.of: dict[int, tuple[FlatGroup, int]] = {}
        for unit in units_in(model):
            for group in unit.groups:
                assert isinstance(group, FlatGroup)
                self.groups.append(group)
                names = [paths[id(places[0][0])] + places[0][1] for places in group.places]
                for at, one in enumerate(group.sharded):
                    self.of[id(one)] = group, at
                    self.names[id(one)] = [names[at]] if group.as_views else names
        for name, one in model.named_parameters():
            self.names.setdefault(id(one), [clean(name)])


def _config(model: nn.Module) -> tuple[StateDictType, Any]:
    settings = settings_of(model)
    return settings.state_dict_type, settings.optim_state_dict_config


def optim_state_dict(model: nn.Module, optim: Any, optim_state_dict: State | None = None, group: Any = None) -> State:
    """The state of ``optim`` by parameters' names; whole or cut as `state_dict_type` says. All processes call this.

    Args:
        optim_state_dict: a state in place of the optimiser's own.
    """
    kind, config = _config(model)
    only_first = isinstance(config, FullOptimStateDictConfig) and config.rank0_only
    return _saved(model, optim, optim_state_dict, kind, only_first, getattr(config, "_use_dtensor", True))


def full_optim_state_dict(
    model: nn.Module, optim: Any, optim_input: Any = None, rank0_only: bool = True, group: Any = None
) -> State:
    """The state of ``optim`` by parameters' names, whole; with ``rank0_only`` the other processes get an empty one."""
    return _saved(model, optim, None, StateDictType.FULL_STATE_DICT, rank0_only)


def sharded_optim_state_dict(model: nn.Module, optim: Any, group: Any = None) -> State:
    """The state of ``optim`` by names, as `ShardedTensor`, or as DTensors where the wrappers have a mesh."""
    dtensors = any(vars(one).get("_device_mesh") is not None for one in model.modules())
    return _saved(model, optim, None, StateDictType.SHARDED_STATE_DICT, False, dtensors)


def _saved(
    model: nn.Module, optim: Any, given: State | None, kind: StateDictType, only_first: bool, dtensors: bool = True
) -> State:
    table = _Parameters(model)
    state = optim.state_dict() if given is None else given
    order = [one for group in optim.param_groups for one in group["params"]]
    ids = [number for group in state["param_groups"] for number in group["params"]]
    by_id = dict(zip(map(id, order), ids, strict=True))
    if kind is StateDictType.LOCAL_STATE_DICT:
        return state  # type: ignore[no-any-return]
    result: State = {}
    for group in table.groups:
        own = [by_id.get(id(one)) for one in group.sharded]
        states = [state["state"].get(number, {}) if number is not None else {} for number in own]
        names = [name for one in group.sharded for name in table.names[id(one)]]
        for name, value in zip(names, _group_states(group, states, kind, dtensors), strict=True):
            if value:
                result[name] = value
    for one in order:
        if id(one) not in table.of and by_id[id(one)] in state["state"]:
            result[table.names[id(one)][0]] = dict(state["state"][by_id[id(one)]])
    groups = [{**group, "params": [name for one in own["params"] for name in table.names[id(one)]]}
              for group, own in zip(state["param_groups"], optim.param_groups, strict=True)]  # fmt: skip
    if only_first and get_rank() != 0:
        return {}
    return {"state": result, "param_groups": groups}


def _is_cut(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dim() > 0


def _group_states(group: FlatGroup, states: list[State], kind: StateDictType, dtensors: bool) -> list[State]:
    """For each parameter of a group its state, from that of the shards."""
    results: list[State] = [{} for _ in group.places]
    known: list[dict[str, Any]] = [
        {name: (str(value.dtype), True) if _is_cut(value) else (value, False) for name, value in one.items()}
        for one in states
    ]
    if group.processes.ranks > 1:  # a process whose part is empty may have none
        told: list[Any] = [None] * group.processes.ranks
        objects.all_gather_object(told, known, group.processes.shard)
        known = [{name: what for one in told for name, what in one[at].items()} for at in range(len(states))]
    if not group.as_views:
        known = known * len(group.places)
    for name in sorted({name for one in known for name in one}):
        cuts = [at for at, one in enumerate(known) if one.get(name, (0, False))[1]]
        if cuts:
            dtype = getattr(taeda, known[cuts[0]][name][0].removeprefix("torch."))
            shard = taeda.zeros(group.layout.shard, dtype=dtype, device=group.device)
            for view, one in zip(group.views(shard), states, strict=True):
                if _is_cut(one.get(name)):
                    view.copy_(one[name].detach().view(view.shape))
            gathered = group.whole_of(shard)
            sharded = kind is StateDictType.SHARDED_STATE_DICT
            for at in cuts:
                value = gathered[at]
                results[at][name] = cut(value, group, at, dtensors) if sharded else full(value, group, at)
        for at, one in enumerate(known):
            if name in one and at not in cuts:
                value = one[name][0]
                results[at][name] = value.clone() if isinstance(value, Tensor) else value
    return results


def optim_state_dict_to_load(
    model: nn.Module, optim: Any, optim_state_dict: State, is_named_optimizer: bool = False,
    load_directly: bool = False, group: Any = None,
) -> State:  # fmt: skip
    """What ``optim.load_state_dict`` takes, from what `optim_state_dict` gave. All processes call this.

    Args:
        load_directly: load it, too.
    """
    kind, config = _config(model)
    if isinstance(config, FullOptimStateDictConfig) and config.rank0_only:
        optim_state_dict = _from_first(optim_state_dict)
    made = optim_state_dict if kind is StateDictType.LOCAL_STATE_DICT else _to_load(model, optim, optim_state_dict)
    if load_directly:
        optim.load_state_dict(made)
    return made


def _to_load(model: nn.Module, optim: Any, given: State) -> State:
    table = _Parameters(model)
    order = [one for group in optim.param_groups for one in group["params"]]
    numbers = {id(one): number for number, one in enumerate(order)}
    state: dict[int, State] = {}
    done: set[int] = set()
    for one in order:
        if id(one) not in table.of:
            name = table.names[id(one)][0]
            if name in given["state"]:
                state[numbers[id(one)]] = {key: whole(value) for key, value in given["state"][name].items()}
            continue
        group = table.of[id(one)][0]
        if id(group) in done:
            continue
        done.add(id(group))
        names = [name for own in group.sharded for name in table.names[id(own)]]
        for own, value in zip(
            group.sharded, _cut_states(group, [given["state"].get(n, {}) for n in names]), strict=True
        ):
            if value and id(own) in numbers:
                state[numbers[id(own)]] = value
    groups = [{**theirs, "params": [numbers[id(one)] for one in ours["params"]]}
              for theirs, ours in zip(given["param_groups"], optim.param_groups, strict=True)]  # fmt: skip
    return {"state": dict(sorted(state.items())), "param_groups": groups}


def _cut_states(group: FlatGroup, states: list[State]) -> list[State]:
    """For each shard its state, from that of whole parameters."""
    results: list[State] = [{} for _ in group.sharded]
    for name in sorted({name for one in states for name in one}):
        values = [one.get(name) for one in states]
        first = next(value for value in values if value is not None)
        if not _is_cut(first):
            for at, result in enumerate(results):
                value = values[at] if group.as_views else first
                if value is not None:
                    result[name] = value.clone() if isinstance(value, Tensor) else value
            continue
        parts = [None if value is None else part_of(value, outer)
                 for value, outer in zip(values, group.outer, strict=True)]  # fmt: skip
        dtype = next(part.dtype for part in parts if part is not None)
        gathered = [taeda.zeros(shape, dtype=dtype) if part is None else part
                    for part, shape in zip(parts, group.layout.shapes, strict=True)]  # fmt: skip
        shard = own_shard(group.layout, gathered, group.processes.rank)
        for at, (result, view) in enumerate(zip(results, group.views(shard), strict=True)):
            if not group.as_views or values[at] is not None:
                result[name] = view.clone()
    return results


def _from_first(value: Any, group: Any = None) -> Any:
    """An object of the first process, on all."""
    if not is_initialized() or get_world_size(group) == 1:
        return value
    told = [value if get_rank() == 0 else None]
    objects.broadcast_object_list(told, src=0, group=group or _get_default_group())
    return told[0]


def shard_full_optim_state_dict(
    full_optim_state_dict: State, model: nn.Module, optim_input: Any = None, optim: Any = None
) -> State:
    """What ``optim.load_state_dict`` takes, from a whole state that all processes have."""
    return _to_load(model, _optim_of(model, optim, optim_input), full_optim_state_dict)


def scatter_full_optim_state_dict(
    full_optim_state_dict: State | None, model: nn.Module, optim_input: Any = None, optim: Any = None,
    group: Any = None,
) -> State:  # fmt: skip
    """What ``optim.load_state_dict`` takes, from a whole state that the first process has."""
    return _to_load(model, _optim_of(model, optim, optim_input), _from_first(full_optim_state_dict, group))


def flatten_sharded_optim_state_dict(sharded_optim_state_dict: State, model: nn.Module, optim: Any) -> State:
    """What ``optim.load_state_dict`` takes, from a state of DTensors."""
    return _to_load(model, optim, sharded_optim_state_dict)


class _Groups:
    """Stands for an optimiser, of which only the parameters are asked."""

    def __init__(self, given: Any) -> None:
        listed = list(given)
        self.param_groups = listed if listed and isinstance(listed[0], dict) else [{"params": listed}]


def _optim_of(model: nn.Module, optim: Any, given: Any) -> Any:
    if optim is not None:
        return optim
    return _Groups(model.parameters() if given is None else given)


def rekey_optim_state_dict(
    optim_state_dict: State, optim_state_key_type: OptimStateKeyType, model: nn.Module,
    optim_input: Iterable[Any] | None = None, optim: Any = None,
) -> State:  # fmt: skip
    """The state with its parameters' names in place of numbers, or the other way round, for a plain ``model``."""
    names = {id(one): clean(name) for name, one in model.named_parameters()}
    order = [one for group in _optim_of(model, optim, optim_input).param_groups for one in group["params"]]
    to_name: dict[Any, Any] = {number: names[id(one)] for number, one in enumerate(order)}
    if optim_state_key_type is OptimStateKeyType.PARAM_ID:
        to_name = {name: number for number, name in to_name.items()}
    state = {to_name[key]: value for key, value in optim_state_dict["state"].items()}
    groups = [{**group, "params": sorted(to_name[key] for key in group["params"])}
              for group in optim_state_dict["param_groups"]]  # fmt: skip
    return {"state": state, "param_groups": groups}
