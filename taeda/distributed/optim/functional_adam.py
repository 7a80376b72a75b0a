"""`Adam` upon gradients that are given."""

from __future__ import annotations

from taeda.distributed.optim._functional import functional
from taeda.optim import Adam

__all__: list[str] = []

_FunctionalAdam = functional(
    Adam,
    lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, maximize=False, foreach=False,
    fused=False,
)  # fmt: skip
