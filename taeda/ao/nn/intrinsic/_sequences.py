"""One class for each sequence of modules that can be made one."""

from __future__ import annotations

from typing import ClassVar

from taeda import nn


class FusedModule(nn.Sequential):
    """Modules of the types ``parts``, in this order."""

    parts: ClassVar[tuple[type[nn.Module], ...]] = ()

    def __init__(self, *modules: nn.Module) -> None:
        got = tuple(type(module) for module in modules)
        if not (len(got) == len(self.parts) and all(map(issubclass, got, self.parts))):
            raise AssertionError(
                f"{type(self).__name__}: takes {', '.join(part.__name__ for part in self.parts)}; "
                f"got {', '.join(part.__name__ for part in got)}"
            )
        super().__init__(*modules)


class ConvReLU1d(FusedModule):
    """``Conv1d``, ``ReLU``."""

    parts = (nn.Conv1d, nn.ReLU)


class ConvReLU2d(FusedModule):
    """``Conv2d``, ``ReLU``."""

    parts = (nn.Conv2d, nn.ReLU)


class ConvReLU3d(FusedModule):
    """``Conv3d``, ``ReLU``."""

    parts = (nn.Conv3d, nn.ReLU)


class LinearReLU(FusedModule):
    """``Linear``, ``ReLU``."""

    parts = (nn.Linear, nn.ReLU)


class ConvBn1d(FusedModule):
    """``Conv1d``, ``BatchNorm1d``."""

    parts = (nn.Conv1d, nn.BatchNorm1d)


class ConvBn2d(FusedModule):
    """``Conv2d``, ``BatchNorm2d``."""

    parts = (nn.Conv2d, nn.BatchNorm2d)


class ConvBn3d(FusedModule):
    """``Conv3d``, ``BatchNorm3d``."""

    parts = (nn.Conv3d, nn.BatchNorm3d)


class ConvBnReLU1d(FusedModule):
    """``Conv1d``, ``BatchNorm1d``, ``ReLU``."""

    parts = (nn.Conv1d, nn.BatchNorm1d, nn.ReLU)


class ConvBnReLU2d(FusedModule):
    """``Conv2d``, ``BatchNorm2d``, ``ReLU``."""

    parts = (nn.Conv2d, nn.BatchNorm2d, nn.ReLU)


class ConvBnReLU3d(FusedModule):
    """``Conv3d``, ``BatchNorm3d``, ``ReLU``."""

    parts = (nn.Conv3d, nn.BatchNorm3d, nn.ReLU)


class BNReLU2d(FusedModule):
    """``BatchNorm2d``, ``ReLU``."""

    parts = (nn.BatchNorm2d, nn.ReLU)


class BNReLU3d(FusedModule):
    """``BatchNorm3d``, ``ReLU``."""

    parts = (nn.BatchNorm3d, nn.ReLU)


class LinearBn1d(FusedModule):
    """``Linear``, ``BatchNorm1d``."""

    parts = (nn.Linear, nn.BatchNorm1d)
