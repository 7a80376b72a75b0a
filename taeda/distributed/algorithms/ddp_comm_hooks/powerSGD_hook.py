"""Gradients sent as products of thin matrices (PowerSGD: Vogels, Karimireddy and Jaggi, 2019)."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np

import taeda
import taeda.distributed as dist
from taeda import Tensor
from taeda.distributed._reducer import GradBucket
from taeda.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from taeda.futures import Future

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]

log = logging.getLogger(__name__)


class PowerSGDState:
    """What `powerSGD_hook` needs to know, and what it keeps from one iteration to the next.

    Args:
        process_group: whose mean it is; all processes for None.
        matrix_approximation_rank: how many columns the thin matrices have.
        start_powerSGD_iter: how many iterations send gradients whole first; at least 2 where something is kept.
        min_compression_rate: gradients that do not get smaller by this factor are sent whole.
        use_error_feedback: what an approximation left out is added to the next gradient.
        warm_start: the next approximation begins with the matrices of this one.
        orthogonalization_epsilon: added to norms that columns are divided by.
        random_seed: for the first matrices, the same on all processes.
        compression_stats_logging_frequency: iterations between two logs of how much was saved.
        batch_tensors_with_same_shape: gradients of one shape are multiplied at once.

    Raises:
        ValueError: ``start_powerSGD_iter`` is below 2, and something is kept.
    """

    def __init__(
        self, process_group: Any, matrix_approximation_rank: int = 1, start_powerSGD_iter: int = 1_000,
        min_compression_rate: float = 2, use_error_feedback: bool = True, warm_start: bool = True,
        orthogonalization_epsilon: float = 0, random_seed: int = 0, compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:  # fmt: skip
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "taeda.distributed.PowerSGDState: start_powerSGD_iter is wanted above 1 with use_error_feedback or "
                f"warm_start, since buckets are made anew after the first iteration; got {start_powerSGD_iter}"
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback = use_error_feedback
        self.warm_start = warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = np.random.RandomState(random_seed)
        self.compression_stats_logging_frequency = max(1, compression_stats_logging_frequency)
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape
        self.error_dict: dict[int, Tensor] = {}
        self.p_memory_dict: dict[int, Tensor] = {}
        self.q_memory_dict: dict[int, Tensor] = {}
        self.iter = 0
        self.total_numel_before_compression = 0
        self.total_numel_after_compression = 0
        self.next_stats_report = 0

    def __getstate__(self) -> dict[str, Any]:
        log.warning("PowerSGDState: the process group is not saved")
        return {name: value for name, value in vars(self).items() if name != "process_group"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = dist.distributed_c10d._get_default_group()
        vars(self).update(state)

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Counts an iteration if ``bucket`` is its last."""
        if bucket.is_last():
            self.iter += 1

    def compression_stats(self) -> tuple[float, int, int]:
        """How many times fewer numbers were sent, how many there were, and how many were sent."""
        sent = self.total_numel_after_compression
        return (self.total_numel_before_compression / sent if sent else 0), self.total_numel_before_compression, sent

    def _report(self, bucket: GradBucket) -> None:
        if bucket.is_last() and self.iter >= self.next_stats_report:
            log.info("PowerSGD: iteration %s: rate %s of %s numbers, %s sent", self.iter, *self.compression_stats())
            self.next_stats_report = self.iter + self.compression_stats_logging_frequency

    def _with_error(self, bucket: GradBucket) -> Tensor | None:
        """Adds what was left out before to the bucket; gives a copy of the sum."""
        if not self.use_error_feedback:
            return None
        buffer, index = bucket.buffer(), bucket.index()
        if index in self.error_dict:
            buffer.add_(self.error_dict[index])
        else:
            self.error_dict[index] = taeda.zeros_like(buffer)
        return buffer.clone()

    def _memories(self, index: int, p_size: int, q_size: int, like: Tensor) -> bool:
        """Makes room for the matrices; whether they hold nothing yet."""
        known = self.p_memory_dict.get(index)
        if self.warm_start and known is not None and known.numel() == p_size:
            return False
        self.p_memory_dict[index] = taeda.empty(p_size, dtype=like.dtype, device=like.device)
        self.q_memory_dict[index] = taeda.empty(q_size, dtype=like.dtype, device=like.device)
        return True

    def _draw(self, qs: list[Tensor]) -> None:
        """Random numbers, the same on all processes."""
        with taeda.random.fork_rng(devices=[]):
            taeda.manual_seed(int(self.rng.randint(1_000_000_000)))
            for q in qs:
                q.copy_(taeda.randn(*q.shape, dtype=q.dtype))


def _orthogonalize(matrices: Tensor, epsilon: float = 0) -> None:
    """Makes the columns of each matrix of (B, N, R) orthonormal, in place; one after the other where they are few."""
    if len(matrices.shape) != 3 or matrices.shape[2] > matrices.shape[1]:
        raise AssertionError(f"PowerSGD: matrices are wanted as (B, N, R), R at most N; got {tuple(matrices.shape)}")
    if matrices.shape[2] > 2 and matrices.dtype not in (taeda.float16, taeda.bfloat16):
        matrices.copy_(taeda.linalg.qr(matrices)[0])
        return
    for i in range(matrices.shape[-1]):
        column = matrices[:, :, i : i + 1]
        norm = column.norm(dim=1, keepdim=True)
        column.div_(norm + epsilon if epsilon else norm.clamp_min(taeda.finfo(matrices.dtype).tiny))
        rest = matrices[:, :, i + 1 :]
        rest.sub_((column * rest).sum(dim=1, keepdim=True) * column)


