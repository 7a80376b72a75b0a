"""Optimisers that are handed gradients, in place of finding them in ``parameter.grad``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.optim import Optimizer


class FunctionalOptimizer:
    """Steps of ``kind`` upon gradients that are given; its subclasses' arguments are those of ``kind``.

    Args:
        params: whose gradients `step` gets.
        allow_empty: they may be none, for use by `step_param` alone.
        options: what ``kind`` takes besides the parameters.

    Raises:
        ValueError: there are no parameters, or ``kind`` refuses the options.
    """

    def __init__(
        self, kind: type[Optimizer], params: Sequence[Tensor], allow_empty: bool, options: dict[str, Any]
    ) -> None:
        members = list(params)
        if not members and not allow_empty:
            raise ValueError(f"{type(self).__name__}: params is wanted as a list of tensors; got an empty one")
        forms: dict[str, Any] = {name: options[name] or None for name in ("foreach", "fused") if name in options}
        self._optimizer = kind([{"params": members}], **{**options, **forms})
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
