"""Adagrad."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._checks import at_least
from ._lists import number
from ._table import Batch, TableOptimizer, step_on_lists
from .optimizer import ParamsT

__all__ = ["Adagrad", "adagrad"]


class Adagrad(TableOptimizer):
    """Adagrad: the gradient divided by the root of the sum of all its squares so far.

    At step ``t`` (from 1) ``sum += g * g`` and ``p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(sum) + eps)``.
    Source: Duchi, Hazan and Singer, Adaptive subgradient methods, 2011.

    Raises:
        ValueError: an option is negative.
    """

    _has_native = True
    _takes_sparse = True

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        start = initial_accumulator_value
        at_least("Adagrad", 0, lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=start, eps=eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": start,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = self._fresh(p, group)

    def share_memory(self) -> None:
        """Moves the state to shared memory, for training by several processes."""
        for entry in self.state.values():
            for value in entry.values():
                if isinstance(value, Tensor):
                    value.share_memory_()

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("step", "sum")

    def _fresh(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        start = group["initial_accumulator_value"]
        return {
            "step": self._count(p, group),
            "sum": taeda.full_like(p, complex(start, start) if taeda.is_complex(p) else start),
        }

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        lr, decay = ops.number(group["lr"]), group["lr_decay"]
        sums, steps = batch.column("sum"), ops.steps(batch.column("step"))
        rates = [-lr / (1 + (t - 1) * decay) for t in steps]
        dense = [i for i, g in enumerate(batch.grads) if not g.is_sparse]
        for i in set(range(len(sums))) - set(dense):
            _sparse_update(batch.params[i], batch.grads[i], sums[i], rates[i], group["eps"])
        params, grads, sums, rates = ([column[i] for i in dense] for column in (batch.params, batch.grads, sums, rates))
        if params:
            ops.addcmul_(sums, grads, grads, 1)
            ops.addcdiv_(params, grads, ops.add_own(ops.sqrt(sums), group["eps"]), rates)

    def _native(self, group: dict[str, Any], batch: Batch, scaling: dict[str, Any]) -> None:
        steps = batch.column("step")
        taeda._foreach_add_(steps, 1)
        taeda._fused_adagrad_(
            batch.params,
            batch.grads,
            batch.column("sum"),
            steps,
            lr=number(group["lr"]),
            lr_decay=group["lr_decay"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
            **scaling,
        )


def _sparse_update(p: Tensor, grad: Any, total: Any, rate: Any, eps: float) -> None:
    """The same rule on the rows that a sparse gradient names."""
    grad = grad.coalesce()
    if grad.indices().numel() == 0:
        return
    values = grad.values()
    total.add_(taeda.sparse_coo_tensor(grad.indices(), values * values, grad.shape))  # type: ignore[attr-defined]
    roots = total.sparse_mask(grad).values().sqrt().add_(eps)
    p.add_(taeda.sparse_coo_tensor(grad.indices(), values / roots, grad.shape), alpha=rate)  # type: ignore[attr-defined]


def adagrad(
    params: list[Tensor],
    grads: list[Tensor],
    state_sums: list[Tensor],
    state_steps: list[Tensor],
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One step of `Adagrad` on lists, which it changes. Not for new programs: an optimiser keeps the lists itself."""
    columns: dict[str, list[Any]] = {"sum": state_sums, "step": state_steps}
    options = {
        "fused": fused,
        "foreach": foreach,
        "differentiable": differentiable,
        "lr": lr,
        "weight_decay": weight_decay,
        "lr_decay": lr_decay,
        "eps": eps,
        "maximize": maximize,
    }
    step_on_lists(Adagrad, params, grads, columns, options, grad_scale=grad_scale, found_inf=found_inf)
