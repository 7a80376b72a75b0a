"""The two calculations of a gradient scaler, by PyTorch's private names, for scalers that programs write."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor


def _amp_foreach_non_finite_check_and_unscale_(grads: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor) -> None:
    """Multiplies each gradient by ``inv_scale``; sets ``found_inf`` to 1 where one was not finite."""
    for one, name in ((found_inf, "found_inf"), (inv_scale, "inv_scale")):
        if one.numel() != 1 or one.dtype != taeda.float32:
            raise RuntimeError(
                f"taeda._amp_foreach_non_finite_check_and_unscale_: {name} must be one float32 number; got shape "
                f"{tuple(one.shape)} of {one.dtype}"
            )
    for grad in grads:
        if not bool(taeda.isfinite(grad).all()):
            found_inf.fill_(1.0)
        grad.mul_(inv_scale)


def _amp_update_scale_(
    current_scale: Tensor,
    growth_tracker: Tensor,
    found_inf: Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> Tensor:
    """Makes the scale smaller after a gradient that was not finite, larger after ``growth_interval`` steps without."""
    if bool(found_inf):
        current_scale.mul_(scale_backoff_factor)
        growth_tracker.fill_(0)
        return current_scale
    steps = int(growth_tracker) + 1
    if steps == growth_interval:
        grown = current_scale * scale_growth_factor
        if bool(taeda.isfinite(grown)):
            current_scale.copy_(grown)
        steps = 0
    growth_tracker.fill_(steps)
    return current_scale
