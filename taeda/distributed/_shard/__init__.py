"""Tensors in shards, of which a program says where each lies. `taeda.distributed.tensor` has what ops work on."""

from __future__ import annotations

from taeda.distributed._shard.api import _shard_tensor as _shard_tensor
from taeda.distributed._shard.api import load_with_process_group as load_with_process_group
from taeda.distributed._shard.api import shard_parameter as shard_parameter
