"""What PyTorch keeps in ``torch._C._distributed_c10d``."""

from taeda.distributed import Backend as Backend
from taeda.distributed import ProcessGroupGloo as ProcessGroupGloo
from taeda.distributed._backend_class import ProcessGroup as ProcessGroup
from taeda.distributed._control_collectives import _ControlCollectives as _ControlCollectives
from taeda.distributed._control_collectives import _StoreCollectives as _StoreCollectives
from taeda.distributed._debug import DebugLevel as DebugLevel
from taeda.distributed._debug import get_debug_level as get_debug_level
from taeda.distributed._debug import set_debug_level as set_debug_level
from taeda.distributed._debug import set_debug_level_from_env as set_debug_level_from_env
from taeda.distributed._given_reducer import Reducer as Reducer
from taeda.distributed._options import *  # noqa: F403
from taeda.distributed._queries import _resolve_process_group as _resolve_process_group
from taeda.distributed._reduce_op import ReduceOp as ReduceOp
from taeda.distributed._reduce_op import _make_nccl_premul_sum as _make_nccl_premul_sum
from taeda.distributed._reducer import FIRST_BUCKET_BYTES as _DEFAULT_FIRST_BUCKET_BYTES  # noqa: F401
from taeda.distributed._reducer import BuiltinCommHookType as BuiltinCommHookType
from taeda.distributed._reducer import GradBucket as GradBucket
from taeda.distributed._reducer import _compute_bucket_assignment_by_size as _compute_bucket_assignment_by_size
from taeda.distributed._store import *  # noqa: F403
from taeda.distributed._work import FutureWork as _create_work_from_future  # noqa: F401
from taeda.distributed._work import Work as Work
from taeda.distributed.constants import default_pg_timeout as _DEFAULT_PG_TIMEOUT  # noqa: F401
from taeda.nn.parallel._logging import DDPLoggingData as DDPLoggingData
from taeda.nn.parallel._logging import Logger as Logger
