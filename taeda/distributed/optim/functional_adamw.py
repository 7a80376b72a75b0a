"""`AdamW` upon gradients that are given."""

from __future__ import annotations

from taeda import Tensor
from taeda.distributed.optim._functional import FunctionalOptimizer
from taeda.optim import AdamW

__all__: list[str] = []


class _FunctionalAdamW(FunctionalOptimizer):
    """`taeda.optim.AdamW` whose ``step`` takes the gradients."""

    def __init__(
        self,
        params: list[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        maximize: bool = False,
        foreach: bool = False,
        fused: bool = False,
        _allow_empty_param_list: bool = False,
    ) -> None:
        super().__init__(
            AdamW,
            params,
            _allow_empty_param_list,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "fused": fused,
            },
        )
