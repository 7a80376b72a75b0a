"""Optimisers whose state is divided among the processes of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taeda.distributed.optim.apply_optimizer_in_backward import (
    _apply_optimizer_in_backward as _apply_optimizer_in_backward,
)
from taeda.distributed.optim.apply_optimizer_in_backward import (
    _get_in_backward_optimizers as _get_in_backward_optimizers,
)
from taeda.distributed.optim.named_optimizer import _NamedOptimizer as _NamedOptimizer
from taeda.distributed.optim.post_localSGD_optimizer import PostLocalSGDOptimizer as PostLocalSGDOptimizer
from taeda.distributed.optim.utils import as_functional_optim as as_functional_optim
from taeda.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer

if TYPE_CHECKING:
    from taeda.distributed.optim.optimizer import DistributedOptimizer as DistributedOptimizer


def __getattr__(name: str) -> Any:
    if name == "DistributedOptimizer":  # with workers that call each other, which most programs have not
        from taeda.distributed.optim.optimizer import DistributedOptimizer

        return DistributedOptimizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
