"""Ways to reduce gradients, for ``DistributedDataParallel.register_comm_hook``."""

from __future__ import annotations

from taeda.distributed.algorithms.ddp_comm_hooks import default_hooks as default_hooks
