"""Stages of a pipeline: a part of a model, and whom it hears from and tells."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import taeda
import taeda.distributed as dist
from taeda import Tensor, nn
from taeda.distributed.fsdp import FSDPModule
from taeda.distributed.pipelining._backward import stage_backward, stage_backward_input, stage_backward_weight
from taeda.distributed.pipelining._messages import Mailbox, tag_of
from taeda.distributed.pipelining._utils import (
    DwBuilder,
    PipeInfo,
    PipeliningMetadataError,
    flatten_args,
    generate_stage_to_rank_mapping,
    map_debug_info,
)
from taeda.nn.parallel import DistributedDataParallel

__all__ = ["PipelineStage", "build_stage"]


def _as_tuple(output: Any) -> tuple[Any, ...]:
    return tuple(output) if isinstance(output, (list, tuple)) else (output,)


class _PipelineStageBase:
    """One stage, on this process, with what it has at hand for each microbatch."""

    def __init__(
        self, submodule: nn.Module, stage_index: int, num_stages: int, device: taeda.device,
        group: dist.ProcessGroup | None = None, dw_builder: DwBuilder | None = None,
    ) -> None:  # fmt: skip
        if not 0 <= stage_index < num_stages:
            raise ValueError(f"taeda.distributed.pipelining: there is no stage {stage_index} of {num_stages}")
        self.submod, self.stage_index, self.num_stages = submodule, stage_index, num_stages
        self.device, self.group, self.dw_builder = device, group, dw_builder
        self.group_rank, self.group_size = dist.get_rank(group), dist.get_world_size(group)
        if self.group_size > num_stages:
            raise RuntimeError(
                f"taeda.distributed.pipelining: {num_stages} stages for a group of {self.group_size} processes; each "
                "process is to hold at least one"
            )
        looped = num_stages % self.group_size == 0
        self.stage_index_to_group_rank: dict[int, int] = (
            generate_stage_to_rank_mapping(self.group_size, num_stages) if looped else {}
        )
        self.neighbours: dict[int, _PipelineStageBase] = {}  # stages of this process
        self.clear_runtime_states()

    # --- its place

    @property
    def has_backward(self) -> bool:
        """Whether backward passes follow."""
        return self.__dict__.get("_has_backward", False)

    @has_backward.setter
    def has_backward(self, value: bool) -> None:
        self._has_backward = value

    @property
    def is_first(self) -> bool:
        """Whether it takes the program's input."""
        return self.stage_index == 0

    @property
    def is_last(self) -> bool:
        """Whether its output is the program's."""
        return self.stage_index == self.num_stages - 1

    def sources(self) -> list[tuple[int, list[int] | None]]:
        """The stages that it hears from, and which of its inputs come from there; None: all."""
        return [] if self.is_first else [(self.stage_index - 1, None)]

    def destinations(self) -> list[tuple[int, list[int] | None]]:
        """The stages that it tells, and which of its outputs."""
        return [] if self.is_last else [(self.stage_index + 1, None)]

    def clear_runtime_states(self) -> None:
        """Forgets the microbatches of a step."""
        self.fwd_cache: dict[int, tuple[tuple[Any, ...], list[Any]]] = {}
        self.bwd_cache: dict[int, tuple[Any, ...]] = {}
        self.output_chunks: list[Any] = []
        self.backward_state: dict[int, Any] = {}
        self.dw_runner: dict[int, Any] = {}
        self.input_grads: dict[int, list[Any]] = {}
        self._boxes: dict[tuple[int, int, bool], list[Any]] = {}

    # --- messages

    def _give(self, other: int, microbatch: int, values: list[Any], backward: bool) -> list[Any]:
        """Hands values to another stage; calls to wait for, if that is on another process."""
        if other in self.neighbours:
            self.neighbours[other]._boxes[self.stage_index, microbatch, backward] = values
            return []
        tag = tag_of(self.stage_index, other, microbatch, backward)
        return Mailbox(self.group, self.device).send(values, self.stage_index_to_group_rank[other], tag)

    def _take(self, other: int, microbatch: int, backward: bool) -> list[Any]:
        if other in self.neighbours:
            return self._boxes.pop((other, microbatch, backward))
        tag = tag_of(other, self.stage_index, microbatch, backward)
        return Mailbox(self.group, self.device).receive(self.stage_index_to_group_rank[other], tag)

    def receive_inputs(self, microbatch: int) -> tuple[Any, ...]:
        """What the stages before give, as leaves of this stage's graph."""
        placed: dict[int, Any] = {}
        for other, indices in self.sources():
            values = self._take(other, microbatch, False)
            cut = [v.detach().requires_grad_(v.requires_grad and self.has_backward) if isinstance(v, Tensor) else v
                   for v in values]  # fmt: skip
            placed |= dict(zip(range(len(cut)) if indices is None else indices, cut))
        return tuple(placed[index] for index in sorted(placed))

    def send_outputs(self, microbatch: int) -> list[Any]:
        """Gives the outputs to the stages behind."""
        outputs = self.fwd_cache[microbatch][0] if self.destinations() else ()
        works = []
        for other, indices in self.destinations():
            chosen = list(outputs) if indices is None else [outputs[index] for index in indices]
            if not all(isinstance(one, Tensor) for one in chosen):
                raise PipeliningMetadataError(
                    f"taeda.distributed.pipelining: stage {self.stage_index} gives {map_debug_info(chosen)} to stage "
                    f"{other}; stages are to give tensors"
                )
            works += self._give(other, microbatch, chosen, False)
        return works

    def receive_grads(self, microbatch: int) -> tuple[Any, ...]:
        """The gradients of the outputs, from the stages behind."""
        outputs = self.fwd_cache[microbatch][0]
        total: list[Any] = [None] * len(outputs)
        for other, indices in self.destinations():
            for index, grad in zip(range(len(outputs)) if indices is None else indices,
                                   self._take(other, microbatch, True)):  # fmt: skip
                if grad is not None:
                    total[index] = grad if total[index] is None else total[index] + grad
        return tuple(total)

    def send_grads(self, microbatch: int) -> list[Any]:
        """Gives the gradients of the inputs to the stages before."""
        grads = self.bwd_cache.pop(microbatch, ())
        works = []
        for other, indices in self.sources():
            chosen = list(grads) if indices is None else [grads[index] for index in indices]
            works += self._give(other, microbatch, chosen, True)
        return works

    # --- passes

    @contextlib.contextmanager
    def _local_only(self) -> Iterator[None]:
        """Gradients stay on this process; `perform_reduce_grad` makes up for it."""
        with self.submod.no_sync() if isinstance(self.submod, DistributedDataParallel) else contextlib.nullcontext():
            yield

    def forward_one_chunk(
        self, fwd_chunk_id: int, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None,
        save_forward_output: bool = True,
    ) -> Any:  # fmt: skip
        """The forward pass of a microbatch; only the first stage uses ``args``."""
        given = args if self.is_first else self.receive_inputs(fwd_chunk_id)
        self._check(given, self._expected_inputs(), "is given")
        with self._local_only():
            output = self.submod(*given, **(kwargs or {}))
        outputs = _as_tuple(output)
        self._check(outputs, self._expected_outputs(), "gives")
        if self.is_last and save_forward_output:
            self.output_chunks.append(output)
        self.fwd_cache[fwd_chunk_id] = outputs, flatten_args(given) + flatten_args(kwargs or {})
        return output

    def _expected_inputs(self) -> tuple[Tensor, ...] | None:
        return None

    def _expected_outputs(self) -> tuple[Tensor, ...] | None:
        return None

    def _check(self, values: tuple[Any, ...], expected: tuple[Tensor, ...] | None, what: str) -> None:
        if expected is None:
            return
        found = [(tuple(v.shape), v.dtype) for v in values if isinstance(v, Tensor)]
        wanted = [(tuple(v.shape), v.dtype) for v in expected]
        if found == wanted:
            return
        part = "dtype" if [shape for shape, _ in found] == [shape for shape, _ in wanted] else "shape"
        raise PipeliningMetadataError(
            f"taeda.distributed.pipelining: {part} mismatch: stage {self.stage_index} {what} {map_debug_info(values)} "
            f"and was to be {map_debug_info(expected)}"
        )

    def backward_one_chunk(
        self, bwd_chunk_id: int, loss: Tensor | None = None, full_backward: bool = True, last_backward: bool = False
    ) -> None:
        """The backward pass of a microbatch, from its loss or from what the stages behind give. Not in full, it leaves
        the weights to `backward_weight_one_chunk`."""
        grads = None if self.is_last else self.receive_grads(bwd_chunk_id)
        outputs, inputs = self.fwd_cache.pop(bwd_chunk_id)
        goal: Any = (loss,) if self.is_last else outputs
        if full_backward or self.dw_builder is not None:
            with self._synced_when(last_backward):
                found = stage_backward(goal, grads, inputs)
            if self.dw_builder is not None:
                runner = self.dw_builder()
                if full_backward:
                    runner()
                else:
                    self.dw_runner[bwd_chunk_id] = runner
        else:
            found, self.backward_state[bwd_chunk_id] = stage_backward_input(
                goal, grads, inputs, self.submod.parameters()
            )
        self.bwd_cache[bwd_chunk_id] = found

    def backward_weight_one_chunk(self, bwd_chunk_id: int, last_backward: bool = False) -> None:
        """The weights' part of a backward pass.

        Raises:
            AssertionError: `backward_one_chunk` has not been called for the microbatch.
        """
        if bwd_chunk_id in self.dw_runner:
            self.dw_runner.pop(bwd_chunk_id)()
            return
        if bwd_chunk_id not in self.backward_state:
            raise AssertionError(
                f"taeda.distributed.pipelining: backward_weight_one_chunk({bwd_chunk_id}) is to follow "
                f"backward_one_chunk({bwd_chunk_id}, full_backward=False)"
            )
        with self._synced_when(last_backward):
            stage_backward_weight(self.submod.parameters(), self.backward_state.pop(bwd_chunk_id))

    @contextlib.contextmanager
    def _synced_when(self, last: bool) -> Iterator[None]:
        """Sharded modules reduce their gradients in the last backward pass alone."""
        if isinstance(self.submod, FSDPModule):
            self.submod.set_is_last_backward(last)
            self.submod.set_requires_gradient_sync(last)
        yield

    def perform_reduce_grad(self, grad_scale_factor: int = 1) -> None:
        """Behind the last backward pass of a step: replicas take the mean of their gradients."""
        if isinstance(self.submod, DistributedDataParallel):
            group = self.submod.process_group
            for one in self.submod._watched():
                if one.grad is not None:
                    one.grad.div_(group.size())
                    dist.all_reduce(one.grad, group=group)
        self.scale_grads(grad_scale_factor)

    def scale_grads(self, grad_scale_factor: int) -> None:
        """Divides the gradients, as those of ``grad_scale_factor`` microbatches were added up."""
        if grad_scale_factor != 1:
            for one in self.submod.parameters():
                if one.grad is not None:
                    one.grad.div_(grad_scale_factor)


