"""Levels that rise quickly at first."""

from __future__ import annotations

from taeda.ao.pruning.scheduler.base_scheduler import BaseScheduler
from taeda.ao.pruning.sparsifier.base_sparsifier import BaseSparsifier

__all__ = ["CubicSL"]


class CubicSL(BaseScheduler):
    """From ``init_sl`` at step ``init_t`` to the groups' own levels, ``delta_t * total_t`` steps later, by a cubic
    curve (Zhu and Gupta, *To prune, or not to prune*). Before ``init_t`` it is ``init_sl``, or 0 with
    ``initially_zero``. Each may be a list with one value a group."""

    def __init__(
        self,
        sparsifier: BaseSparsifier,
        init_sl: float | list[float] = 0.0,
        init_t: int | list[int] = 0,
        delta_t: int | list[int] = 10,
        total_t: int | list[int] = 100,
        initially_zero: bool | list[bool] = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.sparsifier = sparsifier
        self.init_sl = self._make_sure_a_list(init_sl)
        self.init_t = self._make_sure_a_list(init_t)
        self.delta_t = self._make_sure_a_list(delta_t)
        self.total_t = self._make_sure_a_list(total_t)
        self.initially_zero = self._make_sure_a_list(initially_zero)
        super().__init__(sparsifier, last_epoch, verbose)

    @staticmethod
    def sparsity_compute_fn(
        s_0: float, s_f: float, t: int, t_0: int, dt: int, n: int, initially_zero: bool = False
    ) -> float:
        """The level at step ``t``."""
        if initially_zero and t < t_0:
            return 0.0
        left = 1 - (t - t_0) / (dt * n)
        return max(s_0, min(s_f, s_f + (s_0 - s_f) * left**3))

    def get_sl(self) -> list[float]:
        """The levels of this step."""
        self._warn_outside_of_step()
        groups = zip(self.init_sl, self.base_sl, self.init_t, self.delta_t, self.total_t, self.initially_zero)
        return [
            self.sparsity_compute_fn(first, last, self.last_epoch, start, every, count, zero)
            for first, last, start, every, count, zero in groups
        ]
