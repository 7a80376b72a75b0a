"""`Adadelta` upon gradients that are given."""

from __future__ import annotations

from taeda import Tensor
from taeda.distributed.optim._functional import FunctionalOptimizer
from taeda.optim import Adadelta

__all__: list[str] = []


class _FunctionalAdadelta(FunctionalOptimizer):
    """`taeda.optim.Adadelta` whose ``step`` takes the gradients."""

    def __init__(
        self,
        params: list[Tensor],
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        foreach: bool = False,
        maximize: bool = False,
        _allow_empty_param_list: bool = False,
    ) -> None:
        super().__init__(
            Adadelta,
            params,
            _allow_empty_param_list,
            {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize},
        )
