"""An optimiser after whose steps parameters are averaged now and then."""

from __future__ import annotations

from typing import Any

from taeda.distributed.algorithms.model_averaging.averagers import ModelAverager
from taeda.optim import Optimizer


class PostLocalSGDOptimizer(Optimizer):
    """``optim``, after each of whose steps ``averager`` averages the parameters if it is time.

    Used with ``post_localSGD_hook``, which averages gradients at first.
    """

    def __init__(self, optim: Optimizer, averager: ModelAverager) -> None:
        self.optim, self.averager = optim, averager
        self.param_groups = optim.param_groups

    @property
    def state(self) -> Any:  # type: ignore[override]
        """The state of ``optim``."""
        return self.optim.state

    def __repr__(self) -> str:
        return repr(self.optim)

    def state_dict(self) -> dict[str, Any]:
        """That of ``optim``, and the averager's ``step``."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes up what `state_dict` gave."""
        self.optim.load_state_dict(state_dict)
        self.param_groups = self.optim.param_groups
        self.averager.step = state_dict.get("step", 0)

    def step(self, closure: Any = None) -> Any:
        """A step of ``optim``, and the averager's."""
        result = self.optim.step() if closure is None else self.optim.step(closure)
        self.averager.average_parameters(self.param_groups)
        return result

    def zero_grad(self, set_to_none: bool = True) -> None:
        """That of ``optim``."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """That of ``optim``."""
        self.optim.add_param_group(param_group)
