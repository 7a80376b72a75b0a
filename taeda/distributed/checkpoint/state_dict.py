"""The states of models and optimisers under the names that the model has without wrappers, whole or in parts.

They are the same whichever way the model is spread: not at all, by `DistributedDataParallel`, `fully_shard`,
`FullyShardedDataParallel` or tensor parallelism.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.distributed.checkpoint import _optimizer_state as optimizer_state
from taeda.distributed.checkpoint._names import Names
from taeda.distributed.checkpoint._spreading import from_first, spread_like, whole
from taeda.distributed.fsdp import (
    FullOptimStateDictConfig,
    FullStateDictConfig,
    FullyShardedDataParallel,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    StateDictType,
)

__all__ = [
    "StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict", "set_model_state_dict",
    "set_optimizer_state_dict", "set_state_dict",
]  # fmt: skip

Optimizers = taeda.optim.Optimizer | Iterable[taeda.optim.Optimizer]
_init_optim_state = optimizer_state.fill  # which programs call before they load an optimiser's state themselves


@dataclass
class StateDictOptions:
    """How states are given and taken.

    Args:
        full_state_dict: whole tensors in place of DTensors.
        cpu_offload: on the CPU; of whole tensors the first process only has them.
        ignore_frozen_params: without parameters that require no gradient.
        keep_submodule_prefixes: whether names begin with those of ``submodules``.
        strict: as in ``load_state_dict``.
        broadcast_from_rank0: of whole tensors to load only the first process has them.
        flatten_optimizer_state_dict: one dictionary of names joined by dots.
        dsd_fqn_modifiers: a method of modules that renames what is below them.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"

    def _checked(self) -> StateDictOptions:
        if self.broadcast_from_rank0 and not self.full_state_dict:
            raise ValueError("StateDictOptions: broadcast_from_rank0 needs full_state_dict")
        return self


@contextlib.contextmanager
def _kind(model: nn.Module, options: StateDictOptions) -> Iterator[bool]:
    """Has wrappers give whole or cut states; whether there are some."""
    if not FullyShardedDataParallel.fsdp_modules(model):
        yield False
        return
    if options.full_state_dict:
        given: Any = (StateDictType.FULL_STATE_DICT, FullStateDictConfig(), FullOptimStateDictConfig())
    else:
        given = (StateDictType.SHARDED_STATE_DICT, ShardedStateDictConfig(_use_dtensor=True),
                 ShardedOptimStateDictConfig(_use_dtensor=True))  # fmt: skip
    with FullyShardedDataParallel.state_dict_type(model, *given):
        yield True


def get_model_state_dict(
    model: nn.Module, *, submodules: set[nn.Module] | None = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The parameters and buffers of a model. All processes call this.

    Args:
        submodules: only what is in these.
    """
    chosen = (options or StateDictOptions())._checked()
    names = Names(model)
    with _kind(model, chosen):
        state = {names.clean(name): value for name, value in model.state_dict().items()}
    if chosen.ignore_frozen_params:
        frozen = {names.clean(name) for name, one in model.named_parameters() if not one.requires_grad}
        state = {name: value for name, value in state.items() if name not in frozen}
    if submodules is not None:
        state = names.within(state, submodules, chosen.keep_submodule_prefixes)
    return whole(state, chosen.full_state_dict, chosen.cpu_offload)


def get_optimizer_state_dict(
    model: nn.Module, optimizers: Optimizers, *, submodules: set[nn.Module] | None = None,
    options: StateDictOptions | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The states of a model's optimisers, by parameters' names. All processes call this.

    An optimiser that has not stepped yet takes a step that changes nothing, so that it has its state.
    """
    chosen = (options or StateDictOptions())._checked()
    made: dict[str, Any] = {"state": {}, "param_groups": []}
    with _kind(model, chosen) as wrapped:
        for one in _listed(optimizers):
            optimizer_state.fill(one)
            if wrapped:
                state = FullyShardedDataParallel.optim_state_dict(model, one)
            else:
                state = optimizer_state.by_name(Names(model), one)
            made["state"].update(state["state"])
            made["param_groups"] += state["param_groups"]
    if submodules is not None:
        kept = Names(model).within(dict.fromkeys(made["state"]), submodules, True)
        made["state"] = {name: value for name, value in made["state"].items() if name in kept}
        made["param_groups"] = [
            {**group, "params": [name for name in group["params"] if name in kept]} for group in made["param_groups"]
        ]
    made["state"] = whole(made["state"], chosen.full_state_dict, chosen.cpu_offload)
    if chosen.full_state_dict and chosen.cpu_offload and not made["state"]:
        return {}
    return optimizer_state.flattened(made) if chosen.flatten_optimizer_state_dict else made


def get_state_dict(
    model: nn.Module, optimizers: Optimizers, *, submodules: set[nn.Module] | None = None,
    options: StateDictOptions | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """`get_model_state_dict` and `get_optimizer_state_dict`."""
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options),
    )


