"""Remote procedure calls: functions that run on another worker, and references to objects that live there."""

from __future__ import annotations

from taeda.distributed.rpc import api as api
from taeda.distributed.rpc import backend_registry as backend_registry
from taeda.distributed.rpc import constants as constants
from taeda.distributed.rpc import functions as functions
from taeda.distributed.rpc import internal as internal
from taeda.distributed.rpc import options as options
from taeda.distributed.rpc._agent import Agent as Agent
from taeda.distributed.rpc._begin import init_rpc as init_rpc
from taeda.distributed.rpc._worker_info import WorkerInfo as WorkerInfo
from taeda.distributed.rpc.api import _get_current_rpc_agent as _get_current_rpc_agent
from taeda.distributed.rpc.api import _is_current_rpc_agent_set as _is_current_rpc_agent_set
from taeda.distributed.rpc.api import _rref_context_get_debug_info as _rref_context_get_debug_info
from taeda.distributed.rpc.api import _set_rpc_timeout as _set_rpc_timeout
from taeda.distributed.rpc.api import enable_gil_profiling as enable_gil_profiling
from taeda.distributed.rpc.api import get_rpc_timeout as get_rpc_timeout
from taeda.distributed.rpc.api import get_worker_info as get_worker_info
from taeda.distributed.rpc.api import remote as remote
from taeda.distributed.rpc.api import rpc_async as rpc_async
from taeda.distributed.rpc.api import rpc_sync as rpc_sync
from taeda.distributed.rpc.api import shutdown as shutdown
from taeda.distributed.rpc.backend_registry import BackendType as BackendType
from taeda.distributed.rpc.backend_registry import backend_registered as backend_registered
from taeda.distributed.rpc.backend_registry import construct_rpc_backend_options as construct_rpc_backend_options
from taeda.distributed.rpc.backend_registry import init_backend as init_backend
from taeda.distributed.rpc.backend_registry import register_backend as register_backend
from taeda.distributed.rpc.options import RpcBackendOptions as RpcBackendOptions
from taeda.distributed.rpc.options import TensorPipeRpcBackendOptions as TensorPipeRpcBackendOptions
from taeda.distributed.rpc.rref import PyRRef as PyRRef
from taeda.distributed.rpc.rref import RRef as RRef

RpcAgent = TensorPipeAgent = Agent


def is_available() -> bool:
    """True: this package is there."""
    return True
