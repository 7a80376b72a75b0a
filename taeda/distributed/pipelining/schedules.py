"""Schedules: in which order stages work on the microbatches of a batch."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal

import taeda
from taeda import Tensor
from taeda.distributed.fsdp import FSDPModule
from taeda.distributed.pipelining import _orders
from taeda.distributed.pipelining._actions import (
    BACKWARD_INPUT,
    BACKWARD_WEIGHT,
    FORWARD,
    FULL_BACKWARD,
    OVERLAP_F_B,
    RECV_B,
    RECV_F,
    REDUCE_GRAD,
    RESHARD,
    SEND_B,
    SEND_F,
    UNSHARD,
    B,
    F,
    I,
    Orders,
    W,
    _Action,
    _ComputationType,
    parts_of,
)
from taeda.distributed.pipelining._lowering import (
    _add_reduce_grad,
    _add_send_recv,
    _add_unshard_reshard,
    _format_pipeline_order,
    _merge_bw,
    _simulate_comms_compute,
    _validate_schedule,
)
from taeda.distributed.pipelining._utils import generate_stage_to_rank_mapping
from taeda.distributed.pipelining.microbatch import merge_chunks, split_args_kwargs_into_chunks
from taeda.distributed.pipelining.stage import _PipelineStageBase
from taeda.utils import _pytree as pytree

__all__ = [
    "get_schedule_class",
    "PipelineScheduleSingle",
    "PipelineScheduleMulti",
    "Schedule1F1B",
    "ScheduleGPipe",
    "ScheduleInterleaved1F1B",
    "ScheduleLoopedBFS",
    "ScheduleInterleavedZeroBubble",
    "ScheduleZBVZeroBubble",
    "ScheduleDualPipeV",
]
_PRIVATE = (  # names that programs look up here
    B, F, I, W, FORWARD, FULL_BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT, OVERLAP_F_B, RECV_B, RECV_F, SEND_B, SEND_F,
    RESHARD, UNSHARD, REDUCE_GRAD, _ComputationType, _add_reduce_grad, _add_unshard_reshard, _format_pipeline_order,
    _merge_bw, _validate_schedule,
)  # fmt: skip
Loss = Callable[..., Tensor]


class _PipelineSchedule(ABC):
    """What runs the stages of this process on a batch."""

    def __init__(
        self, n_microbatches: int, loss_fn: Loss | None = None, args_chunk_spec: Any = None,
        kwargs_chunk_spec: Any = None, output_merge_spec: Any = None, scale_grads: bool = True,
    ) -> None:  # fmt: skip
        self._n_microbatches, self._loss_fn, self.scale_grads = n_microbatches, loss_fn, scale_grads
        self._args_chunk_spec, self._kwargs_chunk_spec = args_chunk_spec, kwargs_chunk_spec
        self._output_merge_spec = output_merge_spec
        self._has_backward = loss_fn is not None
        self._internal_losses: list[Tensor] = []
        self._stages: list[_PipelineStageBase] = []

    @abstractmethod
    def _steps(self) -> list[_Action | None]:
        """What this rank does."""

    # --- a batch

    def step(
        self, *args: Any, target: Any = None, losses: list[Any] | None = None, return_outputs: bool = True,
        loss_kwargs: dict[str, Any] | None = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """Runs a whole batch, forward and backward. The first stage's process gives the arguments, the last stage's
        ``target``; there, ``losses`` is filled with those of the microbatches, and the output returned."""
        if self._has_backward and not taeda.is_grad_enabled():
            raise RuntimeError(
                "taeda.distributed.pipelining: step() takes gradients, which are turned off here; eval() does without"
            )
        return self._run(args, kwargs, target, losses, return_outputs, loss_kwargs or {})

    def eval(self, *args: Any, target: Any = None, losses: list[Any] | None = None, **kwargs: Any) -> Any:
        """Runs a whole batch, forward alone."""
        before, self._has_backward = self._has_backward, False
        try:
            self._tell_stages()
            with taeda.no_grad():
                return self._run(args, kwargs, target, losses, True, {})
        finally:
            self._has_backward = before
            self._tell_stages()

    def _tell_stages(self) -> None:
        for stage in self._stages:
            stage.has_backward = self._has_backward
            module = getattr(stage, "submod", None)
            if self._has_backward and isinstance(module, FSDPModule):
                module.set_is_last_backward(True)

    def _run(self, args: Any, kwargs: Any, target: Any, losses: Any, returns: bool, loss_kwargs: Any) -> Any:
        for stage in self._stages:
            stage.clear_runtime_states()
        arg_mbs, kwarg_mbs = self._split_inputs(args, kwargs)
        target_mbs = None if target is None else self._split_target(target)
        self._step_microbatches(arg_mbs, kwarg_mbs, target_mbs, losses, returns, loss_kwargs)
        last = next((stage for stage in self._stages if stage.is_last), None)
        outputs = last.output_chunks if last is not None and returns else []
        return self._merge_outputs(outputs) if outputs else None

    def _split_inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> tuple[list[Any], list[Any]]:
        if not args and not kwargs:
            return [()] * self._n_microbatches, [{}] * self._n_microbatches
        return split_args_kwargs_into_chunks(
            args, kwargs, self._n_microbatches, self._args_chunk_spec, self._kwargs_chunk_spec
        )

    def _split_target(self, target: Any) -> list[Any]:
        leaves, structure = pytree.tree_flatten(target)
        count = self._n_microbatches
        cut = [one.tensor_split(count) if isinstance(one, Tensor) else [one] * count for one in leaves]
        return [pytree.tree_unflatten([pieces[i] for pieces in cut], structure) for i in range(count)]

    def _merge_outputs(self, output_chunks: list[Any]) -> Any:
        return merge_chunks(output_chunks, self._output_merge_spec)

    # --- its steps

    def _step_microbatches(
        self, arg_mbs: list[Any] | None = None, kwarg_mbs: list[Any] | None = None,
        target_mbs: list[Any] | None = None, losses: list[Any] | None = None, return_outputs: bool = True,
        loss_kwargs: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        count = self._n_microbatches
        given = [[()] * count if arg_mbs is None else arg_mbs, [{}] * count if kwarg_mbs is None else kwarg_mbs]
        for name, values in zip(("args", "kwargs", "target"), (*given, target_mbs)):
            if values is not None and len(values) != count:
                raise ValueError(
                    f"taeda.distributed.pipelining: {name} make {len(values)} microbatches, where {count} are wanted"
                )
        self._internal_losses.clear()
        run = _Run(self, given[0], given[1], target_mbs, return_outputs, loss_kwargs or {})
        for action in self._steps():
            for one in parts_of(action):
                run.act(one)
        run.finish()
        if losses is not None and self._internal_losses:
            losses[:] = self._internal_losses

    def _compute_loss(self, output: Any, target: Any, loss_kwargs: dict[str, Any] | None = None) -> Tensor:
        assert self._loss_fn is not None
        return self._loss_fn(output, target, **(loss_kwargs or {}))


class _Run:
    """The steps of one batch on this process."""

    def __init__(
        self, schedule: _PipelineSchedule, args: list[Any], kwargs: list[Any], targets: list[Any] | None,
        keeps_outputs: bool, loss_kwargs: dict[str, Any],
    ) -> None:  # fmt: skip
        self.schedule, self.args, self.kwargs, self.targets = schedule, args, kwargs, targets
        self.keeps_outputs, self.loss_kwargs = keeps_outputs, loss_kwargs
        self.stages = {stage.stage_index: stage for stage in schedule._stages}
        self.losses: dict[tuple[int, int], Tensor] = {}
        self.left = dict.fromkeys(self.stages, schedule._n_microbatches)
        self.works: list[Any] = []

    def act(self, action: _Action) -> None:
        """Runs a step. Messages go out as soon as they can and come in when they are needed, whatever the order."""
        kind, stage, microbatch = action.computation_type, self.stages[action.stage_index], action.microbatch_index
        if kind is FORWARD:
            assert microbatch is not None
            self._forward(stage, microbatch)
        elif not self.schedule._has_backward or kind in (SEND_F, SEND_B, RECV_F, RECV_B, REDUCE_GRAD):
            return
        elif kind in (UNSHARD, RESHARD):
            if isinstance(stage.submod, FSDPModule):
                stage.submod.unshard() if kind is UNSHARD else stage.submod.reshard()
        else:
            assert microbatch is not None
            self._backward(stage, kind, microbatch)

    def _forward(self, stage: _PipelineStageBase, microbatch: int) -> None:
        output = stage.forward_one_chunk(microbatch, self.args[microbatch], self.kwargs[microbatch], self.keeps_outputs)
        self.works += stage.send_outputs(microbatch)
        if stage.is_last and self.schedule._loss_fn is not None and self.targets is not None:
            loss = self.schedule._compute_loss(output, self.targets[microbatch], self.loss_kwargs)
            self.schedule._internal_losses.append(loss)
            self.losses[stage.stage_index, microbatch] = loss
        if not self.schedule._has_backward:
            stage.fwd_cache.pop(microbatch)

    def _backward(self, stage: _PipelineStageBase, kind: _ComputationType, microbatch: int) -> None:
        if kind is not BACKWARD_INPUT:
            self.left[stage.stage_index] -= 1
        last = self.left[stage.stage_index] == 0
        if kind is BACKWARD_WEIGHT:
            stage.backward_weight_one_chunk(microbatch, last)
        else:
            loss = self.losses.pop((stage.stage_index, microbatch), None)
            if stage.is_last and loss is None:
                raise RuntimeError("taeda.distributed.pipelining: the last stage's process is to give step(target=...)")
            stage.backward_one_chunk(microbatch, loss, kind is FULL_BACKWARD, last)
            self.works += stage.send_grads(microbatch)
        if last and kind is not BACKWARD_INPUT:
            stage.perform_reduce_grad(self.schedule._n_microbatches if self.schedule.scale_grads else 1)

    def finish(self) -> None:
        """Waits for what has been sent."""
        for work, _ in self.works:
            work.wait()


class PipelineScheduleSingle(_PipelineSchedule):
    """A schedule of one stage on each process."""

    def __init__(
        self, stage: _PipelineStageBase, n_microbatches: int, loss_fn: Loss | None = None, args_chunk_spec: Any = None,
        kwargs_chunk_spec: Any = None, output_merge_spec: Any = None, scale_grads: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(n_microbatches, loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, scale_grads)
        self._stage, self._num_stages = stage, stage.num_stages
        self._stages = [stage]
        self._tell_stages()

    def _get_pipeline_order(self) -> Orders | None:
        """The steps of every rank."""
        return None

    def _steps(self) -> list[_Action | None]:
        order = self._get_pipeline_order()
        assert order is not None
        return order[self._stage.stage_index]


class ScheduleGPipe(PipelineScheduleSingle):
    """All forward passes, then all backward passes."""

    def _get_pipeline_order(self) -> Orders | None:
        return _orders.gpipe(self._num_stages, self._n_microbatches)


class Schedule1F1B(PipelineScheduleSingle):
    """One forward and one backward pass in turn, so that fewer microbatches are held."""

    def __init__(self, stage: _PipelineStageBase, n_microbatches: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(stage, n_microbatches, *args, **kwargs)
        if n_microbatches < self._num_stages:
            raise ValueError(
                f"taeda.distributed.pipelining.Schedule1F1B: {n_microbatches} microbatches for {self._num_stages} "
                "stages; there are to be at least as many"
            )

    def _get_pipeline_order(self) -> Orders | None:
        return _orders.one_forward_one_backward(self._num_stages, self._n_microbatches)


class PipelineScheduleMulti(_PipelineSchedule):
    """A schedule of several stages on each process. ``pipeline_order`` holds the steps of every rank."""

    def __init__(
        self, stages: list[Any], n_microbatches: int, loss_fn: Loss | None = None, args_chunk_spec: Any = None,
        kwargs_chunk_spec: Any = None, output_merge_spec: Any = None, use_full_backward: bool | None = None,
        scale_grads: bool = True, backward_requires_autograd: bool = True,
        stage_index_to_group_rank: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(n_microbatches, loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, scale_grads)
        self._stages = list(stages)
        self._num_stages, self.pp_group_size = stages[0].num_stages, stages[0].group_size
        self.rank = stages[0].group_rank
        self._n_local_stages = len(stages)
        self.pipeline_order: Orders = {}
        self.use_full_backward = use_full_backward
        if stage_index_to_group_rank is None:
            stage_index_to_group_rank = self._mapping()
        held = stage_index_to_group_rank
        self.stage_index_to_group_rank: dict[int, int] = dict(held if isinstance(held, dict) else enumerate(held))
        mine = {getattr(stage, "stage_index", None): stage for stage in stages}
        for stage in stages:
            stage.stage_index_to_group_rank = self.stage_index_to_group_rank
            stage.neighbours = mine
        self._tell_stages()

    def _mapping(self) -> dict[int, int]:
        return generate_stage_to_rank_mapping(self.pp_group_size, self._num_stages)

    def _get_pipeline_order(self) -> Orders | None:
        """The steps of every rank."""
        return self.pipeline_order

    def _steps(self) -> list[_Action | None]:
        return self.pipeline_order[self.rank]

    def _validate_and_set_stage_mapping(self, actions: Orders) -> None:
        self.stage_index_to_group_rank = _validate_schedule(
            actions, self.pp_group_size, self._num_stages, self._n_microbatches
        )
        for stage in self._stages:
            stage.stage_index_to_group_rank = self.stage_index_to_group_rank

    def _dump_csv(self, filename: str) -> None:
        """Writes the steps, a line for each rank."""
        _write_csv(filename, self.pipeline_order)

    def _load_csv(self, filename: str, format: str = "compute_only") -> None:
        """Reads steps that `_dump_csv` wrote."""
        self.pipeline_order = _read_csv(filename)
        self._validate_and_set_stage_mapping(self.pipeline_order)


def _write_csv(filename: str, order: Orders) -> None:
    with open(filename, "w", newline="") as file:
        csv.writer(file).writerows([["" if a is None else str(a) for a in order[rank]] for rank in order])


def _read_csv(filename: str) -> Orders:
    with open(filename, newline="") as file:
        return {rank: [_Action.from_str(text) for text in row] for rank, row in enumerate(csv.reader(file))}


class _PipelineScheduleRuntime(PipelineScheduleMulti):
    """A schedule that also knows the steps that move data, in ``pipeline_order_with_comms``."""

    pipeline_order_with_comms: dict[int, list[_Action]]

    def _prepare_schedule_with_comms(
        self, actions: Orders, format: Literal["compute_only", "compute_comms"] = "compute_only"
    ) -> None:
        """Takes over steps: those that calculate, or all."""
        if format == "compute_only":
            self._validate_and_set_stage_mapping(actions)
            self.pipeline_order = actions
            sharded: Orders = {rank: [*_add_unshard_reshard(steps)] for rank, steps in actions.items()}
            self.pipeline_order_with_comms = _add_send_recv(
                sharded, lambda stage: self.stage_index_to_group_rank[stage], self._num_stages
            )
        elif format == "compute_comms":
            kept = {rank: [one for one in steps if one is not None] for rank, steps in actions.items()}
            self.pipeline_order_with_comms = kept
        else:
            raise NotImplementedError(
                f"taeda.distributed.pipelining: format is {format!r}; 'compute_only' and 'compute_comms' are known"
            )

    _load_actions = _prepare_schedule_with_comms

    def _steps(self) -> list[_Action | None]:
        return [*self.pipeline_order_with_comms[self.rank]]

    def _load_csv(self, filename: str, format: Any = "compute_only") -> None:
        self._prepare_schedule_with_comms(_read_csv(filename), format)

    def _dump_csv(self, filename: str, format: Any = "compute_comms") -> None:
        whole: Any = self.pipeline_order_with_comms if format == "compute_comms" else self.pipeline_order
        _write_csv(filename, whole)

    def _simulate(self) -> dict[int, list[_Action | None]]:
        whole: Any = self.pipeline_order_with_comms
        return _simulate_comms_compute(whole, lambda stage: self.stage_index_to_group_rank[stage], self._num_stages)


class _Planned(_PipelineScheduleRuntime):
    """A schedule whose steps follow from its numbers."""

    def __init__(
        self, stages: list[Any], n_microbatches: int, loss_fn: Loss | None = None, args_chunk_spec: Any = None,
        kwargs_chunk_spec: Any = None, output_merge_spec: Any = None, scale_grads: bool = True,
        backward_requires_autograd: bool = True, defer_pp_recv: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            stages, n_microbatches, loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, None, scale_grads,
            backward_requires_autograd,
        )  # fmt: skip
        self._prepare_schedule_with_comms(self._plan())

    def _plan(self) -> Orders:
        raise NotImplementedError

    def _want_two(self) -> None:
        if self._n_local_stages != 2:
            raise ValueError(
                f"taeda.distributed.pipelining.{type(self).__name__}: each process is to hold two stages, not "
                f"{self._n_local_stages}"
            )

    def _want_rounds(self) -> None:
        rounds = max(1, self._n_microbatches // self.pp_group_size)
        if self._n_microbatches % rounds:
            raise ValueError(
                f"taeda.distributed.pipelining.{type(self).__name__}: {self._n_microbatches} microbatches do not make "
                f"{rounds} rounds of equal length"
            )


class ScheduleLoopedBFS(_Planned):
    """All microbatches through one local stage, then through the next."""

    def __init__(
        self, stages: list[Any], n_microbatches: int, loss_fn: Loss | None = None, output_merge_spec: Any = None,
        scale_grads: bool = True, backward_requires_autograd: bool = True, defer_pp_recv: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            stages, n_microbatches, loss_fn, None, None, output_merge_spec, scale_grads, backward_requires_autograd
        )

    def _plan(self) -> Orders:
        return _orders.breadth_first(self.pp_group_size, self._n_local_stages, self._n_microbatches)


class ScheduleInterleaved1F1B(_Planned):
    """Local stages take turns, with one forward and one backward pass in turn."""

    def _plan(self) -> Orders:
        self._want_rounds()
        return _orders.interleaved(self.pp_group_size, self._n_local_stages, self._n_microbatches, False)


class ScheduleInterleavedZeroBubble(_Planned):
    """The same, with the weights' part of backward passes put off to where a process would wait."""

    def _plan(self) -> Orders:
        self._want_rounds()
        return _orders.interleaved(self.pp_group_size, self._n_local_stages, self._n_microbatches, True)


