"""What `FullyShardedDataParallel` does when it is made: whom it asks, what it takes, what it wraps inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.distributed._new_group import new_subgroups
from taeda.distributed._queries import _get_default_group, get_world_size
from taeda.distributed._replicas import broadcast_coalesced
from taeda.distributed.fsdp._group import Processes
from taeda.distributed.fsdp._unit import unit_of
from taeda.distributed.fsdp.api import ShardingStrategy
from taeda.distributed.fsdp.wrap import ModuleWrapPolicy, _Policy, wrap_children

_HYBRID = (ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2)
_NAME = "FullyShardedDataParallel"


def processes_for(group: Any, mesh: Any, strategy: ShardingStrategy) -> tuple[Processes, Any]:
    """Over whom parameters are cut and copied, and the group of those that cut."""
    if group is not None and mesh is not None:
        raise ValueError(f"{_NAME}: process_group or device_mesh is wanted, not both")
    if strategy in _HYBRID:
        pair = _hybrid(group, mesh)
        return Processes(*pair), pair[0]
    if isinstance(group, tuple):
        raise ValueError(f"{_NAME}: two process groups are for hybrid strategies; got {strategy}")
    one = mesh.get_group() if mesh is not None else _get_default_group() if group is None else group
    if strategy is ShardingStrategy.NO_SHARD or one.size() == 1:
        return Processes(None, one if one.size() > 1 else None), one
    return Processes(one, None), one


def _hybrid(group: Any, mesh: Any) -> tuple[Any, Any]:
    if mesh is not None:
        if mesh.ndim != 2:
            raise ValueError(f"{_NAME}: a hybrid strategy wants a mesh of two dimensions; got {mesh}")
        return mesh.get_group(1), mesh.get_group(0)
    if isinstance(group, tuple):
        if len(group) != 2:
            raise ValueError(f"{_NAME}: a hybrid strategy wants two process groups; got {len(group)}")
        return group[0], group[1]
    if group is not None:
        raise ValueError(f"{_NAME}: a hybrid strategy wants two process groups, or a mesh of two dimensions")
    import os

    local = int(os.environ.get("LOCAL_WORLD_SIZE", get_world_size()))
    if local == get_world_size():
        return _get_default_group(), None
    within, _ = new_subgroups(local)
    across = [list(range(first, get_world_size(), local)) for first in range(local)]
    from taeda.distributed._new_group import new_subgroups_by_enumeration

    return within, new_subgroups_by_enumeration(across)[0]


def ignored_in(
    module: nn.Module, modules: Iterable[nn.Module] | None, states: Any
) -> tuple[set[nn.Module], set[nn.Parameter]]:
    """The modules and the parameters to leave alone."""
    if modules is not None and states is not None:
        raise ValueError(f"{_NAME}: ignored_modules or ignored_states is wanted, not both")
    given = list(states if modules is None else modules) if modules is not None or states is not None else []
    if any(not isinstance(one, (nn.Module, nn.Parameter)) for one in given):
        raise TypeError(f"{_NAME}: modules or parameters to ignore are wanted; got {given}")
    tops = [one for one in given if isinstance(one, nn.Module)]
    ignored = {part for one in tops for part in one.modules()}
    left = {one for one in given if isinstance(one, nn.Parameter)} | {p for one in tops for p in one.parameters()}
    return ignored, left


def auto_wrap(
    module: nn.Module, policy: Any, make: Callable[..., nn.Module], given: dict[str, Any], ignored: set[nn.Module],
    left: set[nn.Parameter],
) -> None:  # fmt: skip
    """Wraps submodules; those that are not to have another precision get wrappers without."""
    mixed = given["mixed_precision"]
    exact = tuple(mixed._module_classes_to_ignore) if mixed is not None and mixed.param_dtype is not None else ()
    if exact and any(isinstance(one, exact) for one in module.modules()):
        own = {**given, "mixed_precision": None}
        wrap_children(module, ModuleWrapPolicy(exact), make, own, ignored, left)
        for one in module.modules():
            if isinstance(one, make) and isinstance(one.module, exact):  # type: ignore[arg-type]
                one._unit.is_exact = True  # type: ignore[union-attr]
                ignored = ignored | {one} | set(one.modules())
    if not isinstance(policy, _Policy) and not callable(policy):
        raise TypeError(f"{_NAME}: auto_wrap_policy is wanted as a function or a policy; got {policy!r}")
    wrap_children(module, policy, make, given, ignored, left)


def materialise(
    module: nn.Module, fill: Callable[[nn.Module], None] | None, device: Any, left: set[nn.Parameter]
) -> None:
    """Gives memory and values to what is on the meta device."""
    for part in _managed(module):
        own = [*part.parameters(recurse=False), *part.buffers(recurse=False)]
        if not any(one.device.type == "meta" for one in own):
            continue
        if fill is not None:
            fill(part)
            continue
        part.to_empty(device="cpu" if device is None else device, recurse=False)
        reset = getattr(part, "reset_parameters", None)
        if reset is None:
            raise ValueError(
                f"{_NAME}: {type(part).__name__} on the meta device has no reset_parameters; give param_init_fn"
            )
        with taeda.no_grad():
            reset()


def sync_states(module: nn.Module, group: Any, left: set[nn.Parameter]) -> None:
    """Parameters and buffers become those of the first process."""
    tensors: list[Tensor] = []
    for part in _managed(module):
        tensors += [one.detach() for one in part.parameters(recurse=False) if one not in left]
        tensors += list(part.buffers(recurse=False))
    broadcast_coalesced(group, tensors)


def _managed(module: nn.Module) -> Iterator[nn.Module]:
    """The modules inside, but those in wrappers."""
    seen: set[int] = set()

    def walk(one: nn.Module) -> Iterator[nn.Module]:
        if id(one) in seen or unit_of(one) is not None:
            return
        seen.add(id(one))
        yield one
        for child in one.children():
            yield from walk(child)

    return walk(module)


def cast_buffers(module: nn.Module, dtype: taeda.dtype | None) -> dict[str, taeda.dtype]:
    """Gives buffers of floating-point numbers another dtype; the dtypes that they had, by name."""
    before: dict[str, taeda.dtype] = {}
    if dtype is None:
        return before
    mine = {id(one) for one in _managed(module)}
    for path, part in module.named_modules():
        for name, one in part._buffers.items() if id(part) in mine else ():
            if one is not None and one.is_floating_point():
                before[f"{path}.{name}" if path else name] = one.dtype
                part._buffers[name] = one.to(dtype)
    return before


def groups_of(module: nn.Module, left: set[nn.Parameter], apart: bool) -> list[dict[nn.Parameter, list[Any]]]:
    """The parameters with their places, flat together; trained and frozen ones apart if they keep their names."""
    found: dict[Any, dict[nn.Parameter, list[Any]]] = {}
    kinds: dict[str, set[Any]] = {"dtype": set(), "requires_grad": set()}
    ignored = {id(one) for one in left}
    for part in _managed(module):
        for name, one in part._parameters.items():
            if one is None or id(one) in ignored:
                continue
            kinds["dtype"].add(one.dtype)
            kinds["requires_grad"].add(one.requires_grad)
            found.setdefault(one.requires_grad, {}).setdefault(one, []).append((part, name))
    if len(kinds["dtype"]) > 1:
        raise ValueError(f"{_NAME}: parameters of one dtype are wanted; got {kinds['dtype']}; wrap some apart")
    if not apart and len(found) > 1:
        raise ValueError(
            f"{_NAME}: some parameters require a gradient and some do not; set use_orig_params=True, or wrap them apart"
        )
    return list(found.values())
