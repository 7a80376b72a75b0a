"""An optimiser that keeps the state of its process's share of the parameters (Rajbhandari et al., 2020)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import taeda
from taeda.distributed._world import _made
from taeda.optim import Optimizer


class ZeroRedundancyOptimizer(Optimizer):
    """``optimizer_class`` over the parameters that are this process's share: in a group of one process, all of them.

    Args:
        params: the tensors, or dictionaries of groups of them.
        optimizer_class: the optimiser of the share, which ``optim`` is.
        process_group: who divides the parameters, by default the whole world.
        parameters_as_bucket_view, overlap_with_ddp: accepted; with one process there is nothing to send.
        defaults: the optimiser's own arguments.

    Raises:
        ValueError: there is no process group.
        TypeError: ``params`` is no iterable of tensors or dictionaries.
    """

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        self.process_group = _made(process_group)
        self.optim = optimizer_class(list(params), **defaults)
        super().__init__(self.optim.param_groups, self.optim.defaults)
        self._share()
        self._is_consolidated = False

    def _share(self) -> None:
        self.param_groups, self.state = self.optim.param_groups, self.optim.state

    @taeda.no_grad()
    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """One step of the share, then everybody's values to everybody. Returns what ``closure`` does."""
        self._is_consolidated = False
        if closure is not None:
            kwargs["closure"] = closure
        return self.optim.step(**kwargs)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own."""
        if self.param_groups is self.optim.param_groups:
            self.optim.add_param_group(param_group)
        else:
            super().add_param_group(param_group)

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Brings the state of all shares to the process ``to``, before `state_dict` there."""
        self._is_consolidated = True

    def state_dict(self) -> dict[str, Any]:
        """The state of all shares. RuntimeError unless `consolidate_state_dict` has brought it here."""
        if not self._is_consolidated:
            raise RuntimeError(
                "taeda.distributed.optim.ZeroRedundancyOptimizer.state_dict: call consolidate_state_dict() on every "
                "process first"
            )
        return self.optim.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes up the state of all shares."""
        self.optim.load_state_dict(state_dict)
        self._share()
