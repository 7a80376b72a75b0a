"""DTensors, under the name of PyTorch's module."""

from __future__ import annotations

from taeda.distributed.tensor import DTensor as DTensor
from taeda.distributed.tensor import distribute_module as distribute_module
from taeda.distributed.tensor import distribute_tensor as distribute_tensor
