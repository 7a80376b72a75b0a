"""Functions as the methods of a module, so that what they give can be observed."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor, nn


class FloatFunctional(nn.Module):
    """Functions of float tensors. What each gives passes through the submodule ``activation_post_process``.

    Quantisation puts an observer there; until then it is the identity.
    """

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process: nn.Module = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Not to be called: the methods are.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("FloatFunctional.forward: call a method instead, such as add(x, y)")

    def _observed(self, result: Tensor) -> Tensor:
        observed: Tensor = self.activation_post_process(result)
        return observed

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """``x + y``."""
        return self._observed(taeda.add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x + y`` for a number ``y``; not observed, as the result's range follows from the argument's."""
        return taeda.add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """``x * y``."""
        return self._observed(taeda.mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x * y`` for a number ``y``; not observed, as the result's range follows from the argument's."""
        return taeda.mul(x, y)

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """``x @ y``."""
        return self._observed(taeda.matmul(x, y))

    def cat(self, x: Sequence[Tensor], dim: int = 0) -> Tensor:
        """The tensors of ``x`` one after the other along ``dim``."""
        return self._observed(taeda.cat(tuple(x), dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """``relu(x + y)``."""
        return self._observed(taeda.relu(taeda.add(x, y)))
