"""Schedules that move the rate and, against it, the momentum."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from ..optimizer import Optimizer
from .base import LRScheduler, per_group, write_option


def _uses_beta1(optimizer: Optimizer, owner: str) -> bool:
    """Whether the momentum of ``optimizer`` is its first beta rather than an option ``momentum``."""
    if "betas" not in optimizer.defaults and "momentum" not in optimizer.defaults:
        raise ValueError(f"{owner}: cycle_momentum=True wants an optimizer with momentum or betas")
    return "betas" in optimizer.defaults


def _set_momentum(group: dict[str, Any], use_beta1: bool, value: Any) -> None:
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def _start_momentum(optimizer: Optimizer, use_beta1: bool, lows: list[Any], highs: list[Any]) -> None:
    """Each group's momentum starts at the top; both ends are kept with the group."""
    for low, high, group in zip(lows, highs, optimizer.param_groups, strict=True):
        _set_momentum(group, use_beta1, high)
        group["max_momentum"] = high
        group["base_momentum"] = low


class CyclicLR(LRScheduler):
    """The rate goes up and down between ``base_lr`` and ``max_lr``, once a batch; the momentum goes the other way.

    The height of a cycle is scaled by ``scale_fn(cycle)`` or ``scale_fn(iteration)`` (``scale_mode``); ``mode`` names
    three of them: ``"triangular"`` 1, ``"triangular2"`` ``2**(1 - cycle)``, ``"exp_range"`` ``gamma**iteration``.
    Source: Smith, Cyclical learning rates for training neural networks, 2017.

    Raises:
        ValueError: an unknown ``mode``, a list of the wrong length, or momentum asked of an optimiser without.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"CyclicLR: wants an Optimizer; got {type(optimizer).__name__}")
        base_lrs = per_group(optimizer, "CyclicLR.base_lr", base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                write_option(group, "lr", lr)
        self.max_lrs = per_group(optimizer, "CyclicLR.max_lr", max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(f"CyclicLR: mode must be triangular, triangular2 or exp_range; got {mode!r}")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode: str = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(optimizer, base_momentum, max_momentum, fresh=last_epoch == -1)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _begin_momentum(self, optimizer: Optimizer, base: Any, top: Any, fresh: bool) -> None:
        self.use_beta1 = _uses_beta1(optimizer, "CyclicLR")
        self.base_momentums = per_group(optimizer, "CyclicLR.base_momentum", base)
        self.max_momentums = per_group(optimizer, "CyclicLR.max_momentum", top)
        if fresh:
            _start_momentum(optimizer, self.use_beta1, self.base_momentums, self.max_momentums)

    @property
    def _scale_fn_ref(self) -> Callable[..., float]:
        """What ``scale_fn`` calls, where the program gave no function."""
        return type(self).scale_fn

    def scale_fn(self, x: float) -> float:
        """The height of the cycle or iteration ``x``, 1 at first."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return self.gamma**x
        return 1.0 if self.mode == "triangular" else 1 / 2.0 ** (x - 1)

    def get_lr(self) -> list[Any]:
        """The rates for ``self.last_epoch``; also sets the momentum."""
        self._warn_if_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        rates = [base + (top - base) * height * scale for base, top in zip(self.base_lrs, self.max_lrs, strict=True)]
        if self.cycle_momentum:
            ends = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True)
            for low, high, group in ends:
                _set_momentum(group, self.use_beta1, high - (high - low) * height * scale)
        return rates

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser; a plain ``scale_fn`` is not saved, an object's attributes are."""
        state = super().state_dict()
        function = state.pop("_scale_fn_custom")
        is_object = function is not None and type(function).__name__ not in ("function", "builtin_function_or_method")
        state["_scale_fn_custom"] = function.__dict__.copy() if is_object else None
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what :meth:`state_dict` returned."""
        state = state_dict.copy()
        attributes = state.pop("_scale_fn_custom", None)
        super().load_state_dict(state)
        if attributes is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(attributes)


def _cosine(start: Any, end: Any, part: float) -> Any:
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _line(start: Any, end: Any, part: float) -> Any:
    return (end - start) * part + start


_ANNEALERS = {"cos": _cosine, "linear": _line}


class OneCycleLR(LRScheduler):
    """One rise to ``max_lr`` and one fall far below the start, over all batches; the momentum goes the other way.

    The rate starts at ``max_lr / div_factor`` and ends at that over ``final_div_factor``; the rise takes
    ``pct_start`` of the steps. ``three_phase`` first falls back to the start, in as many steps, then to the end.
    Source: Smith and Topin, Super-convergence, 2019.

    Raises:
        ValueError: steps are not given or not positive, ``pct_start`` is outside [0, 1], an unknown
            ``anneal_strategy``, a step beyond the last.
    """

    # By these names in states of before the strategy was saved by its word.
    anneal_func: Callable[..., Any]
    _annealing_cos = staticmethod(_cosine)
    _annealing_linear = staticmethod(_line)

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"OneCycleLR: wants an Optimizer; got {type(optimizer).__name__}")
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"OneCycleLR: pct_start must be a float in [0, 1]; got {pct_start!r}")
        if anneal_strategy not in _ANNEALERS:
            raise ValueError(f"OneCycleLR: anneal_strategy must be 'cos' or 'linear'; got {anneal_strategy!r}")
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        self.cycle_momentum = cycle_momentum
        max_lrs = per_group(optimizer, "OneCycleLR.max_lr", max_lr)
        if last_epoch == -1:
            for top, group in zip(max_lrs, optimizer.param_groups, strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(optimizer, "OneCycleLR")
            lows = per_group(optimizer, "OneCycleLR.base_momentum", base_momentum)
            highs = per_group(optimizer, "OneCycleLR.max_momentum", max_momentum)
            if last_epoch == -1:
                _start_momentum(optimizer, self.use_beta1, lows, highs)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates for ``self.last_epoch``; also sets the momentum."""
        self._warn_if_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"OneCycleLR: step {step} lies beyond the {self.total_steps} steps of the cycle")
        start, phase = 0.0, self._schedule_phases[-1]
        for i, candidate in enumerate(self._schedule_phases):
            if step <= candidate["end_step"] or i == len(self._schedule_phases) - 1:
                phase = candidate
                break
            start = candidate["end_step"]
        part = (step - start) / (phase["end_step"] - start)
        # A state that PyTorch saved before 1.14 holds the function.
        anneal = _ANNEALERS[self._anneal_func_type] if hasattr(self, "_anneal_func_type") else self.anneal_func
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(anneal(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                momentum = anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], part)
                _set_momentum(group, self.use_beta1, momentum)
        return rates


def _total_steps(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("OneCycleLR: give total_steps, or both epochs and steps_per_epoch")
    given = {"total_steps": total_steps}
    if total_steps is None:
        given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    product = 1
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"OneCycleLR: {name} must be a positive integer; got {value!r}")
        product *= value
    return product


def _phases(total: int, rise: float, three: bool) -> list[dict[str, Any]]:
    """Where each phase ends, and which options of a group it moves between."""

    def phase(end: float, lrs: tuple[str, str], momenta: tuple[str, str]) -> dict[str, Any]:
        return {
            "end_step": end,
            "start_lr": lrs[0],
            "end_lr": lrs[1],
            "start_momentum": momenta[0],
            "end_momentum": momenta[1],
        }

    down, up = ("max_momentum", "base_momentum"), ("base_momentum", "max_momentum")
    first = phase(float(rise * total) - 1, ("initial_lr", "max_lr"), down)
    if not three:
        return [first, phase(total - 1, ("max_lr", "min_lr"), up)]
    return [
        first,
        phase(float(2 * rise * total) - 2, ("max_lr", "initial_lr"), up),
        phase(total - 1, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum")),
    ]
