"""Parameters averaged over small groups often, and over large ones now and then (Lin et al., 2020)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

import taeda.distributed as dist
from taeda.distributed.algorithms.model_averaging import averagers, utils

__all__ = ["HierarchicalModelAverager"]

_NAME = "taeda.distributed.HierarchicalModelAverager"
logger = logging.getLogger(__name__)


class HierarchicalModelAverager(averagers.ModelAverager):
    """Averages every so many calls over groups of neighbours, the longer the period the larger the group.

    Args:
        period_group_size_dict: sizes of groups by period, both rising; the last size is that of ``process_group``.
            Where several periods end at once, the largest group averages.
        warmup_steps: so many calls at first do nothing.
        process_group: all processes by default.

    Raises:
        ValueError: there is no period, periods or sizes do not rise, the last size is another, or ``warmup_steps`` is
            below 0.
    """

    def __init__(
        self,
        period_group_size_dict: Mapping[int, int] | None = None,
        warmup_steps: int = 0,
        process_group: Any = None,
    ) -> None:
        super().__init__(process_group)
        given = dict(period_group_size_dict or {})
        self._periods = list(given)
        _check(given, self.process_group, warmup_steps)
        if len(given) == 1:
            logger.warning("%s: one period and one group are what PeriodicModelAverager has", _NAME)
        self.warmup_steps = warmup_steps
        self.period_process_group_dict: dict[int, Any] = {}
        for period, size in given.items():
            whole = size == dist.get_world_size(self.process_group)
            own = self.process_group if whole else dist.new_subgroups(group_size=size, group=self.process_group)[0]
            self.period_process_group_dict[period] = own

    def _find_process_group(self) -> Any:
        """The largest group whose period ends with this call; None if there is none."""
        due = [period for period in self._periods if self.step % period == 0]
        return self.period_process_group_dict[due[-1]] if due else None

    def average_parameters(self, params: Iterable[Any]) -> None:
        if self.step >= self.warmup_steps and (group := self._find_process_group()) is not None:
            utils.average_parameters_or_parameter_groups(params, group)
        self.step += 1


def _check(given: dict[int, int], group: Any, warmup_steps: int) -> None:
    periods, sizes = list(given), list(given.values())
    if not given or periods != sorted(periods) or sizes != sorted(set(sizes)) or periods[0] < 1:
        raise ValueError(f"{_NAME}: rising sizes by rising periods are wanted; got {given}")
    if sizes[-1] != dist.get_world_size(group):
        raise ValueError(
            f"{_NAME}: the last size must be that of the group, {dist.get_world_size(group)}; got {sizes[-1]}"
        )
    if warmup_steps < 0:
        raise ValueError(f"{_NAME}: warmup_steps from 0 on are wanted; got {warmup_steps}")
