"""Loss scaling: gradients too small for float16 are computed enlarged, and steps with infinite ones are left out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from enum import Enum
from typing import Any

import taeda
from taeda import Tensor

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """How far an optimiser has come since the last ``update``."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _Progress:
    """What happened to one optimiser since the last ``update``."""

    def __init__(self) -> None:
        self.stage = OptState.READY
        self.found_inf: bool | None = None  # None while nothing was checked


class GradScaler:
    """Multiplies the loss by a scale before the backward pass and divides the gradients by it afterwards.

    Args:
        device: the device type that computes; where there is none, the scaler warns and does nothing.
        init_scale: the scale at first.
        growth_factor: what the scale is multiplied by after ``growth_interval`` steps in a row without infinities.
        backoff_factor: what the scale is multiplied by when a gradient was infinite or NaN; that step is left out.
        growth_interval: see ``growth_factor``.
        enabled: False makes everything here do nothing but call the optimiser.

    Raises:
        AssertionError: ``growth_factor <= 1`` or ``backoff_factor >= 1``.

    One iteration is ``scaler.scale(loss).backward()``, ``scaler.step(optimizer)``, ``scaler.update()``, with
    ``scaler.unscale_(optimizer)`` before the step where gradients are to be seen or clipped.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and not taeda.cuda.is_available():
            warnings.warn("taeda.amp.GradScaler: there is no CUDA device; the scaler is off", stacklevel=2)
            self._enabled = False
        if self._enabled and not growth_factor > 1.0:
            raise AssertionError(f"taeda.amp.GradScaler: growth_factor must be above 1; got {growth_factor}")
        if self._enabled and not backoff_factor < 1.0:
            raise AssertionError(f"taeda.amp.GradScaler: backoff_factor must be below 1; got {backoff_factor}")
        self._init_scale = init_scale
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._growth_tracker = 0
        self._scale: float | None = None  # until something is scaled
        self._progress: dict[int, _Progress] = {}  # by the optimiser's id

    def scale(self, outputs: Any) -> Any:
        """``outputs``, a tensor or an iterable of tensors (also nested), times the scale.

        Raises:
            ValueError: there is something else among them.
        """
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = self._init_scale
        return self._scaled(outputs)

    def _scaled(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return value * self._known_scale()
        if isinstance(value, Iterable):
            parts = map(self._scaled, value)
            return type(value)(parts) if isinstance(value, list | tuple) else parts
        raise ValueError(f"taeda.amp.GradScaler.scale: takes a tensor or an iterable of tensors; got {value!r}")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimiser's parameters by the scale, once between two calls of ``update``.

        Raises:
            RuntimeError: they are divided already, or the optimiser has stepped.
            ValueError: a gradient is float16.
        """
        if not self._enabled:
            return
        self._check_scale("unscale_")
        progress = self._progress_of(optimizer)
        if progress.stage is OptState.UNSCALED:
            raise RuntimeError("taeda.amp.GradScaler.unscale_: called twice for one optimizer without update() between")
        if progress.stage is OptState.STEPPED:
            raise RuntimeError("taeda.amp.GradScaler.unscale_: called after step() without update() between")
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if any(grad.dtype == taeda.float16 for grad in grads):
            raise ValueError(
                "taeda.amp.GradScaler.unscale_: a gradient is float16; keep the parameters in float32 and let autocast "
                "choose float16 where it serves"
            )
        if grads:
            with taeda.no_grad():
                progress.found_inf = not all(bool(taeda.isfinite(grad).all()) for grad in grads)
                taeda._foreach_mul_(grads, 1.0 / self._known_scale())
        progress.stage = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)``, with gradients divided by the scale, unless one is infinite or NaN.

        Returns:
            What the optimiser's ``step`` returns; None if the step was left out.

        Raises:
            RuntimeError: a closure is given, or it is the second step without ``update``.
            AssertionError: nothing was scaled, or no parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("taeda.amp.GradScaler.step: takes no closure")
        self._check_scale("step")
        progress = self._progress_of(optimizer)
        if progress.stage is OptState.STEPPED:
            raise RuntimeError("taeda.amp.GradScaler.step: called twice for one optimizer without update() between")
        if progress.stage is OptState.READY:
            self.unscale_(optimizer)
        if progress.found_inf is None:
            raise AssertionError("taeda.amp.GradScaler.step: no parameter of the optimizer has a gradient")
        result = None if progress.found_inf else optimizer.step(*args, **kwargs)
        progress.stage = OptState.STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Choose the next scale from what the steps found; ``new_scale`` sets it.

        Raises:
            AssertionError: nothing was scaled, or no gradients were checked since the last update.
        """
        if not self._enabled:
            return
        self._check_scale("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            found = [p.found_inf for p in self._progress.values() if p.found_inf is not None]
            if not found:
                raise AssertionError("taeda.amp.GradScaler.update: no gradients were checked since the last update")
            self._follow(any(found))
        self._progress.clear()

    def _follow(self, found_inf: bool) -> None:
        scale = self._known_scale()
        if found_inf:
            self._scale, self._growth_tracker = scale * self._backoff_factor, 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = scale * self._growth_factor
            # It multiplies float32 losses.
            self._scale = grown if grown <= taeda.finfo(taeda.float32).max else scale
            self._growth_tracker = 0

    def _progress_of(self, optimizer: Any) -> _Progress:
        return self._progress.setdefault(id(optimizer), _Progress())

    def _check_scale(self, name: str) -> None:
        if self._scale is None:
            raise AssertionError(f"taeda.amp.GradScaler.{name}: nothing was scaled; call scale(loss) before backward()")

    def _known_scale(self) -> float:
        return self._init_scale if self._scale is None else self._scale

    def get_scale(self) -> float:
        """The scale; 1 if the scaler is off."""
        return self._known_scale() if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """What the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many good steps in a row let the scale grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set how many good steps in a row let the scale grow."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether the scaler does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale and its rules, to be taken after ``update``; empty if the scaler is off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what ``state_dict`` gave.

        Raises:
            RuntimeError: the dictionary is empty: the scaler that it is from was off.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("taeda.amp.GradScaler.load_state_dict: the state is that of a scaler that was off")
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale = self._init_scale
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]

    def __getstate__(self) -> dict[str, Any]:
        if self._enabled and self._progress:
            raise AssertionError("taeda.amp.GradScaler: can be pickled between iterations only, after update()")
        return self.__dict__.copy()
