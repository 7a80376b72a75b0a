"""What the optimisers with an element-wise update rule share: one loop that gathers, one choice of how to compute.

A concrete optimiser says which state each parameter has (:meth:`_slots`, :meth:`_fresh`) and gives its rule once, over
lists (:meth:`_rule`). A rule that also exists as one native kernel says so (:meth:`_native`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

from ._checks import check_lr
from ._lists import Each, Foreach, number
from .optimizer import Optimizer, ParamsT

_foreach = Foreach()
_each = Each(traced=False)
_traced = Each(traced=True)


class Batch:
    """The parameters of one group that have a gradient, and the state of each."""

    __slots__ = ("params", "grads", "states", "is_complex")

    def __init__(self, params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]) -> None:
        self.params = params
        self.grads = grads
        self.states = states
        self.is_complex = False

    def column(self, name: str) -> list[Any]:
        """The state ``name`` of every parameter, complex ones seen as pairs of reals."""
        column = [state[name] for state in self.states]
        return _as_real(column) if self.is_complex else column

    def view_as_real(self) -> None:
        """Turns complex parameters and gradients into views on their parts."""
        self.is_complex = True
        self.params = _as_real(self.params)
        self.grads = _as_real(self.grads)


def _as_real(tensors: list[Any]) -> list[Any]:
    return [taeda.view_as_real(t) if isinstance(t, Tensor) and taeda.is_complex(t) else t for t in tensors]


def step_dtype() -> taeda.dtype:
    """The dtype of state scalars, which must count exactly whatever the parameters' precision."""
    return taeda.float64 if taeda.get_default_dtype() == taeda.float64 else taeda.float32


