"""When parameters are averaged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import taeda.distributed as dist
from taeda.distributed.algorithms.model_averaging import utils

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """Averages parameters over ``process_group``, all processes by default; ``step`` counts the calls."""

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = process_group if process_group is not None else dist.group.WORLD
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Any]) -> None:
        """Averages parameters, or groups of them, if it is time."""


class PeriodicModelAverager(ModelAverager):
    """Averages at every ``period``-th call, after ``warmup_steps`` calls that do nothing.

    Raises:
        ValueError: a number is below 1, or below 0 for ``warmup_steps``.
    """

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0 or period < 1:
            raise ValueError(
                "taeda.distributed.PeriodicModelAverager: period from 1 and warmup_steps from 0 on are wanted; got "
                f"{period} and {warmup_steps}"
            )
        self.period, self.warmup_steps = period, warmup_steps

    def average_parameters(self, params: Iterable[Any]) -> None:
        if self.step >= self.warmup_steps and (self.step - self.warmup_steps) % self.period == 0:
            utils.average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
