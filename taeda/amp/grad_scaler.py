"""Loss scaling: gradients too small for float16 are computed enlarged, and steps with infinite ones are left out."""

from __future__ import annotations

import inspect
import warnings
from collections import defaultdict
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


def _refresh_per_optimizer_state() -> dict[str, Any]:
    """What is known of an optimiser right behind ``update``: the stage, and by device whether a gradient was infinite
    or NaN (1) or not (0)."""
    return {"stage": OptState.READY, "found_inf_per_device": {}}


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
        self._init_growth_tracker = 0
        self._scale: Tensor | None = None  # until something is scaled; as is the next, the good steps in a row
        self._growth_tracker: Tensor | None = None
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_refresh_per_optimizer_state)

    def scale(self, outputs: Any) -> Any:
        """``outputs``, a tensor or an iterable of tensors (also nested), times the scale.

        Raises:
            ValueError: there is something else among them.
        """
        if not self._enabled:
            return outputs
        return self._scaled(outputs)

    def _lazy_init_scale_growth_tracker(self, dev: Any) -> None:
        self._scale = taeda.full((), self._init_scale, dtype=taeda.float32, device=dev)
        self._growth_tracker = taeda.full((), self._init_growth_tracker, dtype=taeda.int32, device=dev)

    def _scaled(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(value.device)
            assert self._scale is not None
            return value * self._scale.to(value.device)
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
        scale, _ = self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("taeda.amp.GradScaler.unscale_: called twice for one optimizer without update() between")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("taeda.amp.GradScaler.unscale_: called after step() without update() between")
        inverse = scale.double().reciprocal().float()  # as 1 / scale would be rounded
        found = taeda.zeros((), dtype=taeda.float32, device=scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, found, False)
        state["stage"] = OptState.UNSCALED

    def _unscale_grads_(
        self, optimizer: Any, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[taeda.device, Tensor]:
        """Multiplies the gradients by ``inv_scale``; by device 1 where one of them is infinite or NaN, else
        ``found_inf``."""
        parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        for p in parameters:
            if p.grad.is_sparse and p.grad.dtype == taeda.float16:  # sums may be infinite where no part is
                p.grad = p.grad.coalesce()
        grads = [p.grad for p in parameters]
        if not allow_fp16 and any(grad.dtype == taeda.float16 for grad in grads):
            raise ValueError(
                "taeda.amp.GradScaler.unscale_: a gradient is float16; keep the parameters in float32 and let autocast "
                "choose float16 where it serves"
            )
        by_device: dict[taeda.device, list[Tensor]] = {}
        with taeda.no_grad():
            for grad in grads:
                by_device.setdefault(grad.device, []).append(grad._values() if grad.is_sparse else grad)
            result = {}
            for device, values in by_device.items():
                result[device] = found_inf.clone().to(device)
                if not all(bool(taeda.isfinite(value).all()) for value in values):
                    result[device].fill_(1.0)
                factor = inv_scale.item()
                if factor != 1.0:
                    taeda._foreach_mul_(values, factor)
        return result

    def _check_inf_per_device(self, optimizer: Any) -> dict[taeda.device, Tensor]:
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one = taeda.ones((), dtype=taeda.float32, device=scale.device)
        state = self._per_optimizer_states[id(optimizer)]
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, one, taeda.zeros_like(one), True)
        return self._found_inf_per_device(optimizer)

    def _found_inf_per_device(self, optimizer: Any) -> dict[taeda.device, Tensor]:
        found: dict[taeda.device, Tensor] = self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
        return found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)``, with gradients divided by the scale, unless one is infinite or NaN.

        An optimiser with a true attribute ``_step_supports_amp_scaling`` does both by itself: its ``step`` is called
        in any case, with ``grad_scaler=`` if it takes that, else with ``grad_scale`` (None if the gradients are divided
        already) and ``found_inf``, tensors, as attributes of the optimiser.

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
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("taeda.amp.GradScaler.step: called twice for one optimizer without update() between")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_that_scales(optimizer, args, kwargs)
        else:
            if state["stage"] is OptState.READY:
                self.unscale_(optimizer)
            if not state["found_inf_per_device"]:
                raise AssertionError("taeda.amp.GradScaler.step: no parameter of the optimizer has a gradient")
            result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _maybe_opt_step(self, optimizer: Any, optimizer_state: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        if any(found.item() for found in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def _step_that_scales(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        state = self._per_optimizer_states[id(optimizer)]
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(
                "taeda.amp.GradScaler.step: an optimizer whose step takes grad_scaler is deprecated; it may read its "
                "attributes grad_scale and found_inf",
                FutureWarning,
                stacklevel=3,
            )
            return optimizer.step(*args, **kwargs, grad_scaler=self)
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        scale, _ = self._check_scale_growth_tracker("step")
        found = [value.to(scale.device) for value in state["found_inf_per_device"].values()]
        given = getattr(optimizer, "grad_scale", None)  # by who steps it for us
        unscaled = state["stage"] is OptState.UNSCALED
        optimizer.grad_scale = None if unscaled else scale if given is None else given * scale
        optimizer.found_inf = sum(found[1:], found[0]) if found else taeda.zeros_like(scale)
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.found_inf
            if given is None:
                del optimizer.grad_scale
            else:
                optimizer.grad_scale = given

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Choose the next scale from what the steps found; ``new_scale`` sets it.

        Raises:
            AssertionError: nothing was scaled, or no gradients were checked since the last update.
        """
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            scale.fill_(float(new_scale))
        else:
            found = [
                value
                for state in self._per_optimizer_states.values()
                for value in state["found_inf_per_device"].values()
            ]
            if not found:
                raise AssertionError("taeda.amp.GradScaler.update: no gradients were checked since the last update")
            self._follow(scale, tracker, any(value.item() for value in found))
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _follow(self, scale: Tensor, tracker: Tensor, found_inf: bool) -> None:
        if found_inf:
            scale.mul_(self._backoff_factor)
            tracker.zero_()
            return
        steps = int(tracker) + 1
        if steps == self._growth_interval:
            grown = scale * self._growth_factor
            if taeda.isfinite(grown):
                scale.copy_(grown)
            steps = 0
        tracker.fill_(steps)

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Tensor, Tensor]:
        if self._scale is None or self._growth_tracker is None:
            raise AssertionError(
                f"taeda.amp.GradScaler.{funcname}: nothing was scaled; call scale(loss) before backward()"
            )
        return self._scale, self._growth_tracker

    def _get_growth_tracker(self) -> int:
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker)

    def get_scale(self) -> float:
        """The scale; 1 if the scaler is off."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale)

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
            "_growth_tracker": self._get_growth_tracker(),
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
            self._scale.fill_(self._init_scale)
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        if self._enabled and self._per_optimizer_states:
            raise AssertionError("taeda.amp.GradScaler: can be pickled between iterations only, after update()")
        state = self.__dict__.copy()
        if self._enabled:  # the tensors are made anew, on the device of the process that goes on
            state |= {"_init_scale": self.get_scale(), "_init_growth_tracker": self._get_growth_tracker()}
            state |= {"_scale": None, "_growth_tracker": None}
        return state
