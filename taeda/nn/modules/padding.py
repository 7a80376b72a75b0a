"""Padding of the last dimensions. Widths are given as `taeda.nn.functional.pad` takes them: last dimension first."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn._functional.sizes import ntuple
from taeda.nn.modules.module import Module

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    _mode: str
    _spatial: int
    padding: tuple[int, ...]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = ntuple(2 * self._spatial, "widths")(padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    value: float

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Adds ``value`` around the last dimension.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
        value: the number added.
    """

    _spatial = 1


class ConstantPad2d(_ConstantPadNd):
    """Adds ``value`` around the last 2 dimensions.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
        value: the number added.
    """

    _spatial = 2


class ConstantPad3d(_ConstantPadNd):
    """Adds ``value`` around the last 3 dimensions.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
        value: the number added.
    """

    _spatial = 3


class _ZeroPad(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Adds zeros around the last dimension.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Adds zeros around the last 2 dimensions.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Adds zeros around the last 3 dimensions.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """


class _ReflectionPadNd(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Mirrors at the ends of the last dimension, the end element not repeated.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """

    _spatial = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Mirrors at the ends of the last 2 dimensions, the end elements not repeated.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """

    _spatial = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Mirrors at the ends of the last 3 dimensions, the end elements not repeated.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """

    _spatial = 3


class _ReplicationPadNd(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Repeats the end elements of the last dimension.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """

    _spatial = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Repeats the end elements of the last 2 dimensions.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """

    _spatial = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Repeats the end elements of the last 3 dimensions.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """

    _spatial = 3


class _CircularPadNd(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (self._spatial + 1, self._spatial + 2):
            raise ValueError(
                f"taeda.nn.{type(self).__name__}: expected {self._spatial + 1} or {self._spatial + 2} dimensions; got "
                f"{tuple(input.shape)}"
            )
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """Continues the last dimension from its other end.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """

    _spatial = 1


class CircularPad2d(_CircularPadNd):
    """Continues the last 2 dimensions from their other ends.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """

    _spatial = 2


class CircularPad3d(_CircularPadNd):
    """Continues the last 3 dimensions from their other ends.

    Args:
        padding: elements to add, negative to cut: one number, or (before, after) of the last dimension, then of those
            before it.
    """

    _spatial = 3
