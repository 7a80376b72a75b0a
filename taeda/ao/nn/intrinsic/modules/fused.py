"""One class for each sequence of modules that can be made one."""

from __future__ import annotations

from typing import Any, ClassVar

from taeda import Tensor, nn


class _FusedModule(nn.Sequential):
    """Modules of the types ``parts``, in this order; whichever they are in a class of the user's that says no types."""

    parts: ClassVar[tuple[type[nn.Module], ...]] = ()

    def __init__(self, *modules: nn.Module) -> None:
        got = tuple(type(module) for module in modules)
        if self.parts and not (len(got) == len(self.parts) and all(map(issubclass, got, self.parts))):
            raise AssertionError(
                f"{type(self).__name__}: takes {', '.join(part.__name__ for part in self.parts)}; "
                f"got {', '.join(part.__name__ for part in got)}"
            )
        super().__init__(*modules)


class ConvReLU1d(_FusedModule):
    """``Conv1d``, ``ReLU``."""

    parts = (nn.Conv1d, nn.ReLU)


class ConvReLU2d(_FusedModule):
    """``Conv2d``, ``ReLU``."""

    parts = (nn.Conv2d, nn.ReLU)


class ConvReLU3d(_FusedModule):
    """``Conv3d``, ``ReLU``."""

    parts = (nn.Conv3d, nn.ReLU)


class LinearReLU(_FusedModule):
    """``Linear``, ``ReLU``."""

    parts = (nn.Linear, nn.ReLU)


class ConvBn1d(_FusedModule):
    """``Conv1d``, ``BatchNorm1d``."""

    parts = (nn.Conv1d, nn.BatchNorm1d)


class ConvBn2d(_FusedModule):
    """``Conv2d``, ``BatchNorm2d``."""

    parts = (nn.Conv2d, nn.BatchNorm2d)


class ConvBn3d(_FusedModule):
    """``Conv3d``, ``BatchNorm3d``."""

    parts = (nn.Conv3d, nn.BatchNorm3d)


class ConvBnReLU1d(_FusedModule):
    """``Conv1d``, ``BatchNorm1d``, ``ReLU``."""

    parts = (nn.Conv1d, nn.BatchNorm1d, nn.ReLU)


class ConvBnReLU2d(_FusedModule):
    """``Conv2d``, ``BatchNorm2d``, ``ReLU``."""

    parts = (nn.Conv2d, nn.BatchNorm2d, nn.ReLU)


class ConvBnReLU3d(_FusedModule):
    """``Conv3d``, ``BatchNorm3d``, ``ReLU``."""

    parts = (nn.Conv3d, nn.BatchNorm3d, nn.ReLU)


class BNReLU2d(_FusedModule):
    """``BatchNorm2d``, ``ReLU``."""

    parts = (nn.BatchNorm2d, nn.ReLU)


class BNReLU3d(_FusedModule):
    """``BatchNorm3d``, ``ReLU``."""

    parts = (nn.BatchNorm3d, nn.ReLU)


class LinearBn1d(_FusedModule):
    """``Linear``, ``BatchNorm1d``."""

    parts = (nn.Linear, nn.BatchNorm1d)


class LinearLeakyReLU(_FusedModule):
    """``Linear``, ``LeakyReLU``."""

    parts = (nn.Linear, nn.LeakyReLU)


class LinearTanh(_FusedModule):
    """``Linear``, ``Tanh``."""

    parts = (nn.Linear, nn.Tanh)


class ConvAdd2d(nn.Sequential):
    """``Conv2d``, and the sum of its result and another tensor."""

    def __init__(self, conv: nn.Module, add: Any) -> None:
        super().__init__(conv)
        self.add = add

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:  # type: ignore[override]
        """``add(conv(x1), x2)``."""
        result: Tensor = self.add(self[0](x1), x2)
        return result


class ConvAddReLU2d(ConvAdd2d):
    """``Conv2d``, the sum of its result and another tensor, and ``ReLU``."""

    def __init__(self, conv: nn.Module, add: Any, relu: nn.Module) -> None:
        super().__init__(conv, add)
        self.relu = relu

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:  # type: ignore[override]
        """``relu(add(conv(x1), x2))``."""
        result: Tensor = self.relu(super().forward(x1, x2))
        return result
