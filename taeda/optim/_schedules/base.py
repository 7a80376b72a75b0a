"""What all schedules share: the epoch counter and the writing of rates into the optimiser's groups."""

from __future__ import annotations

import warnings
from typing import Any

from taeda import Tensor

from ..optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = "LRScheduler.step: the epoch argument is deprecated"


def copied(value: Any) -> Any:
    """A value that later in-place changes of a tensor rate do not reach."""
    return value.clone() if isinstance(value, Tensor) else value


def write_option(group: dict[str, Any], name: str, value: Any) -> None:
    """Sets an option; a tensor option is filled in place, so that compiled steps see the change."""
    if isinstance(group.get(name), Tensor):
        group[name].fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group[name] = value


def per_group(optimizer: Optimizer, name: str, value: Any) -> list[Any]:
    """``value`` for each group: a list or tuple as it is, anything else repeated.

    Raises:
        ValueError: a list of the wrong length.
    """
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(f"{name}: wants one value per parameter group ({count}); got {len(value)}")
    return [copied(one) for one in value]


class LRScheduler:
    """Sets the learning rate of each group once at construction and then at every ``step()``.

    A subclass defines ``get_lr()``, which returns the rates for ``self.last_epoch``, and may define
    ``_get_closed_form_lr()`` for jumps by ``step(epoch)``. ``last_epoch`` other than -1 resumes a schedule and wants
    ``initial_lr`` in every group.

    Raises:
        TypeError: ``optimizer`` is no :class:`Optimizer`.
        KeyError: a schedule is resumed and a group has no ``initial_lr``.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(self).__name__}: wants an Optimizer; got {type(optimizer).__name__}")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"{type(self).__name__}: resuming wants 'initial_lr' in param_groups[{i}]")
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._first_step()

    def _first_step(self) -> None:
        self._step_count = 0
        self.optimizer._step_when_scheduled = vars(self.optimizer).get("step")  # type: ignore[attr-defined]
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what :meth:`state_dict` returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that the last step set."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates for ``self.last_epoch``, one per group."""
        raise NotImplementedError(f"{type(self).__name__}.get_lr: a schedule must define get_lr")

    def step(self, epoch: int | None = None) -> None:
        """Goes to the next epoch, or to ``epoch`` (deprecated), and sets the rates."""
        self._warn_if_early()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        """Goes to ``epoch`` or one on and sets the rates, without counting it as a step."""
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = getattr(self, "_get_closed_form_lr", self.get_lr)()
        finally:
            self._get_lr_called_within_step = False
        self._set_lrs(rates)

    def _set_lrs(self, rates: list[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=False):
            write_option(group, "lr", lr)
        self._last_lr = self._current()

    def _current(self) -> list[Any]:
        return [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _warn_if_early(self) -> None:
        if self._step_count != 1:
            return
        if vars(self.optimizer).get("step") is not getattr(self.optimizer, "_step_when_scheduled", None):
            warnings.warn(
                "optimizer.step was replaced after the schedule was made, which cannot see that it is called; replace "
                "it before",
                UserWarning,
                stacklevel=3,
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "lr_scheduler.step() came before optimizer.step(): the first value of the schedule is skipped",
                UserWarning,
                stacklevel=3,
            )

    def _warn_if_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "get_lr() is meant for step(); get_last_lr() gives the current rate", UserWarning, stacklevel=3
            )


class FactorLR(LRScheduler):
    """A schedule that multiplies the current rate, whoever set it, by :meth:`_factor` at each step."""

    def _factor(self) -> float | None:
        """The factor that leads to ``self.last_epoch``; None leaves the rates alone."""
        raise NotImplementedError(f"{type(self).__name__} must define _factor")

    def get_lr(self) -> list[Any]:
        self._warn_if_outside_step()
        factor = self._factor()
        rates = self._current()
        return rates if factor is None else [lr * factor for lr in rates]
