"""Optimisers that are handed gradients, in place of finding them in ``parameter.grad``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.optim import Optimizer


class FunctionalOptimizer:
    """Steps of an optimiser upon gradients that are given; its subclasses, which `functional` makes, say of which.

    Args:
        params: whose gradients `step` gets.
        options: those of the optimiser, in the order of the subclass's signature; ``_allow_empty_param_list`` allows
            for no parameters, for use by `step_param` alone.

    Raises:
        ValueError: there are no parameters, or the optimiser refuses the options.
    """

    _kind: type[Optimizer]
    _known: inspect.Signature

    def __init__(self, params: Sequence[Tensor], *args: Any, **options: Any) -> None:
        bound = self._known.bind(list(params), *args, **options)
        bound.apply_defaults()
        given = bound.arguments
        members, allow_empty = given.pop("params"), given.pop("_allow_empty_param_list")
        if not members and not allow_empty:
            raise ValueError(f"{type(self).__name__}: params is wanted as a list of tensors; got an empty one")
        taken = inspect.signature(self._kind).parameters
        forms: dict[str, Any] = {name: given[name] or None for name in ("foreach", "fused") if name in given}
        known = {name: value for name, value in {**given, **forms}.items() if name in taken}
        self._optimizer: Any = self._kind([{"params": members}], **known)
        self.defaults = self._optimizer.defaults
        self.param_group = self._optimizer.param_groups[0]
        self.state = self._optimizer.state

    def step(self, gradients: Sequence[Tensor | None]) -> None:
        """Changes all parameters; one whose gradient is None stays.

        Raises:
            ValueError: there are more or fewer gradients than parameters.
        """
        members = self.param_group["params"]
        if len(members) != len(gradients):
            raise ValueError(
                f"{type(self).__name__}.step: a gradient is wanted for each of {len(members)} parameters; got "
                f"{len(gradients)}"
            )
        self._step(members, gradients)

    def step_param(self, param: Tensor, grad: Tensor | None) -> None:
        """Changes one parameter, which may be new."""
        self._step([param], [grad])

    @taeda.no_grad()
    def _step(self, params: list[Tensor], gradients: Sequence[Tensor | None]) -> None:
        members, kept = self.param_group["params"], [param.grad for param in params]
        try:
            self.param_group["params"] = params
            for param, gradient in zip(params, gradients, strict=True):
                param.grad = gradient
            self._optimizer.step()
        finally:
            self.param_group["params"] = members
            for param, gradient in zip(params, kept, strict=True):
                param.grad = gradient


def functional(kind: type[Optimizer], **defaults: Any) -> type[FunctionalOptimizer]:
    """The form of ``kind`` that is handed gradients.

    Args:
        kind: an optimiser.
        defaults: the arguments after the parameters, in order; those that ``kind`` has not have no effect.
    """
    names = {"params": inspect.Parameter.empty, **defaults, "_allow_empty_param_list": False}
    known = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=names[name]) for name in names]
    )
    doc = f"`taeda.optim.{kind.__name__}` whose ``step`` takes the gradients."
    body = {"_kind": kind, "_known": known, "__signature__": known, "__doc__": doc}
    return type(f"_Functional{kind.__name__}", (FunctionalOptimizer,), body)
