"""How finely a tensor is quantised: words that torchao and graphs exported for it use."""

from __future__ import annotations

import enum
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from taeda import Tensor, nn


class MappingType(enum.Enum):
    """Where the range lies."""

    SYMMETRIC = enum.auto()
    SYMMETRIC_NO_CLIPPING_ERR = enum.auto()
    ASYMMETRIC = enum.auto()


class ZeroPointDomain(enum.Enum):
    """What a zero point is."""

    INT = enum.auto()
    FLOAT = enum.auto()
    NONE = enum.auto()


class TorchAODType(enum.Enum):
    """Small integers that have no dtype."""

    INT1 = enum.auto()
    INT2 = enum.auto()
    INT3 = enum.auto()
    INT4 = enum.auto()
    INT5 = enum.auto()
    INT6 = enum.auto()
    INT7 = enum.auto()


@dataclass(frozen=True)
class Granularity:
    """What shares a scale."""


@dataclass(frozen=True)
class PerBlock(Granularity):
    """Blocks of this shape."""

    block_size: tuple[int, ...]


@dataclass(frozen=True)
class PerTensor(Granularity):
    """All of the tensor."""


@dataclass(frozen=True)
class PerAxis(Granularity):
    """Each slice along an axis."""

    axis: int


@dataclass(frozen=True)
class PerGroup(Granularity):
    """So many neighbours in the last dimension."""

    group_size: int


class PerRow(Granularity):
    """Each row."""


class PerToken(Granularity):
    """Each vector of the last dimension."""


def get_block_size(input_shape: tuple[int, ...], granularity: Granularity) -> tuple[int, ...]:
    """The shape of what shares a scale.

    Raises:
        ValueError: the granularity is unknown.
    """
    if isinstance(granularity, PerTensor):
        return input_shape
    if isinstance(granularity, PerBlock):
        return granularity.block_size
    if isinstance(granularity, PerAxis):
        return tuple(1 if d == granularity.axis % len(input_shape) else n for d, n in enumerate(input_shape))
    ones = (1,) * (len(input_shape) - 1)
    if isinstance(granularity, (PerRow, PerToken)):
        return (*ones, input_shape[-1])
    if isinstance(granularity, PerGroup):
        if input_shape[-1] % granularity.group_size:
            raise AssertionError(f"groups of {granularity.group_size} do not divide {input_shape[-1]}")
        return (*ones, granularity.group_size)
    raise ValueError(f"get_block_size: unknown granularity {granularity}")


class AffineQuantizedObserverBase(nn.Module):
    """An observer for levels at equal distances, of blocks of whatever granularity."""

    def __init__(
        self,
        mapping_type: MappingType,
        target_dtype: Any,
        granularity: Granularity,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float | None = None,
        scale_dtype: Any = None,
        zero_point_dtype: Any = None,
        preserve_zero: bool = True,
        zero_point_domain: ZeroPointDomain | None = ZeroPointDomain.INT,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if zero_point_domain is None:
            raise AssertionError("AffineQuantizedObserverBase: zero_point_domain must be given; NONE is one")
        self.mapping_type, self.target_dtype, self.granularity = mapping_type, target_dtype, granularity
        self.quant_min, self.quant_max, self.eps = quant_min, quant_max, eps
        self.scale_dtype, self.zero_point_dtype = scale_dtype, zero_point_dtype
        self.preserve_zero, self.zero_point_domain = preserve_zero, zero_point_domain

    @abstractmethod
    def forward(self, input: Tensor) -> Tensor:
        """Takes note of ``input`` and returns it."""

    @abstractmethod
    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scales and zero points by what was seen."""
