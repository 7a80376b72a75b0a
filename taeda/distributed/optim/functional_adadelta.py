"""`Adadelta` upon gradients that are given."""

from __future__ import annotations

from taeda.distributed.optim._functional import functional
from taeda.optim import Adadelta

__all__: list[str] = []

_FunctionalAdadelta = functional(
    Adadelta,
    lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0, foreach=False, maximize=False,
)  # fmt: skip
