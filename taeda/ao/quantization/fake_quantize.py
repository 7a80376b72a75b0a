"""The base class of modules that round as quantisation will, while training, and the switches of such modules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.quantization.observer import with_args


class FakeQuantizeBase(ABC, nn.Module):
    """Watches tensors and rounds them as quantisation will.

    A subclass defines ``forward`` and ``calculate_qparams``, and heeds two buffers of one element:
    ``fake_quant_enabled``, whether to round, and ``observer_enabled``, whether to watch.
    """

    fake_quant_enabled: Tensor
    observer_enabled: Tensor
    with_args = classmethod(with_args)

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fake_quant_enabled", taeda.tensor([1], dtype=taeda.uint8))
        self.register_buffer("observer_enabled", taeda.tensor([1], dtype=taeda.uint8))

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Takes note of ``x`` and returns it rounded."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: Any) -> Any:
        """Scale and zero point by what was seen."""

    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Rounds from now on, or does not."""
        self.fake_quant_enabled[0] = int(enabled)

    def disable_fake_quant(self) -> None:
        """Does not round from now on."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        """Watches from now on, or does not."""
        self.observer_enabled[0] = int(enabled)

    def disable_observer(self) -> None:
        """Does not watch from now on."""
        self.enable_observer(False)


def enable_fake_quant(mod: nn.Module) -> None:
    """``mod.enable_fake_quant()`` where it has that: for ``model.apply``."""
    if isinstance(mod, FakeQuantizeBase):
        mod.enable_fake_quant()


def disable_fake_quant(mod: nn.Module) -> None:
    """``mod.disable_fake_quant()`` where it has that: for ``model.apply``."""
    if isinstance(mod, FakeQuantizeBase):
        mod.disable_fake_quant()


def enable_observer(mod: nn.Module) -> None:
    """``mod.enable_observer()`` where it has that: for ``model.apply``."""
    if isinstance(mod, FakeQuantizeBase):
        mod.enable_observer()


def disable_observer(mod: nn.Module) -> None:
    """``mod.disable_observer()`` where it has that: for ``model.apply``."""
    if isinstance(mod, FakeQuantizeBase):
        mod.disable_observer()
