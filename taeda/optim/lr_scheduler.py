"""Learning rate schedules: each ``step()`` sets the learning rate of every parameter group of an optimiser."""

from __future__ import annotations

from ._schedules.base import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from ._schedules.base import LRScheduler
from ._schedules.composed import ChainedScheduler, SequentialLR
from ._schedules.cyclic import CyclicLR, OneCycleLR
from ._schedules.plateau import ReduceLROnPlateau
from ._schedules.simple import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]


class _LRScheduler(LRScheduler):
    """The former name of :class:`LRScheduler`."""
