"""``DistributedDataParallel``: the same module on several processes, whose gradients are averaged."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import taeda
import taeda.distributed as dist
from taeda import Tensor
from taeda.distributed._queries import _get_default_group, _rank_not_in_group
from taeda.distributed._reducer import FIRST_BUCKET_BYTES, BuiltinCommHookType, Reducer
from taeda.distributed._replicas import broadcast_coalesced, check_same
from taeda.distributed.algorithms.join import Join, Joinable, JoinHook
from taeda.futures import Future
from taeda.nn.modules.linear import Linear
from taeda.nn.modules.module import Module
from taeda.nn.modules.sparse import Embedding, EmbeddingBag
from taeda.nn.parallel._joined import JoinedProcess
from taeda.nn.parallel._logging import Logger
from taeda.nn.parallel._mixed import _MixedPrecision, reduce_last
from taeda.nn.parameter import is_lazy

__all__ = ["DistributedDataParallel"]

_NAME = "taeda.nn.parallel.DistributedDataParallel"


class DistributedDataParallel(Module, Joinable):
    """Runs ``module`` on this process's batch; the gradients of a backward pass become their mean over the processes.

    Args:
        device_ids, output_device: None, or an empty list, for a module on the CPU.
        dim: kept as an attribute.
        broadcast_buffers, forward_sync_buffers: before each forward pass the buffers become those of rank 0.
        init_sync: parameters and buffers become those of rank 0 now.
        process_group: whose processes; all by default.
        bucket_cap_mb: how many MiB of gradients are reduced at a time; 25 by default.
        find_unused_parameters: do not wait for gradients of parameters that a forward pass did without.
        gradient_as_bucket_view: gradients are views of what is sent, which saves their memory and two copies.
        static_graph: the same parameters are used in every iteration.
        delay_all_reduce_named_params, param_to_hook_all_reduce: names and parameters whose gradients are reduced
            together, at the end of a backward pass that gives that other parameter a gradient.
        mixed_precision: the module computes in one dtype, and keeps its parameters in another.
        device_mesh: a mesh of one dimension, in place of a group. Where it is part of a larger mesh, parameters that
            are DTensors over the rest of that are taken for their parts.
        skip_all_reduce_unused_params, batched_grad_copy: accepted; results are the same.
        bucket_cap_mb_list: the sizes of the first buckets, in MiB; the last one counts for those that follow.

    Raises:
        ValueError: no process group; devices given for a module on the CPU, or parameters of several kinds of device;
            this process is not in the group.
        RuntimeError: no parameter requires a gradient, one is uninitialised, or the processes' shapes differ; a group
            and a mesh, or a mesh of several dimensions; parameters to delay without one to wait for.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: list[tuple[str, Tensor]] | None = None,
        param_to_hook_all_reduce: Tensor | None = None,
        mixed_precision: _MixedPrecision | None = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: list[int] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        super().__init__()
        Joinable.__init__(self)
        self.device_mesh = device_mesh
        self.process_group = _group_of(process_group, device_mesh)
        self._check_group()
        if device_mesh is not None and device_mesh._root is not None:
            from taeda.distributed.tensor.parallel.ddp import _pre_dp_module_transform

            _pre_dp_module_transform(module)
        self._left_alone = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        self.parameters_to_ignore = set(self._left_alone)
        self.device_type = _device_type(module, self.parameters_to_ignore)
        _check_devices(device_ids, self.device_type)
        delayed = delay_all_reduce_named_params or []
        if delayed and param_to_hook_all_reduce is None:
            raise RuntimeError(f"{_NAME}: delay_all_reduce_named_params needs param_to_hook_all_reduce; got None")
        self.device_ids = None
        self.output_device = None
        self.module = module
        self.dim = dim
        self.device = next(parameter for parameter in module.parameters() if parameter.requires_grad).device
        self.broadcast_buffers = broadcast_buffers is None or broadcast_buffers
        self.forward_sync_buffers = self.broadcast_buffers if forward_sync_buffers is None else forward_sync_buffers
        self.find_unused_parameters = find_unused_parameters
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.bucket_bytes_cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * 1024 * 1024)
        self.bucket_bytes_cap_default = bucket_cap_mb is None
        self._bucket_caps = [int(one * 1024 * 1024) for one in bucket_cap_mb_list or ()]
        self._comm_hook: tuple[Any, Callable[..., Any]] | None = None
        self._divide_by_initial_world_size = True
        if init_sync:
            self._sync_with_first()
        self.mixed_precision = mixed_precision
        self.parameters_to_ignore |= {name for name, _ in delayed}
        self._make_reducer()
        if delayed:
            assert param_to_hook_all_reduce is not None
            reduce_last(self, [parameter for _, parameter in delayed], param_to_hook_all_reduce)

    def _check_group(self) -> None:
        if _rank_not_in_group(self.process_group):
            raise ValueError(f"{_NAME}: this process is not in the group")

    def _watched(self) -> list[Tensor]:
        """The parameters whose gradients are reduced."""
        given = self.module.named_parameters()
        return [p for name, p in given if p.requires_grad and name not in self.parameters_to_ignore]

    def _buffers_to_sync(self) -> list[Tensor]:
        return [one for name, one in self.module.named_buffers() if name not in self.parameters_to_ignore]

    def _sync_with_first(self) -> None:
        """Parameters and buffers become those of the first process, which are to have the same shapes."""
        if self.process_group.size() == 1 and not self.process_group.made_by_hand:
            return
        given = dict(self.module.named_parameters())
        shapes = {name: (tuple(p.shape), str(p.dtype)) for name, p in given.items()
                  if name not in self.parameters_to_ignore}  # fmt: skip
        if not self.process_group.made_by_hand:
            check_same("parameters", shapes, self.process_group)
        states = [p.detach() for name, p in given.items() if name in shapes]
        broadcast_coalesced(self.process_group, states + self._buffers_to_sync())

    def _with_sparse_gradients(self) -> list[Tensor]:
        return [
            module.weight
            for module in self.module.modules()
            if isinstance(module, (Embedding, EmbeddingBag)) and module.sparse
        ]

    def _make_reducer(self) -> None:
        limits = [*([FIRST_BUCKET_BYTES] if self.bucket_bytes_cap_default else []), self.bucket_bytes_cap]
        self.reducer = Reducer(
            self._watched(), self._bucket_caps or limits, self.find_unused_parameters, self.static_graph,
            self.process_group, self.gradient_as_bucket_view, self._with_sparse_gradients(),
            {one.weight: one.bias for one in self.module.modules() if isinstance(one, Linear) and one.bias is not None},
        )  # fmt: skip
        self.logger = Logger(self)
        if self._comm_hook is not None:
            self._use_hook(*self._comm_hook)
        elif (mixed := self.mixed_precision) is not None and (mixed.reduce_dtype or mixed.param_dtype) is not None:
            self.reducer.hook = lambda bucket: mixed.reduce(self.process_group, bucket)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("process_group", "reducer", "logger")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = _get_default_group()
        super().__setstate__(state)
        self._make_reducer()

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's own result."""
        self._before_forward()
        if self.mixed_precision is None:
            output = self.module(*inputs, **kwargs)
        else:
            output = self.mixed_precision.call(self.module, self._left_alone, inputs, kwargs)
        self._behind_forward(output)
        return output

    def _before_forward(self) -> None:
        if taeda.is_grad_enabled() and self.require_backward_grad_sync:
            self.logger.set_runtime_stats_and_log()
            self.reducer.begin()
            self._tell_others()
        if self.will_sync_module_buffers():
            broadcast_coalesced(self.process_group, self._buffers_to_sync())

    def _behind_forward(self, output: Any) -> None:
        waits = taeda.is_grad_enabled() and self.require_backward_grad_sync
        if waits:
            self.reducer.prepare(tensors_in(output) if self.find_unused_parameters else ())
        self.require_forward_param_sync = waits

    def _tell_others(self) -> None:
        """Within `join`: that this process goes on, and whether it also syncs its buffers."""
        context = self._joined_in
        work = Join.notify_join_context(self)
        self.reducer.present = None
        if context is None or work is None:
            return
        work.wait()
        if not self._divide_by_initial_world_size:
            count = int(context.present)
            self.reducer.present = lambda: count

    def will_sync_module_buffers(self) -> bool:
        """Whether the next forward pass begins with the buffers of the first process."""
        return bool(
            self.require_forward_param_sync
            and self.forward_sync_buffers
            and self.process_group.size() > 1
            and self._buffers_to_sync()
        )

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Backward passes of forward passes in here only add up gradients on this process."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state: object, hook: Callable[..., Any]) -> None:
        """Has ``hook(state, bucket)`` reduce each `GradBucket`, in place of the mean over the processes.

        It returns a future of the tensor that replaces the bucket's buffer.

        Raises:
            TypeError: ``hook`` is no function.
            ValueError: its annotations are others.
            RuntimeError: there is a hook already.
        """
        _check_hook(hook)
        if self._comm_hook is not None:
            raise RuntimeError(f"{_NAME}.register_comm_hook: there is one already")
        self._comm_hook = state, hook
        self._use_hook(state, hook)

    def _register_builtin_comm_hook(self, comm_hook_type: BuiltinCommHookType) -> None:
        """`register_comm_hook` of one of the hooks that have a name."""
        from taeda.distributed.algorithms.ddp_comm_hooks import default_hooks

        names = {
            BuiltinCommHookType.ALLREDUCE: default_hooks.allreduce_hook,
            BuiltinCommHookType.FP16_COMPRESS: default_hooks.fp16_compress_hook,
        }
        self.register_comm_hook(self.process_group, names[comm_hook_type])
        self.logger._set_comm_hook_name(str(comm_hook_type))

    def _use_hook(self, state: object, hook: Callable[..., Any]) -> None:
        self.reducer.hook = lambda bucket: hook(state, bucket)
        self.logger._set_comm_hook_name(getattr(hook, "__qualname__", type(hook).__name__))

    def _set_static_graph(self) -> None:
        """``static_graph=True``, said later, but before the first iteration; else RuntimeError."""
        if self.reducer.iterations:
            message = (
                f"{_NAME}._set_static_graph: said after {self.reducer.iterations} iterations; say it before the first"
            )
            self.logger.set_error_and_log(message)
            raise RuntimeError(message)
        self.static_graph = self.reducer.static = True
        self.logger._set_static_graph()

    def _set_ddp_runtime_logging_sample_rate(self, sample_rate: int) -> None:
        """Behind the first ten, one of ``sample_rate`` iterations is noted for `_get_ddp_logging_data`, not all.

        Raises:
            ValueError: it is below 1.
        """
        if sample_rate < 1:
            raise ValueError(f"{_NAME}: a sample rate of 1 or more is wanted; got {sample_rate}")
        self.logger.every = sample_rate

    def _get_ddp_logging_data(self) -> dict[str, str | int]:
        """How this was made, and how the last iterations went."""
        data = self.logger._get_ddp_logging_data()
        return {**data.strs_map, **data.ints_map}

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Module, params_and_buffers_to_ignore: Any) -> None:
        """Names of what the wrapper of ``module`` is to leave alone."""
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Join:
        """A context for processes with different numbers of batches.

        Args:
            divide_by_initial_world_size: the mean of gradients is over all processes; else over those that go on.
            enable, throw_on_early_termination: see `Join`.
        """
        self.logger._set_uneven_input_join()
        given = {"divide_by_initial_world_size": divide_by_initial_world_size}
        return Join([self], enable, throw_on_early_termination, **given)

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What this process does while others go on: it adds zeros to their gradients."""
        self._divide_by_initial_world_size = kwargs.get("divide_by_initial_world_size", True)
        return JoinedProcess(self)

    @property
    def join_device(self) -> Any:
        return self.device

    @property
    def join_process_group(self) -> Any:
        return self.process_group


def _group_of(process_group: Any, mesh: Any) -> Any:
    """The group whose processes have copies."""
    if mesh is None:
        return _get_default_group() if process_group is None else process_group
    if process_group is not None or mesh.ndim != 1:
        raise RuntimeError(
            f"{_NAME}: process_group or a device_mesh of one dimension is wanted; got {process_group} and {mesh}"
        )
    return mesh.get_group()


def _device_type(module: Module, ignored: set[str]) -> str:
    """The one kind of device that the parameters are on."""
    parameters = [parameter for name, parameter in module.named_parameters() if name not in ignored]
    if not any(parameter.requires_grad for parameter in parameters):
        raise RuntimeError(f"{_NAME}: no parameter of the module requires a gradient")
    if any(is_lazy(parameter) for parameter in parameters):
        raise RuntimeError(f"{_NAME}: a parameter is not initialised; run the module once first")
    kinds = {parameter.device.type for parameter in parameters}
    if len(kinds) > 1:
        raise ValueError(f"{_NAME}: parameters are wanted on one kind of device; got {sorted(kinds)}")
    return kinds.pop()


def _check_devices(device_ids: Any, device_type: str) -> None:
    if not device_ids:
        return
    if len(device_ids) > 1:
        raise ValueError(f"{_NAME}: device_ids is wanted as None or one device; got {device_ids}")
    if device_type == "cpu":
        raise ValueError(f"{_NAME}: a module on the CPU has no device_ids; got {device_ids}")


def _check_hook(hook: Any) -> None:
    if not callable(hook):
        raise TypeError(f"{_NAME}.register_comm_hook: a function is wanted; got {type(hook).__name__}")
    signature = inspect.signature(hook)
    signature.bind(None, None)  # a TypeError, unless it takes a state and a bucket
    bucket = [parameter.annotation for parameter in signature.parameters.values()][1:2] or [inspect._empty]
    if bucket[0] not in (inspect._empty, dist.GradBucket) and not isinstance(bucket[0], str):
        raise ValueError(f"{_NAME}.register_comm_hook: the bucket is a GradBucket; its annotation is {bucket[0]}")
    result = signature.return_annotation
    if result not in (inspect._empty, Future[Tensor]) and not isinstance(result, str):
        raise ValueError(f"{_NAME}.register_comm_hook: the result is a Future[Tensor]; its annotation is {result}")


def tensors_in(value: Any) -> list[Tensor]:
    """The tensors in nested tuples, lists, dictionaries and dataclasses."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif hasattr(value, "__dataclass_fields__"):
        value = list(vars(value).values())
    return [tensor for part in value for tensor in tensors_in(part)] if isinstance(value, (list, tuple)) else []
