"""Functions as the methods of a module, so that what they give can be observed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules.utils import float_of, int_of

ops: Any = taeda.ops.quantized


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


class FXFloatFunctional(FloatFunctional):
    """The same with nothing to observe: a graph observes what its nodes give."""

    def __init__(self) -> None:
        nn.Module.__init__(self)

    def _observed(self, result: Tensor) -> Tensor:
        return result


class QFunctional(nn.Module):
    """Functions of quantised tensors, whose results have ``scale`` and ``zero_point``."""

    def __init__(self) -> None:
        super().__init__()
        self.scale: Any = 1.0
        self.zero_point: Any = 0
        self.activation_post_process: nn.Module = nn.Identity()

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = taeda.tensor(self.scale)
        destination[prefix + "zero_point"] = taeda.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        self.scale = float_of(state_dict.pop(prefix + "scale", self.scale))
        self.zero_point = int_of(state_dict.pop(prefix + "zero_point", self.zero_point))
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}"

    def forward(self, x: Tensor) -> Tensor:
        """Not to be called: the methods are.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("QFunctional.forward: call a method instead, such as add(x, y)")

    def _passed(self, result: Tensor) -> Tensor:
        passed: Tensor = self.activation_post_process(result)
        return passed

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """``x + y``."""
        return self._passed(ops.add(x, y, scale=self.scale, zero_point=self.zero_point))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x + y`` for a number ``y``."""
        return self._passed(ops.add_scalar(x, y))

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """``x * y``."""
        return self._passed(ops.mul(x, y, scale=self.scale, zero_point=self.zero_point))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x * y`` for a number ``y``."""
        return self._passed(ops.mul_scalar(x, y))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """``x @ y``."""
        return self._passed(ops.matmul(x, y, scale=self.scale, zero_point=self.zero_point))

    def cat(self, x: Sequence[Tensor], dim: int = 0) -> Tensor:
        """The tensors of ``x`` one after the other along ``dim``."""
        return self._passed(ops.cat(list(x), scale=self.scale, zero_point=self.zero_point, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """``relu(x + y)``."""
        return self._passed(ops.add_relu(x, y, scale=self.scale, zero_point=self.zero_point))

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> QFunctional:
        """Of a `FloatFunctional` that was observed."""
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        made = cls()
        made.scale, made.zero_point = float(scale), int(zero_point)
        return made
