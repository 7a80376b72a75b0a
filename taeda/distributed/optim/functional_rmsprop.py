"""`RMSprop` upon gradients that are given."""

from __future__ import annotations

from taeda import Tensor
from taeda.distributed.optim._functional import FunctionalOptimizer
from taeda.optim import RMSprop

__all__: list[str] = []


class _FunctionalRMSprop(FunctionalOptimizer):
    """`taeda.optim.RMSprop` whose ``step`` takes the gradients."""

    def __init__(
        self,
        params: list[Tensor],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        foreach: bool = False,
        maximize: bool = False,
        _allow_empty_param_list: bool = False,
    ) -> None:
        super().__init__(
            RMSprop,
            params,
            _allow_empty_param_list,
            {
                "lr": lr,
                "alpha": alpha,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "centered": centered,
                "foreach": foreach,
                "maximize": maximize,
            },
        )
