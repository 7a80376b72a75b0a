"""What schedulers of sparsity share: counted steps, levels by group, and their state."""

from __future__ import annotations

import functools
import warnings
import weakref
from typing import Any

from taeda.ao.pruning.sparsifier.base_sparsifier import BaseSparsifier

__all__ = ["BaseScheduler", "count_steps", "warn_of_order"]


def count_steps(sparsifier: Any) -> None:
    """Lets a sparsifier count its steps from 0 on, in ``_step_count``."""
    sparsifier._step_count = 0
    if getattr(sparsifier.step, "_with_counter", False):
        return
    owner, plain = weakref.ref(sparsifier), sparsifier.step.__func__

    @functools.wraps(plain)
    def step(*args: Any, **kwargs: Any) -> Any:
        of = owner()
        of._step_count += 1
        return plain(of, *args, **kwargs)

    step._with_counter = True  # type: ignore[attr-defined]
    sparsifier.step = step


def warn_of_order(sparsifier: Any, who: str) -> None:
    """For the second step of a scheduler: the sparsifier must have made one before it."""
    if not hasattr(sparsifier.step, "_with_counter"):
        message = f"{who}.step: the sparsifier's step was replaced after the scheduler was made, so it is not counted"
    elif sparsifier._step_count < 1:
        message = f"{who}.step came before the sparsifier's step: call them the other way round"
    else:
        return
    warnings.warn(message, UserWarning, stacklevel=3)


class BaseScheduler:
    """Sets ``sparsity_level`` of a sparsifier's groups at each ``step``; subclasses say in ``get_sl`` to what."""

    def __init__(self, sparsifier: BaseSparsifier, last_epoch: int = -1, verbose: bool = False) -> None:
        if not isinstance(sparsifier, BaseSparsifier):
            raise TypeError(f"{type(self).__name__}: sparsifier must be a BaseSparsifier; got {type(sparsifier)}")
        self.sparsifier = sparsifier
        self.base_sl: list[float] = [group["sparsity_level"] for group in sparsifier.groups]
        self.last_epoch = last_epoch
        count_steps(sparsifier)
        self._step_count = 0
        self.verbose = verbose
        self._get_sl_called_within_step = False
        self.step()

    def state_dict(self) -> dict[str, Any]:
        """All but the sparsifier."""
        return {key: value for key, value in self.__dict__.items() if key != "sparsifier"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """What ``state_dict`` gave."""
        self.__dict__.update(state_dict)

    def get_last_sl(self) -> list[float]:
        """The levels that the last step set."""
        return self._last_sl

    def get_sl(self) -> list[float]:
        """The level of each group now; to be overridden."""
        self._warn_outside_of_step()
        raise NotImplementedError(f"{type(self).__name__}: a scheduler must define get_sl")

    def _warn_outside_of_step(self) -> None:
        if not self._get_sl_called_within_step:
            warnings.warn(f"{type(self).__name__}: the last levels are what get_last_sl() gives", stacklevel=3)

    def print_sl(self, is_verbose: bool, group: Any, sl: float, epoch: int | None = None) -> None:
        """Tells of a level that was set, if wanted."""
        if is_verbose:
            when = "" if epoch is None else f"Epoch {epoch:5}: "
            print(f"{when}adjusting the sparsity level of group {group} to {sl:.4e}.")

    def __repr__(self) -> str:
        return f"{type(self).__name__} (\n{self.sparsifier}\n    base_sl: {self.base_sl}\n)"

    def step(self, epoch: int | None = None) -> None:
        """Sets the levels of the next epoch."""
        if self._step_count == 1:
            warn_of_order(self.sparsifier, type(self).__name__)
        self._step_count += 1
        self.last_epoch += 1
        self._get_sl_called_within_step = True
        try:
            levels = self.get_sl()
        finally:
            self._get_sl_called_within_step = False
        for i, (group, level) in enumerate(zip(self.sparsifier.groups, levels)):
            group["sparsity_level"] = level
            self.print_sl(self.verbose, i, level, epoch)
        self._last_sl = [group["sparsity_level"] for group in self.sparsifier.groups]
        self.sparsifier.enable_mask_update = True

    def _make_sure_a_list(self, var: Any) -> list[Any]:
        """One value a group: a single one serves all."""
        count = len(self.sparsifier.groups)
        if not isinstance(var, (list, tuple)):
            return [var] * count
        if len(var) != count:
            raise ValueError(f"{type(self).__name__}: {count} groups need as many values; got {len(var)}")
        return list(var)
