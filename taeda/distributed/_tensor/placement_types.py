"""As `taeda.distributed.tensor.placement_types`."""

from __future__ import annotations

from taeda.distributed.tensor._spec import DTensorSpec as DTensorSpec
from taeda.distributed.tensor.placement_types import Partial as Partial
from taeda.distributed.tensor.placement_types import Placement as Placement
from taeda.distributed.tensor.placement_types import Replicate as Replicate
from taeda.distributed.tensor.placement_types import Shard as Shard
