"""Process groups and collectives, under the name of the module that programs also take them from."""

from __future__ import annotations

from taeda.distributed._asides import *  # noqa: F403
from taeda.distributed._backend import *  # noqa: F403
from taeda.distributed._backend import DistributedBackendOptions as _DistributedBackendOptions  # noqa: F401
from taeda.distributed._backend_class import Backend as _Backend  # noqa: F401
from taeda.distributed._barriers import *  # noqa: F403
from taeda.distributed._coalescing import _coalescing_manager as _coalescing_manager
from taeda.distributed._coalescing import _CoalescingManager as _CoalescingManager
from taeda.distributed._collectives import *  # noqa: F403
from taeda.distributed._collectives import _all_gather_base as _all_gather_base
from taeda.distributed._collectives import _reduce_scatter_base as _reduce_scatter_base
from taeda.distributed._control_collectives import _ControlCollectives as _ControlCollectives
from taeda.distributed._control_collectives import _StoreCollectives as _StoreCollectives
from taeda.distributed._debug import *  # noqa: F403
from taeda.distributed._engine import ProcessGroupGloo as ProcessGroupGloo
from taeda.distributed._errors import *  # noqa: F403
from taeda.distributed._group import GroupMember as GroupMember
from taeda.distributed._group import ProcessGroup as ProcessGroup
from taeda.distributed._group import Work as Work
from taeda.distributed._group import group as group
from taeda.distributed._messages import *  # noqa: F403
from taeda.distributed._new_group import *  # noqa: F403
from taeda.distributed._objects import *  # noqa: F403
from taeda.distributed._options import *  # noqa: F403
from taeda.distributed._queries import *  # noqa: F403
from taeda.distributed._queries import _get_default_group as _get_default_group
from taeda.distributed._queries import _get_default_store as _get_default_store
from taeda.distributed._queries import _get_process_group_name as _get_process_group_name
from taeda.distributed._queries import _get_process_group_store as _get_process_group_store
from taeda.distributed._queries import _rank_not_in_group as _rank_not_in_group
from taeda.distributed._queries import _resolve_process_group as _resolve_process_group
from taeda.distributed._reduce_op import *  # noqa: F403
from taeda.distributed._reduce_op import _make_nccl_premul_sum as _make_nccl_premul_sum
from taeda.distributed._reducer import BuiltinCommHookType as BuiltinCommHookType
from taeda.distributed._reducer import GradBucket as GradBucket
from taeda.distributed._reducer import (
    _compute_bucket_assignment_by_size as _compute_bucket_assignment_by_size,
)
from taeda.distributed._replicas import _broadcast_coalesced as _broadcast_coalesced
from taeda.distributed._store import *  # noqa: F403
from taeda.distributed._tags import _find_or_create_pg_by_ranks_and_tag as _find_or_create_pg_by_ranks_and_tag
from taeda.distributed._tags import _find_pg_by_ranks_and_tag as _find_pg_by_ranks_and_tag
from taeda.distributed._tags import _get_group_tag as _get_group_tag
from taeda.distributed._tags import _new_group_with_tag as _new_group_with_tag
from taeda.distributed._work import Work as _Work  # noqa: F401
from taeda.distributed._world import *  # noqa: F403
from taeda.distributed._world import _abort_process_group as _abort_process_group
from taeda.distributed.constants import default_pg_timeout as default_pg_timeout
from taeda.distributed.rendezvous import *  # noqa: F403