class TableOptimizer(Optimizer):
    """An optimiser made of :meth:`_slots`, :meth:`_fresh`, :meth:`_rule` and perhaps :meth:`_native`."""

    _has_native = False
    _takes_sparse = False
    _complex_as_pairs = True

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        owner = type(self).__name__
        check_lr(owner, defaults["lr"])
        fused = defaults.get("fused")
        if fused and defaults.get("differentiable"):
            raise RuntimeError(f"{owner}: fused=True cannot be combined with differentiable=True")
        if fused and defaults.get("foreach"):
            raise RuntimeError(f"{owner}: fused=True cannot be combined with foreach=True")
        super().__init__(params, defaults)
        if fused:
            self._check_fusable_dtypes()
            self._step_supports_amp_scaling = True

    def _check_fusable_dtypes(self) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                if not taeda.is_floating_point(p):
                    raise RuntimeError(f"{type(self).__name__}: fused=True wants floating parameters; got {p.dtype}")

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        """The names of the state that the rule reads under the options of ``group``."""
        raise NotImplementedError(f"{type(self).__name__} must define _slots")

    def _fresh(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """The state of a parameter at its first step: ``step`` counts from 0, all else is zeros like ``p``."""
        return {name: self._count(p, group) if name == "step" else taeda.zeros_like(p) for name in self._slots(group)}

    @staticmethod
    def _count(p: Tensor, group: dict[str, Any], value: float = 0.0) -> Tensor:
        """A state scalar; it lives with the parameter only where a device kernel reads it."""
        with_param = group.get("capturable") or group.get("fused")
        return taeda.full((), value, dtype=step_dtype(), device=p.device if with_param else "cpu")

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        """Updates ``batch.params`` in place with the list operations ``ops``."""
        raise NotImplementedError(f"{type(self).__name__} must define _rule")

    def _native(self, group: dict[str, Any], batch: Batch, scaling: dict[str, Any]) -> None:
        """The same update by one native call."""
        raise NotImplementedError(f"{type(self).__name__} must define _native")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Does one update of every parameter that has a gradient; returns what ``closure`` returns.

        Raises:
            RuntimeError: a gradient is sparse and the algorithm takes dense ones only.
            AssertionError: ``capturable=True`` with parameters on the CPU.
        """
        loss = None
        if closure is not None:
            with taeda.enable_grad():
                loss = closure()
        with taeda.set_grad_enabled(True) if self.defaults.get("differentiable") else taeda.no_grad():
            for group in self.param_groups:
                self._step_group(group)
        return loss

    def _step_group(self, group: dict[str, Any]) -> None:
        slots, state = self._slots(group), self.state
        params, grads, states = [], [], []
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            params.append(p)
            grads.append(grad)
            if slots:
                entry = state[p]
                if not entry:
                    entry.update(self._fresh(p, group))
                states.append(entry)
        if params:
            self._update(group, Batch(params, grads, states))

    def _update(self, group: dict[str, Any], batch: Batch) -> None:
        params, grads = batch.params, batch.grads
        if self._has_native and group["fused"] is not False and self._fits_native(group, params, grads):
            self._native(group, batch, self._amp_scaling())
        else:
            if group.get("fused") and any(p.is_meta for p in params):
                raise RuntimeError(
                    f"{type(self).__name__}: fused=True wants parameters with elements; some are on meta"
                )
            self._step_by_rule(group, batch)

    @staticmethod
    def _fits_native(group: dict[str, Any], params: list[Tensor], grads: list[Tensor]) -> bool:
        """Whether the native kernel computes what the rule would: one dtype, dense, contiguous, nothing recorded.

        Half-precision parameters take it on request only, since it rounds once where the rule rounds at each operation.
        """
        wanted = group["fused"]
        if group["foreach"] is not None or group["differentiable"] or group.get("capturable"):
            return False
        dtype = params[0].dtype
        if not (wanted or dtype is taeda.float32 or dtype is taeda.float64):
            return False
        for p, grad in zip(params, grads):
            if p.dtype is not dtype or grad.layout is not taeda.strided or not p.is_cpu:
                return False
            if not (p.is_contiguous() and grad.is_contiguous()):
                return False
        return True

    def _amp_scaling(self) -> dict[str, Any]:
        """The two tensors that a gradient scaler leaves on a fused optimiser."""
        scaling: dict[str, Any] = {}
        for name in ("grad_scale", "found_inf"):
            if name in self.__dict__:
                scaling[name] = self.__dict__[name]
        return scaling

    def _step_by_rule(self, group: dict[str, Any], batch: Batch) -> None:
        sparse = any(g.is_sparse for g in batch.grads)
        if sparse and not self._takes_sparse:
            raise RuntimeError(f"{type(self).__name__}: does not support sparse gradients")
        if self._complex_as_pairs and any(taeda.is_complex(p) for p in batch.params):
            batch.view_as_real()
        if group.get("differentiable") or group.get("capturable"):
            ops: Any = _traced
        else:
            ops = _each if sparse or group["foreach"] is False else _foreach
        if group.get("capturable") and any(p.is_cpu for p in batch.params):
            raise AssertionError(
                f"{type(self).__name__}: capturable=True wants parameters on an accelerator; one is on the CPU"
            )
        scaling = self._amp_scaling()
        if scaling.get("grad_scale") is not None:
            batch.grads = ops.div(batch.grads, scaling["grad_scale"].item())
        if scaling.get("found_inf") is None or not scaling["found_inf"].item():
            self._prepare(ops, group, batch)
            self._rule(ops, group, batch)

    @staticmethod
    def _prepare(ops: Any, group: dict[str, Any], batch: Batch) -> None:
        """Turns ascent into descent and applies weight decay, which no rule then needs to know of."""
        if group.get("maximize"):
            batch.grads = ops.neg(batch.grads)
        decay = ops.number(group.get("weight_decay", 0))
        if isinstance(decay, Tensor) or decay != 0:
            if group.get("decoupled_weight_decay"):
                ops.mul_(batch.params, 1 - ops.number(group["lr"]) * decay)
            else:
                batch.grads = ops.add(batch.grads, batch.params, alpha=decay)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Completes states of older releases: options they did not know, step counts that were plain numbers."""
        options = dict(state.get("defaults") or self.defaults)
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in options.items():
                group.setdefault(name, default)
            for p in group["params"]:
                entry = self.state.get(p)
                if entry and "step" in entry and not isinstance(entry["step"], Tensor):
                    entry["step"] = self._count(p, group, float(number(entry["step"])))


def step_on_lists(
    optimizer: type[TableOptimizer],
    params: list[Tensor],
    grads: list[Tensor],
    columns: dict[str, list[Any]],
    options: dict[str, Any],
    **scaling: Tensor | None,
) -> None:
    """One step of an optimiser's rule without an optimiser: ``columns`` are the lists of each state, by its name.

    A list of states that is empty stands for none: the options say that the rule does not read it.
    """
    made = optimizer.__new__(optimizer)
    made.__dict__.update({name: value for name, value in scaling.items() if value is not None})
    read = {name: column for name, column in columns.items() if column}
    states = [{name: column[i] for name, column in read.items()} for i in range(len(params))]
    unset = {"foreach": None, "fused": False, "capturable": False, "differentiable": False, "maximize": False}
    made._update(unset | options, Batch(list(params), list(grads), states))
    for name, column in read.items():
        column[:] = [state[name] for state in states]  # the first momentum is made by the step
