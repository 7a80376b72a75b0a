"""Ways to reduce a flat gradient, for ``FullyShardedDataParallel.register_comm_hook``."""

from __future__ import annotations

from typing import Any

import taeda
import taeda.distributed as dist
from taeda import Tensor

__all__ = [
    "DefaultState", "LowPrecisionState", "allreduce_hook", "bf16_compress_hook", "fp16_compress_hook",
    "reduce_scatter_hook",
]  # fmt: skip


class DefaultState:
    """Who averages, and by what gradients are divided: partly before they are added, so that sums stay small."""

    def __init__(self, process_group: Any) -> None:
        if process_group is None:
            raise ValueError(f"{type(self).__name__}: process_group is wanted as a group of processes; got None")
        self.process_group = process_group
        self.world_size = dist.get_world_size(process_group)
        self.gradient_predivide_factor = self._get_gradient_predivide_factor(self.world_size)
        self.gradient_postdivide_factor = self.world_size / self.gradient_predivide_factor

    @staticmethod
    def _get_gradient_predivide_factor(world_size: int) -> float:
        """The first power of two that is at least the root of ``world_size``, or does not divide it."""
        factor = 1
        while world_size % factor == 0 and world_size / factor > factor:
            factor *= 2
        return float(factor)


class LowPrecisionState(DefaultState):
    """A `DefaultState` for gradients that are narrowed on the way, and become ``parameter_type`` again."""

    def __init__(self, process_group: Any, parameter_type: taeda.dtype = taeda.float32) -> None:
        super().__init__(process_group)
        self.parameter_type = parameter_type


def _divide(gradient: Tensor, factor: float) -> None:
    if factor > 1:
        gradient.div_(factor)


def allreduce_hook(state: DefaultState, grad: Tensor) -> None:
    """``grad`` becomes the mean over the processes."""
    _divide(grad, state.gradient_predivide_factor)
    dist.all_reduce(grad, group=state.process_group)
    _divide(grad, state.gradient_postdivide_factor)


def reduce_scatter_hook(state: DefaultState, grad: Tensor, output: Tensor) -> None:
    """``output`` becomes this process's part of the mean of ``grad``."""
    _divide(grad, state.gradient_predivide_factor)
    dist.reduce_scatter_tensor(output, grad, group=state.process_group)
    _divide(output, state.gradient_postdivide_factor)


def _narrowed(dtype: taeda.dtype, state: LowPrecisionState, grad: Tensor, output: Tensor | None) -> None:
    low = grad.to(dtype)
    if output is None:
        allreduce_hook(state, low)
        grad.data = low.to(state.parameter_type)
        return
    part = output.to(dtype)
    reduce_scatter_hook(state, low, part)
    output.data = part.to(state.parameter_type)


def fp16_compress_hook(state: LowPrecisionState, grad: Tensor, output: Tensor | None = None) -> None:
    """`allreduce_hook`, or with an ``output`` `reduce_scatter_hook`, in float16."""
    _narrowed(taeda.float16, state, grad, output)


def bf16_compress_hook(state: LowPrecisionState, grad: Tensor, output: Tensor | None = None) -> None:
    """`allreduce_hook`, or with an ``output`` `reduce_scatter_hook`, in bfloat16."""
    _narrowed(taeda.bfloat16, state, grad, output)
