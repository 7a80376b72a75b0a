"""`Rprop` upon gradients that are given."""

from __future__ import annotations

from taeda.distributed.optim._functional import functional
from taeda.optim import Rprop

__all__: list[str] = []

_FunctionalRprop = functional(
    Rprop,
    lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), foreach=False, maximize=False,
)  # fmt: skip
