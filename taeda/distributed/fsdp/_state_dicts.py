"""State dictionaries of wrapped modules, under the names that they have without wrappers."""

from __future__ import annotations

import weakref
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.distributed.fsdp._full_params import hide, show
from taeda.distributed.fsdp._outer import cut_too, is_part, local, part_of, seen, whole
from taeda.distributed.fsdp.api import (
    FullOptimStateDictConfig,
    FullStateDictConfig,
    StateDictSettings,
    StateDictType,
)

WRAPPED = "_fsdp_wrapped_module"
_PREFIXES = (f"{WRAPPED}.", "_checkpoint_wrapped_module.")
_meshes: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def clean(name: str) -> str:
    """A name without those of wrappers."""
    for prefix in _PREFIXES:
        name = name.replace(prefix, "")
    return name


def is_full(module: Any) -> bool:
    """Whether a wrapper's parameters are whole for the moment."""
    unit = vars(module).get("_unit")
    return unit is not None and unit.is_full


def settings_of(model: nn.Module) -> StateDictSettings:
    """What ``state_dict`` of the wrappers in a module gives."""
    found = [one.__dict__["_settings"] for one in model.modules() if "_settings" in one.__dict__]
    if any(one != found[0] for one in found):
        raise AssertionError("get_state_dict_type: the wrappers of the module have different ones")
    if not found:
        return StateDictSettings(StateDictType.FULL_STATE_DICT, FullStateDictConfig(), FullOptimStateDictConfig())
    first: StateDictSettings = found[0]
    return first


def register(module: Any) -> None:
    """Has a wrapper's state be saved and loaded as its settings say."""
    module.register_state_dict_pre_hook(_before_saving)
    module._register_state_dict_hook(_after_saving)
    module._register_load_state_dict_pre_hook(_before_loading, with_module=True)
    module.register_load_state_dict_post_hook(_after_loading)


def _before_saving(module: Any, prefix: str, keep_vars: bool) -> None:
    module._shown = None
    if module._settings.state_dict_type is not StateDictType.LOCAL_STATE_DICT and not is_full(module):
        module._shown = show(module._unit)


def _after_saving(module: Any, state: dict[str, Any], prefix: str, metadata: Any) -> None:
    settings = module._settings
    shown, module._shown = module._shown, None
    own = _own_names(module, prefix)
    if shown is not None:
        hide(module._unit, shown, writeback=False)
    sharded = settings.state_dict_type is StateDictType.SHARDED_STATE_DICT
    dtensors = getattr(settings.state_dict_config, "_use_dtensor", True)
    for name, (group, at) in own.items():
        if name not in state or settings.state_dict_type is StateDictType.LOCAL_STATE_DICT:
            continue
        value = local(state[name].detach())
        state[name] = cut(value, group, at, dtensors) if sharded else full(value, group, at)
    for name, dtype in module._buffer_dtypes.items():
        if (key := f"{prefix}{WRAPPED}.{name}") in state:
            state[key] = state[key].to(dtype)
    config = settings.state_dict_config
    dropped = isinstance(config, FullStateDictConfig) and config.rank0_only and _rank(module) != 0
    before = f"{prefix}{WRAPPED}."
    for name in [name for name in state if name.startswith(before)]:
        value = state.pop(name)
        if not dropped:
            state[prefix + name[len(before) :]] = value


def _rank(module: Any) -> int:
    return int(module.process_group.rank())


def _own_names(module: Any, prefix: str) -> dict[str, tuple[Any, int]]:
    """The names, within the state, of the parameters of this wrapper, with their groups and their places there."""
    found: dict[str, tuple[Any, int]] = {}
    names = {id(one): name for name, one in module.named_modules(remove_duplicate=False)}
    for group in module._unit.groups:
        for at, places in enumerate(group.places):
            for part, name in places:
                path = names[id(part)]
                found[f"{prefix}{path}.{name}" if path else prefix + name] = group, at
    return found


def mesh_of(processes: Any, given: Any = None) -> Any:
    """A mesh of one dimension of a group's processes."""
    from taeda.distributed.device_mesh import DeviceMesh

    if given is not None and given.ndim == 1:
        return given
    if processes not in _meshes:
        _meshes[processes] = DeviceMesh.from_group(processes, "cpu")
    return _meshes[processes]


def full(value: Tensor, group: Any, at: int) -> Tensor:
    """A new tensor, whole along every cut, of what a group has of a parameter when it is gathered."""
    made: Tensor = value.clone() if group.outer[at] is None else whole(seen(value, group.outer[at]))
    return made


def cut(value: Tensor, group: Any, at: int, dtensor: bool = True) -> Any:
    """A DTensor, or a `ShardedTensor`, of a gathered tensor, cut along its first dimension over the processes that
    have shards."""
    from taeda.distributed.tensor import DTensor, Replicate, Shard
    from taeda.distributed.tensor._redistribute import local_of
    from taeda.distributed.tensor._spec import DTensorSpec

    processes = group.processes.shard or group.processes.replicate
    outer, mesh = group.outer[at], group.mesh
    if outer is not None or dtensor and is_part(mesh):
        return cut_too(value, outer, mesh, value.dim() > 0 and group.processes.shard is not None)
    if processes is None or value.dim() == 0:
        return value.clone()
    if not dtensor:
        from taeda.distributed._shard.sharded_tensor.api import rows_of

        return value.clone() if group.processes.shard is None else rows_of(value, group.processes.shard)
    placement: Any = Replicate() if group.processes.shard is None else Shard(0)
    spec = DTensorSpec(mesh_of(processes, mesh), (placement,), tuple(value.shape))
    return DTensor(local_of(value, spec).clone(), spec, requires_grad=False)


def _before_loading(module: Any, state: dict[str, Any], prefix: str, *_: Any) -> None:
    before = f"{prefix}{WRAPPED}."
    for name in [name for name in state if name.startswith(prefix) and not name.startswith(before)]:
        state[before + name[len(prefix) :]] = state.pop(name)
    module._shown = None
    if module._settings.state_dict_type is StateDictType.LOCAL_STATE_DICT or is_full(module):
        return
    for name, (group, at) in _own_names(module, prefix).items():
        if name in state:
            with taeda.no_grad():
                state[name] = seen(part_of(state[name], group.outer[at]), group.outer[at])
    module._shown = show(module._unit)


def _after_loading(module: nn.Module, _: Any) -> None:
    shown, module._shown = module._shown, None  # type: ignore[assignment]
    if shown is not None:
        hide(module._unit, shown)  # type: ignore[arg-type]
