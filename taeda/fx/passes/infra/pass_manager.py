"""`PassManager`: runs passes in an order that fulfils constraints, as often as asked."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from graphlib import CycleError, TopologicalSorter
from typing import Any

from taeda import nn
from taeda.fx.passes.infra.pass_base import PassResult

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]

Pass = Callable[..., Any]
Constraint = Callable[[Pass, Pass], bool]


def pass_result_wrapper(fn: Pass) -> Pass:
    """A pass that gives a `PassResult` also where ``fn`` changes the module in place and returns nothing."""
    if fn is None:
        return None

    @wraps(fn)
    def wrapped(graph_module: Any) -> Any:
        result = fn(graph_module)
        if result is None:
            return PassResult(graph_module, True)
        return result if isinstance(result, PassResult) else PassResult(result, True)

    if not inspect.isfunction(fn):
        wrapped.__name__ = type(fn).__name__
    return wrapped


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """A constraint: ``this`` runs before ``that``."""
    return lambda first, second: first is not that or second is not this


class PassManager:
    """Runs passes over a module, in their order or in one that the constraints allow.

    Args:
        passes: functions of a module that give a `PassResult` or None.
        constraints: functions of two passes that say whether the first may run before the second.
        steps: how many times all passes run; fewer if a round changes nothing.
        run_checks_after_each_pass: call the checks after each pass, not only at the end.
        suppress_check_failures: go on where a check fails.
    """

    def __init__(
        self, passes: list[Pass] | None = None, constraints: list[Constraint] | None = None, steps: int | None = None,
        run_checks_after_each_pass: bool = False, suppress_check_failures: bool = False,
    ) -> None:  # fmt: skip
        self.passes = list(passes or [])
        self.constraints = list(constraints or [])
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._validated = False

    def add_pass(self, _pass: Pass) -> None:
        """Adds a pass to the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Adds a constraint on the order."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """Raises RuntimeError if the order breaks a constraint."""
        if not self._validated:
            for constraint in self.constraints:
                _validate(constraint, self.passes)
            self._validated = True

    def solve_constraints(self) -> None:
        """Puts the passes into an order that fulfils all constraints; RuntimeError if there is none."""
        after: dict[int, set[int]] = {i: set() for i in range(len(self.passes))}
        for i, one in enumerate(self.passes):
            for j, other in enumerate(self.passes):
                if i != j and not all(constraint(one, other) for constraint in self.constraints):
                    after[i].add(j)  # `other` has to be first
        try:
            self.passes = [self.passes[i] for i in TopologicalSorter(after).static_order()]
        except CycleError as error:
            names = [_name(self.passes[i]) for i in error.args[1]]
            raise RuntimeError(
                f"taeda.fx.PassManager: the constraints contradict each other, over {' -> '.join(names)}: a circle"
            ) from None
        self._validated = True

    def add_checks(self, check: Callable[..., Any]) -> None:
        """Sets a function of a module that raises if something is wrong with it; TypeError if it takes another."""
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("taeda.fx.PassManager.add_checks: check must take one argument, the module")
        setattr(self, "check", check)  # noqa: B010

    def check(self, module: nn.Module) -> None:
        """What is called after the passes."""

    def __call__(self, module: nn.Module) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self._check(module)
        changed_at_all = False
        for _ in range(self.steps):
            changed = False
            for one in self.passes:
                result = self._run(one, module)
                module, changed = result.graph_module, changed or result.modified
                if self.run_checks_after_each_pass:
                    self._check(module)
            changed_at_all |= changed
            if not changed:
                break
        self._check(module)
        return PassResult(module, changed_at_all)

    def _check(self, module: nn.Module) -> None:
        try:
            self.check(module)
        except Exception:
            if not self.suppress_check_failures:
                raise

    def _run(self, one: Pass, module: nn.Module) -> PassResult:
        try:
            result = one(module)
        except Exception as error:
            done = [_name(p) for p in self.passes[: self.passes.index(one)]]
            text = f"taeda.fx.PassManager: pass {_name(one)}, after {done}: {error}"
            raise Exception(text) from error
        if not isinstance(result, PassResult):
            raise TypeError(
                f"taeda.fx.PassManager: pass {_name(one)} must give a PassResult, not {type(result).__name__}; see "
                "pass_result_wrapper"
            )
        return result


def _name(one: Pass) -> str:
    return one.__name__ if inspect.isfunction(one) else type(one).__name__


def _validate(constraint: Constraint, passes: list[Pass]) -> None:
    for i, first in enumerate(passes):
        for second in passes[i + 1 :]:
            if not constraint(first, second):
                raise RuntimeError(
                    f"taeda.fx.PassManager: {_name(first)} runs before {_name(second)}, which a constraint forbids"
                )
