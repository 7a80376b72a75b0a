"""`AdamW` upon gradients that are given."""

from __future__ import annotations

from taeda.distributed.optim._functional import functional
from taeda.optim import AdamW

__all__: list[str] = []

_FunctionalAdamW = functional(
    AdamW,
    lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, maximize=False, foreach=False,
    fused=False,
)  # fmt: skip
