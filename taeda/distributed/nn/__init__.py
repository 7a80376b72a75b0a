"""What a group of processes does together with tensors, as functions that gradients pass through."""

from __future__ import annotations

from taeda.distributed.nn import functional as functional
from taeda.distributed.nn.functional import *  # noqa: F403
