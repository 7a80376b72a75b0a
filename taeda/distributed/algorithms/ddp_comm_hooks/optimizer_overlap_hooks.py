"""A bucket's parameters take their step as soon as its gradients are reduced, while the backward pass goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from taeda import Tensor
from taeda.distributed._reducer import GradBucket
from taeda.futures import Future

__all__: list[str] = []

Hook = Callable[[Any, GradBucket], Future[Tensor]]


class _OptimizerHookState:
    """An optimiser that is handed gradients one by one (see `as_functional_optim`), and for whom: ``params``, or all.

    Raises:
        ValueError: it has no ``step_param``.
    """

    def __init__(self, functional_optim: Any, params: Iterable[Tensor] | None = None) -> None:
        if not hasattr(functional_optim, "step_param"):
            raise ValueError(
                f"_OptimizerHookState: an optimiser with step_param is wanted; got {type(functional_optim).__name__}"
            )
        self.functional_optimizer = functional_optim
        if params is not None:
            self.params_to_optimize = set(params)

    def steps(self, parameter: Tensor) -> bool:
        """Whether ``parameter`` is the optimiser's."""
        return not hasattr(self, "params_to_optimize") or parameter in self.params_to_optimize


def _hook_then_optimizer(hook: Hook, optimizer_state: _OptimizerHookState) -> Hook:
    """``hook``, and then a step of each parameter in the bucket."""

    def then_optimizer(state: Any, bucket: GradBucket) -> Future[Tensor]:
        def step(done: Future[Tensor]) -> Tensor:
            done.value()
            for parameter, gradient in zip(bucket.parameters(), bucket.gradients(), strict=True):
                if optimizer_state.steps(parameter):
                    optimizer_state.functional_optimizer.step_param(parameter, gradient)
            return bucket.buffer()

        return hook(state, bucket).then(step)

    return then_optimizer
