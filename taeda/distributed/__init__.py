"""Groups of processes and what they do together."""

from __future__ import annotations

import importlib as _importlib
import os as _os
from typing import Any as _Any

from taeda.distributed._given_reducer import Reducer as Reducer
from taeda.distributed._reducer import FIRST_BUCKET_BYTES as _DEFAULT_FIRST_BUCKET_BYTES  # noqa: F401
from taeda.distributed.device_mesh import DeviceMesh as DeviceMesh
from taeda.distributed.device_mesh import init_device_mesh as init_device_mesh
from taeda.distributed.distributed_c10d import *  # noqa: F403
from taeda.distributed.distributed_c10d import GradBucket as GradBucket
from taeda.distributed.distributed_c10d import GroupMember as GroupMember
from taeda.distributed.distributed_c10d import ProcessGroup as ProcessGroup
from taeda.distributed.distributed_c10d import Work as Work
from taeda.distributed.distributed_c10d import _all_gather_base as _all_gather_base
from taeda.distributed.distributed_c10d import _broadcast_coalesced as _broadcast_coalesced
from taeda.distributed.distributed_c10d import _coalescing_manager as _coalescing_manager
from taeda.distributed.distributed_c10d import _CoalescingManager as _CoalescingManager
from taeda.distributed.distributed_c10d import (
    _compute_bucket_assignment_by_size as _compute_bucket_assignment_by_size,
)
from taeda.distributed.distributed_c10d import _ControlCollectives as _ControlCollectives
from taeda.distributed.distributed_c10d import _make_nccl_premul_sum as _make_nccl_premul_sum
from taeda.distributed.distributed_c10d import _rank_not_in_group as _rank_not_in_group
from taeda.distributed.distributed_c10d import _reduce_scatter_base as _reduce_scatter_base
from taeda.distributed.distributed_c10d import _StoreCollectives as _StoreCollectives
from taeda.distributed.distributed_c10d import _Work as _Work
from taeda.distributed.distributed_c10d import group as group

if "TORCHELASTIC_ERROR_FILE" in _os.environ:  # a launcher wants to know why a worker of its fails
    from taeda.distributed.elastic.multiprocessing.errors.error_handler import record_uncaught as _record_uncaught

    _record_uncaught()


def __getattr__(name: str) -> _Any:
    # What PyTorch has loaded once torch.distributed is there, and few programs use.
    if name in ("algorithms", "autograd", "c10d_logger", "remote_device", "rpc", "utils"):
        return _importlib.import_module(f"{__name__}.{name}")
    from taeda._main.absent import missing

    raise missing(__name__, name)
