"""`Adagrad` upon gradients that are given."""

from __future__ import annotations

from taeda import Tensor
from taeda.distributed.optim._functional import FunctionalOptimizer
from taeda.optim import Adagrad

__all__: list[str] = []


class _FunctionalAdagrad(FunctionalOptimizer):
    """`taeda.optim.Adagrad` whose ``step`` takes the gradients.

    The arguments of a warm-up are accepted and have no effect.
    """

    def __init__(
        self,
        params: list[Tensor],
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        warmup_lr_multiplier: float = 1.0,
        warmup_num_iters: float = 0.0,
        eps: float = 1e-10,
        coalesce_grad: bool = True,
        foreach: bool = False,
        fused: bool = False,
        maximize: bool = False,
        _allow_empty_param_list: bool = False,
    ) -> None:
        super().__init__(
            Adagrad,
            params,
            _allow_empty_param_list,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "eps": eps,
                "foreach": foreach,
                "fused": fused,
                "maximize": maximize,
            },
        )
