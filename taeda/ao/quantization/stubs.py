"""Marks in a model: here its numbers are to become quantised, here float again."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn


class _Stub(nn.Module):
    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x


class QuantStub(_Stub):
    """Where quantisation begins. In a float model it is the identity.

    Args:
        qconfig: how to quantise here; without it, as around it.
    """


class DeQuantStub(_Stub):
    """Where quantisation ends. In a float model it is the identity.

    Args:
        qconfig: how to quantise here; without it, as around it.
    """


class QuantWrapper(nn.Module):
    """``module`` between a `QuantStub` and a `DeQuantStub`; it is in training mode if ``module`` is."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.quant = QuantStub(qconfig)
        self.dequant = DeQuantStub(qconfig)
        self.module = module
        self.train(module.training)

    def forward(self, x: Tensor) -> Tensor:
        """``module(x)``."""
        return self.dequant(self.module(self.quant(x)))
