"""What is added to modules without a wrapper around them."""

from __future__ import annotations

from taeda.distributed.fsdp import fully_shard as fully_shard

__all__ = ["fully_shard"]
