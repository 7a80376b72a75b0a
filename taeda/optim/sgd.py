"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._checks import at_least
from ._lists import number
from ._table import Batch, TableOptimizer, step_on_lists
from .optimizer import ParamsT

__all__ = ["SGD", "sgd"]


class SGD(TableOptimizer):
    """Stochastic gradient descent, with momentum (heavy ball or Nesterov) if asked.

    With ``g`` the gradient plus ``weight_decay * p``: ``buf = momentum * buf + (1 - dampening) * g`` (the first time
    ``buf = g``), and ``p -= lr * buf``, or with ``nesterov`` ``p -= lr * (g + momentum * buf)``.
    Source: Sutskever et al., On the importance of initialization and momentum in deep learning, 2013.

    Raises:
        ValueError: an option is negative, or ``nesterov`` without momentum or with dampening.
    """

    _has_native = True
    _takes_sparse = True
    _complex_as_pairs = False

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        at_least("SGD", 0, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(f"SGD: nesterov=True wants momentum > 0 and dampening = 0; got {momentum} and {dampening}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] else ()

    def _fresh(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"momentum_buffer": None}

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        grads, lr, momentum = batch.grads, ops.number(group["lr"]), group["momentum"]
        if momentum:
            buffers = self._blend(ops, group, batch)
            grads = ops.add(grads, buffers, alpha=momentum) if group["nesterov"] else buffers
        ops.add_(batch.params, grads, alpha=-lr)

    @staticmethod
    def _blend(ops: Any, group: dict[str, Any], batch: Batch) -> list[Tensor]:
        """The buffers after this step's gradients; a first gradient becomes its buffer, undampened."""
        old = [i for i, state in enumerate(batch.states) if state["momentum_buffer"] is not None]
        for state, grad in zip(batch.states, batch.grads, strict=True):
            if state["momentum_buffer"] is None:
                state["momentum_buffer"] = (grad if group["differentiable"] else grad.detach()).clone()
        buffers = batch.column("momentum_buffer")
        if old:
            kept = [buffers[i] for i in old]
            ops.mul_(kept, group["momentum"])
            ops.add_(kept, [batch.grads[i] for i in old], alpha=1 - group["dampening"])
        return buffers

    def _native(self, group: dict[str, Any], batch: Batch, scaling: dict[str, Any]) -> None:
        if not group["momentum"]:
            self._call(group, batch.params, batch.grads, [], False, scaling)
            return
        buffers = batch.column("momentum_buffer")
        new = [i for i, buffer in enumerate(buffers) if buffer is None]
        for i in new:
            buffers[i] = batch.states[i]["momentum_buffer"] = taeda.empty_like(batch.grads[i])
        if not new or len(new) == len(buffers):
            self._call(group, batch.params, batch.grads, buffers, bool(new), scaling)
            return
        old = [i for i in range(len(buffers)) if i not in set(new)]
        for rows, first in ((old, False), (new, True)):
            params, grads, some = ([column[i] for i in rows] for column in (batch.params, batch.grads, buffers))
            self._call(group, params, grads, some, first, scaling)

    @staticmethod
    def _call(
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        buffers: list[Tensor],
        first: bool,
        scaling: dict[str, Any],
    ) -> None:
        taeda._fused_sgd_(
            params,
            grads,
            buffers,
            weight_decay=number(group["weight_decay"]),
            momentum=group["momentum"],
            lr=number(group["lr"]),
            dampening=group["dampening"],
            nesterov=group["nesterov"],
            maximize=group["maximize"],
            is_first_step=first,
            **scaling,
        )


def sgd(
    params: list[Tensor],
    d_p_list: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float,
    momentum: float,
    lr: float | Tensor,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """One step of `SGD` on lists, which it changes. Not for new programs: an optimiser keeps the lists itself."""
    columns: dict[str, list[Any]] = {"momentum_buffer": momentum_buffer_list}
    options = {
        "foreach": foreach,
        "fused": fused,
        "weight_decay": weight_decay,
        "momentum": momentum,
        "lr": lr,
        "dampening": dampening,
        "nesterov": nesterov,
        "maximize": maximize,
    }
    step_on_lists(SGD, params, d_p_list, columns, options, grad_scale=grad_scale, found_inf=found_inf)