class ScheduleZBVZeroBubble(_Planned):
    """Two stages on each process, the first and the last on the same, and so on inwards; backward passes are split."""

    def _mapping(self) -> dict[int, int]:
        self._want_two()
        return generate_stage_to_rank_mapping(self.pp_group_size, self._num_stages, "v")

    def _plan(self) -> Orders:
        return _orders.there_and_back(self.pp_group_size, self._n_microbatches, True)


class ScheduleDualPipeV(ScheduleZBVZeroBubble):
    """The same stages; forward and backward passes of different microbatches go together."""

    def _plan(self) -> Orders:
        if self._n_microbatches < self._num_stages:
            raise ValueError(
                f"taeda.distributed.pipelining.ScheduleDualPipeV: {self._n_microbatches} microbatches for "
                f"{self._num_stages} stages; there are to be at least as many"
            )
        return _orders.there_and_back(self.pp_group_size, self._n_microbatches, False)


def get_schedule_class(schedule_name: str) -> type[_PipelineSchedule]:
    """The schedule of that name, in upper or lower case: ``"1F1B"``, ``"GPipe"``, ``"Interleaved1F1B"`` and so on.

    Raises:
        ValueError: there is none.
    """
    known: dict[str, type[_PipelineSchedule]] = {
        "1F1B": Schedule1F1B, "GPipe": ScheduleGPipe, "Interleaved1F1B": ScheduleInterleaved1F1B,
        "LoopedBFS": ScheduleLoopedBFS, "InterleavedZeroBubble": ScheduleInterleavedZeroBubble,
        "PipelineScheduleSingle": PipelineScheduleSingle, "PipelineScheduleMulti": PipelineScheduleMulti,
        "ZBVZeroBubble": ScheduleZBVZeroBubble, "DualPipeV": ScheduleDualPipeV,
    }  # fmt: skip
    for name, schedule in known.items():
        if name.lower() == schedule_name.lower():
            return schedule
    raise ValueError(
        f"taeda.distributed.pipelining.get_schedule_class: there is no schedule {schedule_name!r}; there are "
        f"{', '.join(known)}"
    )