def _is_worth(rows: int, columns: int, state: PowerSGDState) -> bool:
    rank = min(rows, columns, state.matrix_approximation_rank)
    return (rows + columns) * rank * state.min_compression_rate < rows * columns


def _stacks(matrices: list[Tensor], batched: bool) -> list[list[Tensor]]:
    """What is multiplied at once: the matrices of one shape, or each alone. Random numbers are drawn in this order."""
    by_shape: dict[tuple[int, ...], list[Tensor]] = {}
    for matrix in matrices:
        by_shape.setdefault(tuple(matrix.shape), []).append(matrix)
    return list(by_shape.values()) if batched else [[one] for alike in by_shape.values() for one in alike]


def _views(memory: Tensor, shapes: list[tuple[int, ...]]) -> list[Tensor]:
    parts = memory.split([math.prod(shape) for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def _sum(state: PowerSGDState, tensor: Tensor) -> Any:
    return dist.all_reduce(tensor, group=state.process_group, async_op=True)


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    """The mean of the gradients over the processes, each sent as the product of two thin matrices.

    The first of the two is reduced while this waits, so that all processes reduce in one order; the second and what is
    sent whole are under way when it returns.
    """
    size = dist.get_world_size(state.process_group)
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return allreduce_hook(state.process_group, bucket)
    buffer = bucket.buffer()
    given = state._with_error(bucket)
    small: list[Tensor] = []
    matrices: list[Tensor] = []
    for gradient in bucket.gradients():
        matrix = gradient.view(gradient.shape[0], -1) if gradient.dim() else gradient.view(1, 1)
        (matrices if _is_worth(matrix.shape[0], matrix.shape[1], state) else small).append(matrix)
    stacks = _stacks(matrices, state.batch_tensors_with_same_shape)
    stacked = [taeda.stack(alike) if len(alike) > 1 else alike[0].unsqueeze(0) for alike in stacks]
    ranks = [min(*stack.shape[1:], state.matrix_approximation_rank) for stack in stacked]
    p_shapes: list[tuple[int, ...]] = [(*m.shape[:2], rank) for m, rank in zip(stacked, ranks, strict=True)]
    q_shapes: list[tuple[int, ...]] = [(*m.shape[::2], rank) for m, rank in zip(stacked, ranks, strict=True)]
    p_size, q_size = (sum(math.prod(shape) for shape in shapes) for shapes in (p_shapes, q_shapes))
    index = bucket.index()
    new = state._memories(index, p_size, q_size, buffer)
    ps, qs = _views(state.p_memory_dict[index], p_shapes), _views(state.q_memory_dict[index], q_shapes)
    if new:
        state._draw(qs)
    for q in qs:
        _orthogonalize(q, state.orthogonalization_epsilon)
    whole = taeda.cat([one.reshape(-1) for one in small]) if small else buffer.new_zeros(0)
    state.total_numel_before_compression += buffer.numel()
    state.total_numel_after_compression += whole.numel() + p_size + q_size
    state._report(bucket)
    whole_work = _sum(state, whole)
    for stack, p, q in zip(stacked, ps, qs, strict=True):
        taeda.matmul(stack, q, out=p)
    _sum(state, state.p_memory_dict[index]).wait()
    for stack, p, q in zip(stacked, ps, qs, strict=True):
        _orthogonalize(p, state.orthogonalization_epsilon)
        taeda.matmul(stack.mT, p, out=q)

    def decompress(done: Any) -> Tensor:
        whole_work.wait()
        state.q_memory_dict[index].div_(size)
        for one, mean in zip(small, whole.div_(size).split([one.numel() for one in small]), strict=True):
            one.copy_(mean.view_as(one))
        for alike, stack, p, q in zip(stacks, stacked, ps, qs, strict=True):
            taeda.matmul(p, q.mT, out=stack)
            if len(alike) > 1:
                for matrix, mean in zip(alike, stack, strict=True):
                    matrix.copy_(mean)
        if given is not None:
            state.error_dict[index] = given - buffer
        if not state.warm_start:
            state.p_memory_dict.clear()
            state.q_memory_dict.clear()
        return buffer

    state.maybe_increase_iter(bucket)
    return _sum(state, state.q_memory_dict[index]).get_future().then(decompress)


def batched_powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    """As `powerSGD_hook`, with a whole bucket as one square matrix: quicker, and less exact."""
    size = dist.get_world_size(state.process_group)
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return allreduce_hook(state.process_group, bucket)
    buffer = bucket.buffer()
    given = state._with_error(bucket)
    side = math.ceil(math.sqrt(buffer.numel()))
    rank = min(side, state.matrix_approximation_rank)
    index = bucket.index()
    matrix = taeda.nn.functional.pad(buffer, (0, side * side - buffer.numel())).view(1, side, side)
    new = state._memories(index, side * rank, side * rank, buffer)
    p, q = (memory[index].view(1, side, rank) for memory in (state.p_memory_dict, state.q_memory_dict))
    if new:
        state._draw([q])
    _orthogonalize(q, state.orthogonalization_epsilon)
    taeda.matmul(matrix, q, out=p)
    _sum(state, p).wait()
    _orthogonalize(p, state.orthogonalization_epsilon)
    taeda.matmul(matrix.mT, p, out=q)

    def decompress(done: Any) -> Tensor:
        q.div_(size)
        buffer.copy_(taeda.matmul(p, q.mT).view(-1)[: buffer.numel()])
        if given is not None:
            state.error_dict[index] = given - buffer
        return buffer

    state.maybe_increase_iter(bucket)
    return _sum(state, q).get_future().then(decompress)
