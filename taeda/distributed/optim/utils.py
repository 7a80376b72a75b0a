"""From optimisers to those that are handed gradients."""

from __future__ import annotations

from typing import Any

from taeda import optim
from taeda.distributed.optim.functional_adadelta import _FunctionalAdadelta
from taeda.distributed.optim.functional_adagrad import _FunctionalAdagrad
from taeda.distributed.optim.functional_adam import _FunctionalAdam
from taeda.distributed.optim.functional_adamax import _FunctionalAdamax
from taeda.distributed.optim.functional_adamw import _FunctionalAdamW
from taeda.distributed.optim.functional_rmsprop import _FunctionalRMSprop
from taeda.distributed.optim.functional_rprop import _FunctionalRprop
from taeda.distributed.optim.functional_sgd import _FunctionalSGD

__all__ = ["as_functional_optim", "functional_optim_map", "register_functional_optim"]

functional_optim_map: dict[Any, type] = {
    optim.Adagrad: _FunctionalAdagrad, optim.Adam: _FunctionalAdam, optim.AdamW: _FunctionalAdamW,
    optim.SGD: _FunctionalSGD, optim.Adadelta: _FunctionalAdadelta, optim.RMSprop: _FunctionalRMSprop,
    optim.Rprop: _FunctionalRprop, optim.Adamax: _FunctionalAdamax,
}  # fmt: skip


def register_functional_optim(key: Any, optim: type) -> None:
    """Makes ``optim`` the form of ``key`` that is handed gradients, unless ``key`` has one."""
    functional_optim_map.setdefault(key, optim)


def as_functional_optim(optim_cls: type, *args: Any, **kwargs: Any) -> Any:
    """``optim_cls`` in the form that is handed gradients, without parameters yet: for ``step_param``.

    Raises:
        ValueError: it has no such form.
    """
    if optim_cls not in functional_optim_map:
        raise ValueError(
            f"taeda.distributed.optim.as_functional_optim: {optim_cls} has no form that is handed gradients; "
            "register_functional_optim() gives it one"
        )
    return _create_functional_optim(functional_optim_map[optim_cls], *args, **kwargs)


def _create_functional_optim(functional_optim_cls: type, *args: Any, **kwargs: Any) -> Any:
    return functional_optim_cls([], *args, **kwargs, _allow_empty_param_list=True)
