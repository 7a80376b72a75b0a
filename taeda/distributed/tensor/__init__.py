"""``DTensor``: one tensor over the processes of a mesh, of which each has a part, the whole or a term."""

from __future__ import annotations

from taeda.distributed.device_mesh import DeviceMesh as DeviceMesh
from taeda.distributed.device_mesh import init_device_mesh as init_device_mesh
from taeda.distributed.tensor._distribute import distribute_module as distribute_module
from taeda.distributed.tensor._distribute import distribute_tensor as distribute_tensor
from taeda.distributed.tensor._dtensor import DTensor as DTensor
from taeda.distributed.tensor._factories import empty as empty
from taeda.distributed.tensor._factories import full as full
from taeda.distributed.tensor._factories import ones as ones
from taeda.distributed.tensor._factories import rand as rand
from taeda.distributed.tensor._factories import randn as randn
from taeda.distributed.tensor._factories import zeros as zeros
from taeda.distributed.tensor.placement_types import Partial as Partial
from taeda.distributed.tensor.placement_types import Placement as Placement
from taeda.distributed.tensor.placement_types import Replicate as Replicate
from taeda.distributed.tensor.placement_types import Shard as Shard

__all__ = [
    "DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module", "distribute_tensor", "empty", "full",
    "ones", "rand", "randn", "zeros",
]  # fmt: skip
