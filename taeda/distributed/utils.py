"""What wrappers of modules share."""

from __future__ import annotations

from typing import Any

from taeda import nn
from taeda.distributed._replicas import broadcast_coalesced

__all__: list[str] = []


def _sync_module_states(
    module: nn.Module, process_group: Any, broadcast_bucket_size: int, src: int,
    params_and_buffers_to_ignore: Any = (), broadcast_buffers: bool = True,
) -> None:  # fmt: skip
    """Parameters and buffers become those of the group's process ``src``."""
    ignored = set(params_and_buffers_to_ignore)
    tensors = [one.detach() for name, one in module.named_parameters() if name not in ignored]
    if broadcast_buffers:
        tensors += [one.detach() for name, one in module.named_buffers() if name not in ignored]
    broadcast_coalesced(process_group, tensors, src, broadcast_bucket_size)
