"""``FullyShardedDataParallel``: a wrapper whose module's parameters are whole while it runs, and in shards else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.distributed.fsdp import _optim_states, _state_dicts, _wrapping
from taeda.distributed.fsdp._clipping import clip_grad_norm
from taeda.distributed.fsdp._flat_param import FlatGroup
from taeda.distributed.fsdp._full_params import full_params
from taeda.distributed.fsdp._group import Precision
from taeda.distributed.fsdp._unit import Unit, units_in
from taeda.distributed.fsdp.api import (
    CONFIGS,
    BackwardPrefetch,
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    OptimStateDictConfig,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)

__all__ = [
    "BackwardPrefetch", "CPUOffload", "FullOptimStateDictConfig", "FullStateDictConfig", "FullyShardedDataParallel",
    "LocalOptimStateDictConfig", "LocalStateDictConfig", "MixedPrecision", "OptimStateDictConfig", "OptimStateKeyType",
    "ShardedOptimStateDictConfig", "ShardedStateDictConfig", "ShardingStrategy", "StateDictConfig", "StateDictSettings",
    "StateDictType",
]  # fmt: skip

_WRAPPED = _state_dicts.WRAPPED
_KEEPS_WHOLE = (ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy._HYBRID_SHARD_ZERO2)


class _FlatUnit(Unit):
    def adopt(self) -> None:
        for group in self.groups:
            assert isinstance(group, FlatGroup)
            group.adopt()


class FullyShardedDataParallel(nn.Module):
    """Runs ``module``; its parameters, their gradients and the optimiser's state are cut over the processes.

    The parameters that no wrapper inside has become one flat parameter, of which each process has an equal shard. It
    is gathered before the module's forward and backward pass; gradients become the mean over the processes, cut
    likewise. Make the optimiser of the wrapper's parameters.

    Args:
        process_group: whose processes, all by default; for a hybrid strategy the pair of the group that cuts and the
            group of those that have the same shards.
        sharding_strategy: see `ShardingStrategy`; everything by default.
        cpu_offload: accepted; modules are on the CPU.
        auto_wrap_policy: which submodules get a wrapper of their own, see ``wrap``.
        backward_prefetch: None not to gather ahead in backward passes.
        mixed_precision: see `MixedPrecision`.
        ignored_modules, ignored_states: modules, or parameters, that are left whole and alone.
        param_init_fn: fills a module whose parameters are on the meta device; by default ``reset_parameters`` does.
        device_id: the device to move the module to.
        sync_module_states: parameters and buffers become those of rank 0 first.
        forward_prefetch: gather ahead in forward passes, too, in the order of the first.
        limit_all_gathers: accepted.
        use_orig_params: keep the parameters' names, as views of the shard, of which one may be empty.
        device_mesh: in place of ``process_group``, of one dimension or, for a hybrid strategy, two.

    Raises:
        ValueError: parameters of different dtypes, or, without ``use_orig_params``, some that require a gradient and
            some that do not; a process group and a mesh.
    """

    def __init__(
        self,
        module: nn.Module,
        process_group: Any = None,
        sharding_strategy: ShardingStrategy | None = None,
        cpu_offload: CPUOffload | None = None,
        auto_wrap_policy: Any = None,
        backward_prefetch: BackwardPrefetch | None = BackwardPrefetch.BACKWARD_PRE,
        mixed_precision: MixedPrecision | None = None,
        ignored_modules: Iterable[nn.Module] | None = None,
        param_init_fn: Callable[[nn.Module], None] | None = None,
        device_id: Any = None,
        sync_module_states: bool = False,
        forward_prefetch: bool = False,
        limit_all_gathers: bool = True,
        use_orig_params: bool = False,
        ignored_states: Any = None,
        device_mesh: Any = None,
    ) -> None:
        super().__init__()
        self.sharding_strategy = sharding_strategy or ShardingStrategy.FULL_SHARD
        self.mixed_precision = mixed_precision or MixedPrecision()
        self.cpu_offload = cpu_offload or CPUOffload()
        self.backward_prefetch, self.forward_prefetch = backward_prefetch, forward_prefetch
        self._use_orig_params, self._device_mesh = use_orig_params, device_mesh
        self.processes, self.process_group = _wrapping.processes_for(process_group, device_mesh, self.sharding_strategy)
        ignored, left = _wrapping.ignored_in(module, ignored_modules, ignored_states)
        if auto_wrap_policy is not None:
            given = {
                "process_group": process_group, "sharding_strategy": sharding_strategy, "cpu_offload": cpu_offload,
                "backward_prefetch": backward_prefetch, "mixed_precision": mixed_precision,
                "param_init_fn": param_init_fn, "device_id": device_id, "sync_module_states": sync_module_states,
                "forward_prefetch": forward_prefetch, "limit_all_gathers": limit_all_gathers,
                "use_orig_params": use_orig_params, "ignored_states": left or None, "device_mesh": device_mesh,
            }  # fmt: skip
            _wrapping.auto_wrap(module, auto_wrap_policy, FullyShardedDataParallel, given, ignored, left)
        _wrapping.materialise(module, param_init_fn, device_id, left)
        if sync_module_states:
            _wrapping.sync_states(module, self.process_group, left)
        self._fsdp_wrapped_module = module
        self._settings = StateDictSettings(
            StateDictType.FULL_STATE_DICT, FullStateDictConfig(), FullOptimStateDictConfig()
        )
        self._make_unit(left)
        # Saved state has the dtypes that buffers had.
        self._buffer_dtypes = _wrapping.cast_buffers(module, self.mixed_precision.buffer_dtype)
        _state_dicts.register(self)

    def _make_unit(self, left: set[nn.Parameter]) -> None:
        mixed = self.mixed_precision
        precision = Precision(
            mixed.param_dtype, mixed.reduce_dtype, None, mixed.cast_forward_inputs, mixed.keep_low_precision_grads
        )
        groups = []
        for parameters in _wrapping.groups_of(self.module, left, self._use_orig_params):
            places = list(parameters.values())
            groups.append(FlatGroup(list(parameters), places, self.processes, precision, self._fsdp_wrapped_module,
                                    self._use_orig_params, self._device_mesh))  # fmt: skip
        unit = _FlatUnit(self, groups, precision, False if self.sharding_strategy in _KEEPS_WHOLE else None)
        unit.casts_root_inputs = mixed.cast_root_forward_inputs
        unit.prefetches = self.backward_prefetch is not None
        unit.prefetches_forward = self.forward_prefetch
        self._unit = unit

    @property
    def module(self) -> nn.Module:
        """What is wrapped."""
        inner: nn.Module = self._fsdp_wrapped_module
        return getattr(inner, "_checkpoint_wrapped_module", inner)

    @property
    def _has_params(self) -> bool:
        return bool(self._unit.groups)

    @property
    def _flat_param(self) -> Any:
        return self._unit.groups[0].sharded[0] if self._unit.groups else None

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == _WRAPPED:
                raise
            return getattr(super().__getattr__(_WRAPPED), name)

    def __getitem__(self, key: int) -> Any:
        return self._fsdp_wrapped_module[key]  # type: ignore[index]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's own result."""
        args, kwargs = self._unit.before_forward(args, kwargs)
        return self._unit.after_forward(self._fsdp_wrapped_module(*args, **kwargs))

    def check_is_root(self) -> bool:
        """Whether no other wrapper is around this one; known from the first forward pass on."""
        return self._unit.is_root

    @staticmethod
    def fsdp_modules(module: nn.Module, root_only: bool = False) -> list[FullyShardedDataParallel]:
        """The wrappers in ``module``, itself included; with ``root_only`` the outermost."""
        found = [one for one in module.modules() if isinstance(one, FullyShardedDataParallel)]
        if not root_only:
            return found
        inner = {id(below) for one in found for below in one.modules() if below is not one}
        return [one for one in found if id(one) not in inner]

    def apply(self, fn: Callable[[nn.Module], None]) -> FullyShardedDataParallel:
        """`Module.apply` with whole parameters."""
        with full_params(self):
            super().apply(fn)
        return self

    def _apply(self, *args: Any, **kwargs: Any) -> Any:
        self._unit.reshard()
        made = super()._apply(*args, **kwargs)
        self._unit.adopt()
        return made

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, nn.Parameter]]:
        """As `Module`'s; with whole parameters (`summon_full_params`) under the module's own names."""
        for name, one in super().named_parameters(*args, **kwargs):
            yield (_state_dicts.clean(name) if self._use_orig_params or _state_dicts.is_full(self) else name), one

    def named_buffers(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Tensor]]:
        """As `named_parameters`."""
        for name, one in super().named_buffers(*args, **kwargs):
            yield (_state_dicts.clean(name) if _state_dicts.is_full(self) else name), one

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Backward passes in here only add up gradients on this process, whole."""
        units = units_in(self)
        before = [unit.syncs for unit in units]
        for unit in units:
            unit.syncs = False
        try:
            yield
        finally:
            for unit, syncs in zip(units, before, strict=True):
                unit.syncs = syncs

    @taeda.no_grad()
    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Tensor:
        """Scales all gradients so that their norm, over the processes, is at most ``max_norm``; gives the norm before.

        Raises:
            RuntimeError: this is not the outermost wrapper.
        """
        if self._unit.context is not None and not self._unit.is_root:
            raise RuntimeError("FullyShardedDataParallel.clip_grad_norm_: call it of the outermost wrapper")
        return clip_grad_norm(self, float(max_norm), float(norm_type))

    def register_comm_hook(self, state: object, hook: Callable[..., Any]) -> None:
        """Has ``hook(state, gradient)``, in place, or ``hook(state, gradient, shard)``, which fills the shard, reduce
        each unit's flat gradient.

        Raises:
            AssertionError: this is not the outermost wrapper, or there is a hook already.
        """
        for unit in units_in(self):
            for group in unit.groups:
                if group.hook is not None:
                    raise AssertionError("FullyShardedDataParallel.register_comm_hook: there is one already")
                group.hook = lambda *tensors: hook(state, *tensors)

    # ---- whole parameters and state

    @staticmethod
    @contextlib.contextmanager
    def summon_full_params(
        module: nn.Module, recurse: bool = True, writeback: bool = True, rank0_only: bool = False,
        offload_to_cpu: bool = False, with_grads: bool = False,
    ) -> Iterator[None]:  # fmt: skip
        """Within, the parameters of the wrappers in ``module`` are whole.

        Args:
            recurse: also those of wrappers inside of the outermost ones.
            writeback: keep changes.
            rank0_only: the other processes keep seeing their shards.
            offload_to_cpu: accepted.
            with_grads: gradients are whole, too.

        Raises:
            ValueError: ``writeback`` and ``rank0_only``.
            AssertionError: within a forward or backward pass.
        """
        with full_params(module, recurse, writeback, rank0_only, with_grads):
            yield

    @staticmethod
    def set_state_dict_type(
        module: nn.Module, state_dict_type: StateDictType, state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> StateDictSettings:  # fmt: skip
        """What ``state_dict`` of the wrappers in ``module`` gives from now on; returns what it was.

        Raises:
            RuntimeError: configurations of another type.
        """
        model_config, optim_config = CONFIGS[state_dict_type]
        for given, wanted in ((state_dict_config, model_config), (optim_state_dict_config, optim_config)):
            if given is not None and type(given) is not wanted:
                raise RuntimeError(f"set_state_dict_type: {state_dict_type} has a {wanted.__name__}; got {given}")
        new = StateDictSettings(
            state_dict_type, state_dict_config or model_config(), optim_state_dict_config or optim_config()
        )
        wrappers = FullyShardedDataParallel.fsdp_modules(module)
        before = wrappers[0]._settings if wrappers else new
        if state_dict_type is StateDictType.SHARDED_STATE_DICT and wrappers and wrappers[0]._device_mesh is not None:
            new.state_dict_config._use_dtensor = new.optim_state_dict_config._use_dtensor = True  # type: ignore[attr-defined]
        for one in wrappers:
            one._settings = new
        return before

    @staticmethod
    def get_state_dict_type(module: nn.Module) -> StateDictSettings:
        """What ``state_dict`` of the wrappers in ``module`` gives."""
        return _state_dicts.settings_of(module)

    @staticmethod
    @contextlib.contextmanager
    def state_dict_type(
        module: nn.Module, state_dict_type: StateDictType, state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> Iterator[None]:  # fmt: skip
        """`set_state_dict_type` for the time of a ``with`` statement."""
        wrappers = FullyShardedDataParallel.fsdp_modules(module)
        before = [one._settings for one in wrappers]
        FullyShardedDataParallel.set_state_dict_type(
            module, state_dict_type, state_dict_config, optim_state_dict_config
        )
        try:
            yield
        finally:
            for one, settings in zip(wrappers, before, strict=True):
                one._settings = settings

    optim_state_dict = staticmethod(_optim_states.optim_state_dict)
    optim_state_dict_to_load = staticmethod(_optim_states.optim_state_dict_to_load)
    full_optim_state_dict = staticmethod(_optim_states.full_optim_state_dict)
    sharded_optim_state_dict = staticmethod(_optim_states.sharded_optim_state_dict)
    shard_full_optim_state_dict = staticmethod(_optim_states.shard_full_optim_state_dict)
    flatten_sharded_optim_state_dict = staticmethod(_optim_states.flatten_sharded_optim_state_dict)
    scatter_full_optim_state_dict = staticmethod(_optim_states.scatter_full_optim_state_dict)
    rekey_optim_state_dict = staticmethod(_optim_states.rekey_optim_state_dict)
