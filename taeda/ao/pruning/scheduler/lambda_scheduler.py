"""Levels by a function of the epoch."""

from __future__ import annotations

from collections.abc import Callable

from taeda.ao.pruning.scheduler.base_scheduler import BaseScheduler
from taeda.ao.pruning.sparsifier.base_sparsifier import BaseSparsifier

__all__ = ["LambdaSL"]

Factor = Callable[[int], float]


class LambdaSL(BaseScheduler):
    """The first level times ``sl_lambda(epoch)``: one function, or one for each group."""

    def __init__(
        self,
        sparsifier: BaseSparsifier,
        sl_lambda: Factor | list[Factor],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.sparsifier = sparsifier
        self.sl_lambdas: list[Factor] = self._make_sure_a_list(sl_lambda)
        super().__init__(sparsifier, last_epoch, verbose)

    def get_sl(self) -> list[float]:
        """The levels of this epoch."""
        self._warn_outside_of_step()
        return [base * factor(self.last_epoch) for base, factor in zip(self.base_sl, self.sl_lambdas)]
