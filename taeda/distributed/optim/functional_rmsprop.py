"""`RMSprop` upon gradients that are given."""

from __future__ import annotations

from taeda.distributed.optim._functional import functional
from taeda.optim import RMSprop

__all__: list[str] = []

_FunctionalRMSprop = functional(
    RMSprop,
    lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False, foreach=False,
    maximize=False,
)  # fmt: skip