class PipelineStage(_PipelineStageBase):
    """A module as one stage, whose outputs are the next stage's arguments.

    ``input_args`` and ``output_args`` may show what a microbatch looks like, and are then checked; shapes need not be
    told, as each message tells its own.
    """

    def __init__(
        self, submodule: nn.Module, stage_index: int, num_stages: int, device: taeda.device | str,
        input_args: Tensor | tuple[Tensor, ...] | None = None, output_args: Tensor | tuple[Tensor, ...] | None = None,
        output_grads: Any = None, input_grads: Any = None, group: dist.ProcessGroup | None = None,
        dw_builder: DwBuilder | None = None, get_mesh: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(submodule, stage_index, num_stages, taeda.device(device), group, dw_builder)
        self.inputs_meta = None if input_args is None else _as_tuple(input_args)
        self.outputs_meta = None if output_args is None else _as_tuple(output_args)

    def _expected_inputs(self) -> tuple[Tensor, ...] | None:
        return self.inputs_meta

    def _expected_outputs(self) -> tuple[Tensor, ...] | None:
        return self.outputs_meta


class _PipelineStage(_PipelineStageBase):
    """A stage that `pipeline` cut out of a model; values may skip stages."""

    def __init__(
        self, stage_module: nn.Module, stage_index: int, pipe_info: PipeInfo, device: taeda.device | str,
        group: dist.ProcessGroup | None = None,
    ) -> None:  # fmt: skip
        super().__init__(stage_module, stage_index, pipe_info.num_stages, taeda.device(device), group)
        self.pipe_info = pipe_info
        self.submod.to(self.device)

    def sources(self) -> list[tuple[int, list[int] | None]]:
        return self.pipe_info.values.sources(self.stage_index)

    def destinations(self) -> list[tuple[int, list[int] | None]]:
        return self.pipe_info.values.destinations(self.stage_index)


def build_stage(
    stage_module: nn.Module, stage_index: int, pipe_info: PipeInfo, device: taeda.device | str,
    group: dist.ProcessGroup | None = None,
) -> _PipelineStage:  # fmt: skip
    """The stage of a module that `Pipe.get_stage_module` gave, and `Pipe.info`."""
    return _PipelineStage(stage_module, stage_index, pipe_info, device, group)
