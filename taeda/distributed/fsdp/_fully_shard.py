"""``fully_shard``: a module whose parameters are DTensors cut over the processes, made whole while it runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.distributed._queries import get_world_size
from taeda.distributed.device_mesh import DeviceMesh, init_device_mesh
from taeda.distributed.fsdp._group import Precision, Processes, ShardedGroup
from taeda.distributed.fsdp._layout import RowLayout
from taeda.distributed.fsdp._policies import CPUOffloadPolicy as CPUOffloadPolicy
from taeda.distributed.fsdp._policies import DataParallelMeshDims, MixedPrecisionPolicy, OffloadPolicy
from taeda.distributed.fsdp._unit import Unit, unit_of, units_in
from taeda.distributed.tensor import DTensor, Replicate, Shard
from taeda.distributed.tensor._spec import DTensorSpec, Placements
from taeda.distributed.tensor.placement_types import Placement, _StridedShard

__all__ = [
    "CPUOffloadPolicy", "DataParallelMeshDims", "FSDPModule", "MixedPrecisionPolicy", "OffloadPolicy", "UnshardHandle",
    "fully_shard", "register_fsdp_forward_method", "share_comm_ctx",
]  # fmt: skip


class UnshardHandle:
    """What `FSDPModule.unshard` with ``async_op`` gives."""

    def __init__(self, unit: Unit) -> None:
        self._unit: Unit | None = unit

    def wait(self) -> None:
        """Until the parameters are whole."""
        if self._unit is not None:
            self._unit.unshard()
            self._unit = None


class FSDPModule:
    """What `fully_shard` adds to a module's class."""

    def _unit(self) -> Unit:
        unit = unit_of(self)  # type: ignore[arg-type]
        if unit is None:
            raise ValueError(f"FSDPModule: fully_shard was not applied to this {type(self).__name__}")
        return unit

    _get_fsdp_state = _unit

    def _units(self, recurse: bool) -> list[Unit]:
        return units_in(self) if recurse else [self._unit()]  # type: ignore[arg-type]

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Makes the module's parameters whole; with ``async_op`` when the handle that is given is waited for."""
        unit = self._unit()
        if async_op:
            unit.prefetch()
            return UnshardHandle(unit)
        unit.unshard()
        return None

    def reshard(self) -> None:
        """Leaves this process its part of each parameter."""
        self._unit().reshard()

    def reset_iter_state(self) -> None:
        """Forgets a backward pass that did not come to its end."""
        for unit in self._units(True):
            unit.in_backward = False
            if unit.context is not None:
                unit.context.in_backward = False
                unit.context.order.clear()

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """Accepted: each backward pass waits for its reductions."""

    def set_requires_gradient_sync(self, requires_gradient_sync: bool, *, recurse: bool = True) -> None:
        """Whether backward passes reduce gradients, or only add them up on this process."""
        for unit in self._units(recurse):
            unit.syncs = requires_gradient_sync

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        """Whether gradients are added up over copies of the shards, too (meshes of two dimensions)."""
        for unit in self._units(recurse):
            for group in unit.groups:
                group.all_reduces = requires_all_reduce

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Whether memory is given back between forward and backward pass."""
        for unit in self._units(recurse):
            unit.reshards_after_forward = reshard_after_forward

    def set_reshard_after_backward(self, reshard_after_backward: bool, *, recurse: bool = True) -> None:
        """Whether memory is given back after the backward pass."""
        for unit in self._units(recurse):
            unit.reshards_after_backward = reshard_after_backward

    def set_modules_to_forward_prefetch(self, modules: Iterable[FSDPModule]) -> None:
        """Which modules are gathered while this one computes forward."""
        self._unit().prefetch_forward = [module._unit() for module in modules]

    def set_modules_to_backward_prefetch(self, modules: Iterable[FSDPModule]) -> None:
        """Which modules are gathered while this one computes backward; by default the one that ran before it."""
        self._unit().prefetch_backward = [module._unit() for module in modules]

    def set_all_reduce_hook(self, hook: Callable[[Tensor], None], *, stream: Any = None) -> None:
        """Has ``hook`` change each reduced shard of gradients in place, before the parameters get it."""
        for group in self._unit().groups:
            group.shard_hook = hook

    def set_gradient_divide_factor(self, factor: float) -> None:
        """Divides sums of gradients by ``factor`` instead of the number of processes."""
        for group in self._unit().groups:
            group.divisor = factor

    set_reduce_scatter_divide_factor = set_gradient_divide_factor

    def set_unshard_in_backward(self, unshard_in_backward: bool) -> None:
        """Whether the backward pass gathers parameters; without, they are to be whole already."""
        self._unit().gathers_in_backward = unshard_in_backward

    def set_reduce_scatter_unused_params(self, reduce_scatter_unused_params: bool, *, recurse: bool = True) -> None:
        """Whether parameters that got no gradients take part in the reduction, with zeros."""
        for unit in self._units(recurse):
            unit.reduces_unused = reduce_scatter_unused_params

    def _accepted(self, *args: Any, **kwargs: Any) -> None:
        """Accepted: there are no streams, and no memory to register, on CPUs."""

    set_post_optim_event = set_force_sum_reduction_for_comms = set_reduce_scatter_max_input_buffers = _accepted
    set_separate_reduce_scatter_group = set_allocate_memory_from_process_group_for_comm = _accepted
    set_symm_mem_for_comm = _set_unshard_async_op = _accepted

    def _apply(self, *args: Any, **kwargs: Any) -> Any:
        self.reshard()
        made = super()._apply(*args, **kwargs)  # type: ignore[misc]
        self._unit().adopt()
        return made


_EXACT, _STAYS = MixedPrecisionPolicy(), OffloadPolicy()
_classes: dict[type, type] = {}


def _sharded_class(kind: type) -> type:
    if kind not in _classes:
        _classes[kind] = type(f"FSDP{kind.__name__}", (FSDPModule, kind), {"__module__": kind.__module__})
    return _classes[kind]


class _DTensorGroup(ShardedGroup):
    """A group whose shards are seen as DTensors."""

    def place(self, mesh: DeviceMesh, dims: list[int], names: list[str]) -> None:
        """Makes the DTensors, on ``mesh``, whose dimensions are copies, if any, and parts."""
        self.mesh, self.names = mesh, names
        ndim = mesh.ndim
        self.specs: list[DTensorSpec] = []
        for at, shape in enumerate(self.layout.shapes):
            outer: Any = self.outer[at]
            placed: list[Placement] = [Replicate()] * (ndim - 1) + [Shard(dims[at])]
            if outer is None:
                self.specs.append(DTensorSpec(mesh, tuple(placed), tuple(shape)))
                continue
            self.specs.append(_joined_spec(mesh, placed, outer, dims[at]))
        self.sharded = [
            nn.Parameter(DTensor(view, spec, requires_grad=False), trained)
            for view, spec, trained in zip(self._local_views(self.shard), self.specs, self.trained, strict=True)
        ]
        self._show(self.sharded)

    def _local_views(self, shard: Tensor) -> list[Tensor]:
        assert isinstance(self.layout, RowLayout)
        return [self.layout.local(at, shard, self.processes.rank) for at in range(len(self.places))]

    def views(self, shard: Tensor) -> list[Any]:
        return [DTensor._made(view, spec) for view, spec in zip(self._local_views(shard), self.specs, strict=True)]

    def adopt(self) -> None:
        """Takes over parameters that someone put into the modules, or whose memory was replaced."""
        views = self._local_views(self.shard)
        if all(
            places[0][0]._parameters.get(places[0][1]) is own and own._local_tensor.data_ptr() == view.data_ptr()
            and own._local_tensor.device == view.device
            for places, own, view in zip(self.places, self.sharded, views, strict=True)
        ):  # fmt: skip
            return
        current: list[Any] = []
        for (module, name), *_ in self.places:
            one = module._parameters.get(name)
            if not isinstance(one, DTensor):
                raise RuntimeError(f"fully_shard: {name} of {type(module).__name__} was replaced by what is no DTensor")
            current.append(one)
        local = [one._local_tensor for one in current]
        if local[0].device.type == "meta":
            return
        if local[0].dtype != self.dtype or local[0].device != self.device:
            self.dtype, self.device = local[0].dtype, local[0].device
            self.shard = taeda.zeros(self.layout.shard, dtype=self.dtype, device=self.device)
            self._make_leaves()
            views = self._local_views(self.shard)
        with taeda.no_grad():
            for view, value, one in zip(views, local, current, strict=True):
                if value.data_ptr() != view.data_ptr():
                    view.copy_(value)
                one._local_tensor = view
        self.sharded = current
        for parameter, places in zip(current, self.places, strict=True):
            for module, name in places:
                module._parameters[name] = parameter


def _joined_spec(mesh: DeviceMesh, placed: list[Placement], outer: DTensorSpec, dim: int) -> DTensorSpec:
    """The spec of a DTensor of ``outer`` whose parts are cut once more, over ``mesh``."""
    root = mesh._get_root_mesh()
    names = (*(mesh.mesh_dim_names or ()), *(outer.mesh.mesh_dim_names or ()))
    if len(names) != mesh.ndim + outer.mesh.ndim or outer.mesh._get_root_mesh() != root:
        raise ValueError(
            f"fully_shard: a parameter lies on {outer.mesh}; it and {mesh} are wanted as named parts of one mesh"
        )
    cuts = 1
    for at, one in enumerate(outer.placements):
        if one.is_shard(dim):
            cuts *= outer.mesh.size(at)
    placements: Placements = (
        *(_StridedShard(dim, split_factor=cuts) if one.is_shard() and cuts > 1 else one for one in placed),
        *outer.placements,
    )
    return DTensorSpec(root if root.mesh_dim_names == names else root[names], placements, outer.shape)


class _FullyShardUnit(Unit):
    def adopt(self) -> None:
        for group in self.groups:
            assert isinstance(group, _DTensorGroup)
            group.adopt()


def fully_shard(
    module: Any,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Callable[[nn.Parameter], Any] | None = None,
    mp_policy: MixedPrecisionPolicy = _EXACT,
    offload_policy: OffloadPolicy = _STAYS,
    ignored_params: set[nn.Parameter] | None = None,
    dp_mesh_dims: DataParallelMeshDims | None = None,
) -> Any:
    """Cuts the parameters of ``module``, but for those in modules to which it was applied before, over the processes.

    Each becomes a DTensor, which the optimiser is to be made of. Where the module runs, its parameters are whole for
    as long as they are needed; gradients become the mean over the processes, cut likewise.

    Args:
        module: a module, or a list of modules that run one after the other and are gathered together.
        mesh: one dimension; or two, of which the first has copies; all processes by default.
        reshard_after_forward: whether memory is given back between forward and backward pass; None: unless it is
            the outermost module. A number other than that of the processes is taken as True.
        shard_placement_fn: `Shard` of the dimension along which a parameter is cut, or None for the first.
        mp_policy, offload_policy: see there.
        ignored_params: what is left whole.
        dp_mesh_dims: which dimensions of ``mesh`` have parts and copies, by name.

    Raises:
        ValueError: a container without forward, or a mesh of more dimensions.
    """
    modules = list(module) if isinstance(module, (list, tuple)) else [module]
    for one in modules:
        if isinstance(one, (nn.ModuleList, nn.ModuleDict)):
            raise ValueError(f"fully_shard: a {type(one).__name__} has no forward; apply it to what is in it")
        if unit_of(one) is not None:
            raise AssertionError(f"fully_shard: was applied to this {type(one).__name__} already")
    mesh, processes = _processes(mesh, dp_mesh_dims)
    precision = Precision(mp_policy.param_dtype, mp_policy.reduce_dtype, mp_policy.output_dtype,
                          mp_policy.cast_forward_inputs)  # fmt: skip
    groups: list[ShardedGroup] = []
    for parameters in _managed(modules, ignored_params or set()):
        owned = list(parameters)
        dims = [_cut_along(one, shard_placement_fn, processes.ranks) for one in owned]
        group = _DTensorGroup(owned, [parameters[one] for one in owned], processes, precision, RowLayout, dims)
        group.place(mesh, dims, list(mesh.mesh_dim_names or ()))
        groups.append(group)
    reshards = None if reshard_after_forward is None else bool(reshard_after_forward)
    unit = _FullyShardUnit(modules[0], groups, precision, reshards)
    unit.casts_root_inputs = False
    for one in modules:
        one.__class__ = _sharded_class(type(one))
    _hook(modules, unit)
    return module


def _processes(mesh: DeviceMesh | None, names: DataParallelMeshDims | None) -> tuple[DeviceMesh, Processes]:
    if mesh is None:
        mesh = init_device_mesh("cpu", (get_world_size(),)) if _has_group() else init_device_mesh("cpu", (1,))
    if names is not None:
        parts = [
            mesh[one] if len(one) == 1 else mesh[one]._flatten()
            for one in (names.replicate_names, names.shard_names)
            if one
        ]
        if len(parts) == 2:
            return mesh[(*names.replicate_names, *names.shard_names)], Processes(
                parts[1].get_group(), parts[0].get_group()
            )
        one = parts[0]
        return one, Processes(one.get_group(), None) if names.shard_names else Processes(None, one.get_group())
    if mesh.ndim > 2:
        raise ValueError(f"fully_shard: a mesh of one or two dimensions is wanted; got {mesh}")
    return mesh, Processes(mesh.get_group(mesh.ndim - 1), mesh.get_group(0) if mesh.ndim == 2 else None)


def _has_group() -> bool:
    from taeda.distributed._world import is_initialized

    return is_initialized()


def _cut_along(parameter: nn.Parameter, choose: Callable[[nn.Parameter], Any] | None, ranks: int) -> int:
    chosen = None if choose is None else choose(parameter)
    if chosen is None:
        return 0
    dim = int(chosen.dim) % parameter.dim()
    if dim and parameter.shape[dim] % ranks:
        raise ValueError(f"fully_shard: {chosen} cuts {tuple(parameter.shape)} into {ranks} unequal parts")
    return dim


def _managed(modules: list[nn.Module], ignored: set[nn.Parameter]) -> list[dict[nn.Parameter, list[Any]]]:
    """The parameters that no unit has yet, with their places, in groups of one dtype that are trained alike."""
    found: dict[Any, dict[nn.Parameter, list[Any]]] = {}
    taken = {id(one) for one in ignored}
    for top in modules:
        for part in _outside_units(top):
            for name, parameter in part._parameters.items():
                if parameter is None or id(parameter) in taken:
                    continue
                if parameter.dim() == 0:
                    raise ValueError(f"fully_shard: {name} has no dimension to cut; make it a tensor of one element")
                kind = parameter.dtype, parameter.device, parameter.requires_grad
                found.setdefault(kind, {}).setdefault(parameter, []).append((part, name))
    return list(found.values())


def _outside_units(module: nn.Module, seen: set[int] | None = None) -> Iterable[nn.Module]:
    seen = set() if seen is None else seen
    if id(module) in seen:
        return
    seen.add(id(module))
    yield module
    for child in module.children():
        if unit_of(child) is None:
            yield from _outside_units(child, seen)


def _hook(modules: list[nn.Module], unit: Unit) -> None:
    left: set[int] = set()

    def before(module: nn.Module, args: Any, kwargs: Any) -> Any:
        if not left:
            left.update(id(one) for one in modules)
        args, kwargs = unit.before_forward(args, kwargs)
        return args, kwargs

    def after(module: nn.Module, args: Any, output: Any) -> Any:
        left.discard(id(module))
        return output if left else unit.after_forward(output)

    for one in modules:
        one.register_forward_pre_hook(before, prepend=True, with_kwargs=True)
        one.register_forward_hook(after)
        one.register_state_dict_pre_hook(lambda *_: unit.reshard())
        one._register_load_state_dict_pre_hook(lambda *_: unit.reshard())


def register_fsdp_forward_method(module: nn.Module, method_name: str) -> None:
    """Has a method of ``module`` gather its parameters as ``forward`` does; nothing if it has no `fully_shard`.

    Raises:
        ValueError: there is no such method.
    """
    method = getattr(module, method_name, None)
    if method is None:
        raise ValueError(f"register_fsdp_forward_method: {type(module).__name__} has no {method_name}")
    unit = unit_of(module)
    if unit is None:
        return

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = unit.before_forward(args, kwargs)
        return unit.after_forward(method(*args, **kwargs))

    setattr(module, method_name, call)


def share_comm_ctx(modules: list[FSDPModule]) -> None:
    """Accepted: what modules share is one engine in any case."""
