"""Optimisers that take their steps within the backward pass of `DistributedDataParallel`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from taeda import Tensor
from taeda.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from taeda.distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks import (
    _hook_then_optimizer,
    _OptimizerHookState,
)
from taeda.distributed.fsdp import FullyShardedDataParallel
from taeda.distributed.optim.utils import as_functional_optim
from taeda.nn.parallel import DistributedDataParallel
from taeda.optim import Optimizer

_registered: dict[type, type[OverlappedOptimizer]] = {}


def register_overlapped(optim_cls: type) -> Callable[[type[OverlappedOptimizer]], type[OverlappedOptimizer]]:
    """Decorates the class that overlaps optimisers of the class ``optim_cls``.

    Raises:
        ValueError: they have one.
    """

    def register(target: type[OverlappedOptimizer]) -> type[OverlappedOptimizer]:
        if target in _registered.values():
            raise ValueError(f"register_overlapped: {target.__name__} is registered already")
        _registered[optim_cls] = target
        return target

    return register


class OverlappedOptimizer(ABC):
    """An optimiser of the class ``optim_cls`` that wrappers run."""

    def __init__(self, optim_cls: type) -> None:
        self.optim_cls = optim_cls

    @abstractmethod
    def register_ddp(self, ddp: DistributedDataParallel) -> None:
        """Has ``ddp`` run the optimiser."""

    @abstractmethod
    def register_fsdp(self, fsdp: FullyShardedDataParallel) -> None:
        """Has ``fsdp`` run the optimiser."""


@register_overlapped(Optimizer)
class _OverlappedStandardOptimizer(OverlappedOptimizer):
    """An optimiser that `as_functional_optim` knows.

    Args:
        params: whom it changes; all of the wrapper's for None.
        optim_args, optim_kwargs: its own arguments.
    """

    def __init__(self, optim_cls: type, params: Iterable[Tensor] | None, *optim_args: Any, **optim_kwargs: Any) -> None:
        super().__init__(optim_cls)
        made = as_functional_optim(self.optim_cls, *optim_args, **optim_kwargs)
        self._opt_hook_state = _OptimizerHookState(made, params)

    def register_ddp(self, ddp: DistributedDataParallel) -> None:
        ddp.register_comm_hook(None, _hook_then_optimizer(allreduce_hook, self._opt_hook_state))

    def register_fsdp(self, fsdp: FullyShardedDataParallel) -> None:
        raise NotImplementedError(
            "OverlappedOptimizer.register_fsdp: FullyShardedDataParallel takes steps in its backward pass by "
            "_apply_optimizer_in_backward"
        )


def _as_overlapped_optim(optim_cls: type, params: Iterable[Tensor] | None, *args: Any, **kwargs: Any) -> Any:
    """``optim_cls`` as an `OverlappedOptimizer`. ValueError: no such class is registered for it or its bases."""
    for base in optim_cls.__mro__:
        if base in _registered:
            return _registered[base](optim_cls, params, *args, **kwargs)  # type: ignore[call-arg, arg-type]
    raise ValueError(f"_as_overlapped_optim: no OverlappedOptimizer is registered for {optim_cls.__name__}")
