"""Checks of optimiser options; all raise ``ValueError`` and name the optimiser and the option."""

from __future__ import annotations

from typing import Any

from taeda import Tensor


def check_lr(owner: str, lr: Any) -> None:
    """``lr`` is a number or a tensor of one element, and not negative."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError(f"{owner}: lr must have one element; got a tensor of shape {tuple(lr.shape)}")
    at_least(owner, 0, lr=lr)


def at_least(owner: str, low: float, **options: Any) -> None:
    """Every option is ``low`` or more (a NaN is not)."""
    for name, value in options.items():
        if not value >= low:
            raise ValueError(f"{owner}: {name} must be at least {low}; got {value}")


def within(owner: str, low: float, high: float, **options: Any) -> None:
    """Every option lies in ``[low, high)``."""
    for name, value in options.items():
        if not low <= value < high:
            raise ValueError(f"{owner}: {name} must be at least {low} and less than {high}; got {value}")


def check_betas(owner: str, betas: Any) -> None:
    """Both decay rates lie in [0, 1)."""
    within(owner, 0, 1, **{f"betas[{i}]": beta for i, beta in enumerate(betas)})
