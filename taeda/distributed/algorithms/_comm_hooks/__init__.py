"""Ways to reduce gradients that parameters in shards have."""

from __future__ import annotations

from taeda.distributed.algorithms._comm_hooks import default_hooks as default_hooks

LOW_PRECISION_HOOKS = [default_hooks.fp16_compress_hook, default_hooks.bf16_compress_hook]
