"""Context parallelism, under the name of PyTorch's module."""

from __future__ import annotations

from taeda.distributed.tensor.experimental._context_parallel import *  # noqa: F403
from taeda.distributed.tensor.experimental._context_parallel import __all__ as __all__
