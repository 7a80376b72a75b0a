"""`Adagrad` upon gradients that are given."""

from __future__ import annotations

from taeda.distributed.optim._functional import functional
from taeda.optim import Adagrad

__all__: list[str] = []

_FunctionalAdagrad = functional(
    Adagrad,
    lr=1e-2, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0, warmup_lr_multiplier=1.0,
    warmup_num_iters=0.0, eps=1e-10, coalesce_grad=True, foreach=False, fused=False, maximize=False,
)  # fmt: skip
