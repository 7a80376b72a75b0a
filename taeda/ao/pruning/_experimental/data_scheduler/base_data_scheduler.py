"""What schedulers of data sparsifiers share."""

from __future__ import annotations

import abc
from typing import Any

from taeda.ao.pruning._experimental.data_sparsifier.base_data_sparsifier import BaseDataSparsifier
from taeda.ao.pruning.scheduler.base_scheduler import count_steps, warn_of_order

__all__ = ["BaseDataScheduler"]


class BaseDataScheduler:
    """Sets ``schedule_param`` of each tensor at each ``step``; subclasses say in ``get_schedule_param`` to what."""

    def __init__(
        self, data_sparsifier: BaseDataSparsifier, schedule_param: str, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        if not isinstance(data_sparsifier, BaseDataSparsifier):
            raise TypeError(
                f"{type(self).__name__}: data_sparsifier must be a BaseDataSparsifier; got {type(data_sparsifier)}"
            )
        self.data_sparsifier = data_sparsifier
        self.schedule_param = schedule_param
        self.base_param = {name: group.get(schedule_param) for name, group in data_sparsifier.data_groups.items()}
        self.last_epoch = last_epoch
        count_steps(data_sparsifier)
        self._step_count = 0
        self.verbose = verbose
        self._get_sp_called_within_step = False
        self.step()

    @abc.abstractmethod
    def get_schedule_param(self) -> dict[str, Any]:
        """The value of each tensor now; to be overridden."""
        raise NotImplementedError(f"{type(self).__name__}: a scheduler must define get_schedule_param")

    def __repr__(self) -> str:
        return f"{type(self).__name__} (\n{self.data_sparsifier}\n    base_param: {self.base_param}\n)"

    def state_dict(self) -> dict[str, Any]:
        """All but the sparsifier."""
        return {key: value for key, value in self.__dict__.items() if key != "data_sparsifier"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """What ``state_dict`` gave."""
        self.__dict__.update(state_dict)

    def get_last_param(self) -> dict[str, Any]:
        """The values that the last step set."""
        return self._last_param

    def step(self) -> None:
        """Sets the values of the next epoch."""
        if self._step_count == 1:
            warn_of_order(self.data_sparsifier, type(self).__name__)
        self._step_count += 1
        self.last_epoch += 1
        self._get_sp_called_within_step = True
        try:
            values = self.get_schedule_param()
        finally:
            self._get_sp_called_within_step = False
        groups = self.data_sparsifier.data_groups
        for name, group in groups.items():
            group[self.schedule_param] = values[name]
            if self.verbose:
                print(f"adjusting {self.schedule_param} of {name} to {values[name]}.")
        self._last_param = {name: group.get(self.schedule_param) for name, group in groups.items()}
        self.data_sparsifier.enable_mask_update = True
