"""`SGD` upon gradients that are given."""

from __future__ import annotations

from taeda.distributed.optim._functional import functional
from taeda.optim import SGD

__all__: list[str] = []

_FunctionalSGD = functional(
    SGD,
    lr=1e-2, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False, foreach=False,
    fused=False,
)  # fmt: skip
