"""Looking at DTensors: which collectives a program calls, and where the parts of a tensor lie."""

from __future__ import annotations

from taeda.distributed.tensor.debug._comm_mode import CommDebugMode as CommDebugMode
from taeda.distributed.tensor.debug._visualize import visualize_sharding as visualize_sharding

__all__ = ["CommDebugMode", "visualize_sharding"]
