"""Optimisers of parameters that live on several workers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from taeda import Tensor
from taeda.distributed.rpc import RRef, WorkerInfo, rpc_async, rpc_sync
from taeda.futures import wait_all

__all__ = ["DistributedOptimizer"]

_one_at_a_time = threading.Lock()  # a step sets gradients where the optimiser looks for them


class DistributedOptimizer:
    """One optimiser on each worker, for the parameters that live there.

    Args:
        optimizer_class: of `taeda.optim`.
        params_rref: references to parameters.
        args, kwargs: those of the optimisers, besides the parameters.

    Raises:
        RuntimeError: a worker cannot be reached.
        Exception: what an optimiser raised as it was made.
    """

    def __init__(self, optimizer_class: type, params_rref: Sequence[RRef[Any]], *args: Any, **kwargs: Any) -> None:
        by_owner: dict[WorkerInfo, list[RRef[Any]]] = {}
        for parameter in params_rref:
            by_owner.setdefault(parameter.owner(), []).append(parameter)
        self.is_functional_optim = False
        made = [rpc_async(owner, _make, (optimizer_class, parameters, args, kwargs))
                for owner, parameters in by_owner.items()]  # fmt: skip
        self.remote_optimizers: list[RRef[Any]] = wait_all(made)

    def step(self, context_id: int) -> None:
        """A step of each optimiser, with the gradients of a context of `taeda.distributed.autograd`.

        Raises:
            RuntimeError: a worker cannot be reached, or knows no such context.
        """
        wait_all([rpc_async(one.owner(), _step, (one, context_id)) for one in self.remote_optimizers])

    def state_dict(self) -> list[dict[str, Any]]:
        """The state of each optimiser, in the order of `remote_optimizers`."""
        return [rpc_sync(one.owner(), _state, (one,)) for one in self.remote_optimizers]


def _make(kind: type, references: list[RRef[Any]], args: tuple[Any, ...], kwargs: dict[str, Any]) -> RRef[Any]:
    return RRef(kind([reference.local_value() for reference in references], *args, **kwargs))


def _step(optimizer: RRef[Any], context_id: int) -> None:
    from taeda.distributed.autograd import get_gradients

    here = optimizer.local_value()
    gradients = get_gradients(context_id)
    parameters: list[Tensor] = [parameter for group in here.param_groups for parameter in group["params"]]
    with _one_at_a_time:
        before = [parameter.grad for parameter in parameters]
        try:
            for parameter in parameters:
                parameter.grad = gradients.get(parameter)
            here.step()
        finally:
            for parameter, grad in zip(parameters, before):
                parameter.grad = grad


def _state(optimizer: RRef[Any]) -> dict[str, Any]:
    return optimizer.local_value().state_dict()
