"""`Adamax` upon gradients that are given."""

from __future__ import annotations

from taeda.distributed.optim._functional import functional
from taeda.optim import Adamax

__all__: list[str] = []

_FunctionalAdamax = functional(
    Adamax,
    lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, foreach=False, maximize=False,
)  # fmt: skip