def set_model_state_dict(
    model: nn.Module, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Loads what `get_model_state_dict` gave, by the same options. All processes call this.

    Returns:
        What ``load_state_dict`` returns.
    """
    chosen = (options or StateDictOptions())._checked()
    if chosen.broadcast_from_rank0:
        model_state_dict = from_first(model_state_dict)
    names = Names(model)
    with _kind(model, chosen) as wrapped:
        if wrapped:
            return model.load_state_dict(_renamed(model, model_state_dict, names, {}), strict=chosen.strict)
        own = model.state_dict()
        bare = any(isinstance(one, Tensor) and one.is_meta for one in own.values())  # has no memory to copy into
        return model.load_state_dict(_renamed(model, model_state_dict, names, own), chosen.strict, assign=bare)


def _renamed(model: nn.Module, given: dict[str, Any], names: Names, own: dict[str, Any]) -> dict[str, Any]:
    """A state under the names that ``load_state_dict`` wants, its tensors spread as the model's own."""
    if not own:  # wrappers, which take names without them
        return {names.raw(name): value for name, value in given.items()}
    made: dict[str, Any] = {}
    known = {names.clean(name): name for name in own}
    for name, value in given.items():
        raw = known.get(name, name)
        made[raw] = spread_like(value, own[raw]) if raw in own and isinstance(value, Tensor) else value
    return made


def set_optimizer_state_dict(
    model: nn.Module, optimizers: Optimizers, optim_state_dict: dict[str, Any], *,
    options: StateDictOptions | None = None,
) -> None:  # fmt: skip
    """Loads what `get_optimizer_state_dict` gave, by the same options. All processes call this."""
    chosen = (options or StateDictOptions())._checked()
    if chosen.broadcast_from_rank0:
        optim_state_dict = from_first(optim_state_dict)
    with _kind(model, chosen) as wrapped:
        for one in _listed(optimizers):
            optimizer_state.fill(one)
            names = Names(model)
            if "state" not in optim_state_dict or "param_groups" not in optim_state_dict:
                given = optimizer_state.nested(names, model, one, optim_state_dict)
            else:
                given = optimizer_state.own_part(names, one, optim_state_dict, model)
            if wrapped:
                made = FullyShardedDataParallel.optim_state_dict_to_load(model, one, given)
            else:
                made = optimizer_state.by_number(names, one, given)
            one.load_state_dict(made)


def set_state_dict(
    model: nn.Module, optimizers: Optimizers, *, model_state_dict: dict[str, Any], optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:  # fmt: skip
    """`set_model_state_dict`, whose result is returned, and `set_optimizer_state_dict`."""
    result = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return result


def _listed(optimizers: Optimizers) -> list[taeda.optim.Optimizer]:
    return [optimizers] if isinstance(optimizers, taeda.optim.Optimizer) else list(optimizers)
