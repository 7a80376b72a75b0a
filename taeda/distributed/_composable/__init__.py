"""What is added to modules without a wrapper around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taeda.distributed._composable.checkpoint_activation import checkpoint as checkpoint
from taeda.distributed._composable.contract import _get_registry as _get_registry
from taeda.distributed._composable.contract import contract as contract
from taeda.distributed.fsdp import fully_shard as fully_shard

if TYPE_CHECKING:
    from taeda.distributed._composable.replicate import replicate as replicate

__all__ = ["checkpoint", "contract", "fully_shard", "replicate"]


def __getattr__(name: str) -> Any:
    if name == "replicate":  # with replicas of modules, which few programs want that ask for this package
        from taeda.distributed._composable.replicate import replicate

        return replicate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
