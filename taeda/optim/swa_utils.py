"""Averages of a model's weights over training: stochastic weight averaging and exponential moving averages.

Source: Izmailov et al., Averaging weights leads to wider optima and better generalization, 2018.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, Literal

import taeda
from taeda import Tensor
from taeda.nn import Module

from ._schedules.base import LRScheduler, per_group
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

AvgFn = Callable[[Tensor, Tensor, Any], Tensor]
MultiAvgFn = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"get_ema_avg_fn: decay must lie in [0, 1]; got {decay}")


def get_ema_avg_fn(decay: float = 0.999) -> AvgFn:
    """``decay * average + (1 - decay) * value``, as a function of one tensor each.

    Raises:
        ValueError: ``decay`` lies outside [0, 1].
    """
    _check_decay(decay)

    def ema(average: Tensor, value: Tensor, count: Any) -> Tensor:
        with taeda.no_grad():
            return average.mul(decay).add(value, alpha=1 - decay)

    return ema


def get_swa_avg_fn() -> AvgFn:
    """The mean of all values so far, as a function of one tensor each."""

    def mean(average: Tensor, value: Tensor, count: Any) -> Tensor:
        with taeda.no_grad():
            return average + (value - average) / (count + 1)

    return mean


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAvgFn:
    """Like :func:`get_ema_avg_fn`, for lists and in place."""
    _check_decay(decay)

    def ema(averages: Sequence[Tensor], values: Sequence[Tensor], count: Any) -> None:
        with taeda.no_grad():
            _lerp(averages, values, 1 - decay)

    return ema


def get_swa_multi_avg_fn() -> MultiAvgFn:
    """Like :func:`get_swa_avg_fn`, for lists and in place."""

    def mean(averages: Sequence[Tensor], values: Sequence[Tensor], count: Any) -> None:
        with taeda.no_grad():
            _lerp(averages, values, 1 / (int(count) + 1))

    return mean


def _lerp(averages: Sequence[Tensor], values: Sequence[Tensor], weight: float) -> None:
    """Moves floating averages towards ``values``; integers, such as counters, are rounded."""
    floating = [i for i, average in enumerate(averages) if average.is_floating_point() or average.is_complex()]
    if floating:
        taeda._foreach_lerp_([averages[i] for i in floating], [values[i] for i in floating], weight)
    for i in set(range(len(averages))) - set(floating):
        averages[i].copy_(averages[i] + (values[i] - averages[i]) * weight)


class AveragedModel(Module):
    """A copy of ``model`` whose parameters are an average of those that :meth:`update_parameters` was shown.

    The first call copies; later ones average by ``avg_fn(average, value, count)`` or, for all at once and in place,
    ``multi_avg_fn``; by default the mean. With ``use_buffers`` buffers are averaged too, else copied.

    Raises:
        AssertionError: both functions are given.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: AvgFn | None = None,
        multi_avg_fn: MultiAvgFn | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("AveragedModel: give avg_fn or multi_avg_fn, not both")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", taeda.tensor(0, dtype=taeda.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The averaged model's output."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Takes the present parameters of ``model`` into the average."""
        averages, values = self._averaged(self.module), self._averaged(model)
        values = [v.detach().to(a.device) for a, v in zip(averages, values, strict=True)]
        if self.n_averaged == 0:
            for average, value in zip(averages, values, strict=True):
                average.copy_(value)
        elif self.avg_fn is None:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, values, self.n_averaged)
        else:
            for average, value in zip(averages, values, strict=True):
                average.copy_(self.avg_fn(average, value, self.n_averaged))
        if not self.use_buffers:
            for kept, new in zip(self.module.buffers(), model.buffers(), strict=True):
                kept.detach().copy_(new.detach().to(kept.device))
        self.n_averaged.add_(1)

    def _averaged(self, model: Module) -> list[Tensor]:
        tensors = itertools.chain(model.parameters(), model.buffers() if self.use_buffers else ())
        return [t.detach() for t in tensors]


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Recomputes the running statistics of all batch norms of ``model`` in one pass over ``loader``.

    A batch is the input, or a list or tuple that starts with it.
    """
    norms = [module for module in model.modules() if isinstance(module, taeda.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    was_training = model.training
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a mean over all batches
    model.train()
    with taeda.no_grad():
        for batch in loader:
            inputs = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(inputs if device is None else inputs.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Moves the rate of each group to ``swa_lr`` in ``anneal_epochs`` epochs, on a cosine or a line, and leaves it.

    Raises:
        ValueError: an unknown ``anneal_strategy``, a negative ``anneal_epochs``, or ``swa_lr`` of the wrong length.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(per_group(optimizer, "SWALR.swa_lr", swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"SWALR: anneal_strategy must be 'cos' or 'linear'; got {anneal_strategy!r}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"SWALR: anneal_epochs must be an integer of 0 or more; got {anneal_epochs!r}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _weight(self, step: int) -> float:
        """How much of the way to ``swa_lr`` lies behind after ``step`` steps."""
        part = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * part)) / 2 if self._anneal_strategy == "cos" else part

    def get_lr(self) -> list[Any]:
        """The rates for ``self.last_epoch``, from the current ones: their start is found by undoing the last step."""
        self._warn_if_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._weight(step - 1), self._weight(step)
        rates = []
        for group in self.optimizer.param_groups:
            end = group["swa_lr"]
            start = end if before == 1 else (group["lr"] - before * end) / (1 - before)
            rates.append(end * now + start * (1 - now))
        return rates
