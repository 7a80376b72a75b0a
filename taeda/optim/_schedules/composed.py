"""Schedules made of other schedules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, write_option


class _ComposedLR(LRScheduler):
    _schedulers: list[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser, with the parts' states in order under ``_schedulers``."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [part.state_dict() for part in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what :meth:`state_dict` returned."""
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for part, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            part.load_state_dict(state)

    def _check_parts(self, optimizer: Optimizer | None, parts: Sequence[LRScheduler]) -> None:
        for i, part in enumerate(parts):
            if not hasattr(part, "optimizer"):
                raise TypeError(f"{type(self).__name__}: schedulers[{i}] has no optimizer; got {type(part).__name__}")
            if part.optimizer is not optimizer:
                raise ValueError(f"{type(self).__name__}: schedulers[{i}] belongs to another optimizer")


class SequentialLR(_ComposedLR):
    """One schedule after the other: ``schedulers[i + 1]`` takes over at epoch ``milestones[i]``.

    Raises:
        ValueError: no schedule, one of another optimiser, a :class:`ReduceLROnPlateau`, or not one milestone between
            each two.
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        from .plateau import ReduceLROnPlateau

        if not schedulers:
            raise ValueError("SequentialLR: wants at least one scheduler")
        self._check_parts(optimizer, schedulers)
        if any(isinstance(part, ReduceLROnPlateau) for part in schedulers):
            raise ValueError("SequentialLR: cannot hold ReduceLROnPlateau, whose step wants a metric")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"SequentialLR: wants {len(schedulers) - 1} milestones for {len(schedulers)} schedulers;"
                f" got {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each part has taken its first step on the optimiser when it was made: undo, then let only the first one act.
        for group in optimizer.param_groups:
            write_option(group, "lr", group["initial_lr"])
        for part in schedulers:
            self.recursive_undo(part)
        schedulers[0]._first_step()
        self._last_lr = schedulers[0].get_last_lr()

    def recursive_undo(self, sched: LRScheduler | None = None) -> None:
        """Takes the first step of ``sched`` (of this schedule if None) and of its parts back."""
        scheds = self if sched is None else sched
        parts = getattr(scheds, "_schedulers", None)
        if parts is not None:
            for part in parts:
                self.recursive_undo(part)
        elif hasattr(scheds, "last_epoch"):
            scheds.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Goes to the next epoch; a schedule that takes over starts at its own epoch 0."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        part = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            part._update_lr(0)
        else:
            part.step()
        self._last_lr = part.get_last_lr()


class ChainedScheduler(_ComposedLR):
    """Several schedules at once: each step runs them all, so their factors multiply.

    Raises:
        ValueError: no schedule, or one of another optimiser.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler: wants at least one scheduler")
        optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        self._check_parts(optimizer, schedulers)
        self._schedulers = list(schedulers)
        self.optimizer = optimizer
        self._last_lr = self._current()

    def step(self) -> None:  # type: ignore[override]
        """Runs the step of every schedule, in order."""
        for part in self._schedulers:
            part.step()
        self._last_lr = self._current()

    def _update_lr(self, epoch: int | None = None) -> None:
        for part in self._schedulers:
            part._update_lr(epoch)
        self._last_lr = self._current()
