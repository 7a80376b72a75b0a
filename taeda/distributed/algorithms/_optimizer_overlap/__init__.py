"""Optimisers that take their steps within the backward pass."""

from __future__ import annotations

from taeda.distributed.algorithms._optimizer_overlap.optimizer_overlap import (
    _as_overlapped_optim as _as_overlapped_optim,
)
