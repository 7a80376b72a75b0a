"""`taeda.distributed.tensor`, where PyTorch had it first."""

from __future__ import annotations

from taeda.distributed.device_mesh import DeviceMesh as DeviceMesh
from taeda.distributed.device_mesh import init_device_mesh as init_device_mesh
from taeda.distributed.tensor import DTensor as DTensor
from taeda.distributed.tensor import Partial as Partial
from taeda.distributed.tensor import Placement as Placement
from taeda.distributed.tensor import Replicate as Replicate
from taeda.distributed.tensor import Shard as Shard
from taeda.distributed.tensor import distribute_module as distribute_module
from taeda.distributed.tensor import distribute_tensor as distribute_tensor
from taeda.distributed.tensor import empty as empty
from taeda.distributed.tensor import full as full
from taeda.distributed.tensor import ones as ones
from taeda.distributed.tensor import rand as rand
from taeda.distributed.tensor import randn as randn
from taeda.distributed.tensor import zeros as zeros
