"""Optimisers that step for a parameter as soon as its gradient is there, which is then dropped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from taeda import Tensor, nn
from taeda.optim import Optimizer

__all__: list[str] = []


def _apply_optimizer_in_backward(
    optimizer_class: type[Optimizer],
    params: Iterable[Tensor],
    optimizer_kwargs: dict[str, Any],
    register_hook: bool = True,
) -> None:
    """Gives each parameter an optimiser of its own, which steps in backward passes.

    Args:
        optimizer_class: the optimiser.
        params: the parameters; one may have several optimisers, which step in the order in which they came.
        optimizer_kwargs: the optimiser's arguments, but for the parameters.
        register_hook: False: only note the optimisers.
    """
    parameter: Any
    for parameter in params:
        first = not hasattr(parameter, "_in_backward_optimizers")
        if first:
            parameter._in_backward_optimizers = []
            parameter._optimizer_classes = []
            parameter._optimizer_kwargs = []
        parameter._in_backward_optimizers.append(optimizer_class([parameter], **optimizer_kwargs))
        parameter._optimizer_classes.append(optimizer_class)
        parameter._optimizer_kwargs.append(optimizer_kwargs)
        if register_hook and first:
            from taeda.distributed._reducer import step_in_backward

            parameter._in_backward_hook = parameter.register_post_accumulate_grad_hook(step_in_backward)


def _get_in_backward_optimizers(module: nn.Module) -> list[Optimizer]:
    """The optimisers of the module's parameters."""
    return [one for parameter in module.parameters() for one in getattr(parameter, "_in_backward_optimizers", ())]
