"""The older `PassManager`, over functions that give the module back; and what makes functions such passes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any

from taeda.fx.passes.infra.pass_manager import this_before_that_pass_constraint as this_before_that_pass_constraint

__all__ = [
    "PassManager",
    "inplace_wrapper",
    "log_hook",
    "loop_pass",
    "these_before_those_pass_constraint",
    "this_before_that_pass_constraint",
]

_logger = logging.getLogger(__name__)
Pass = Callable[..., Any]


def inplace_wrapper(fn: Pass) -> Pass:
    """A pass that gives its argument back after ``fn`` changed it."""

    @wraps(fn)
    def wrapped(module: Any, *args: Any, **kwargs: Any) -> Any:
        fn(module, *args, **kwargs)
        return module

    return wrapped


def log_hook(fn: Pass, level: int = logging.INFO) -> Pass:
    """``fn``, with a line in the log about each call."""

    @wraps(fn)
    def wrapped(module: Any) -> Any:
        result = fn(module)
        _logger.log(level, "pass %s gave %s", fn, result)
        return result

    return wrapped


def loop_pass(base_pass: Pass, n_iter: int | None = None, predicate: Callable[[Any], bool] | None = None) -> Pass:
    """A pass that repeats another ``n_iter`` times, or while ``predicate`` of the module says so.

    Raises:
        AssertionError: both are given, or neither.
    """
    if (n_iter is None) == (predicate is None):
        raise AssertionError("taeda.fx.loop_pass: say either n_iter or predicate")

    @wraps(base_pass)
    def repeated(module: Any) -> Any:
        done = 0
        while predicate(module) if predicate is not None else done < (n_iter or 0):
            module = base_pass(module)
            done += 1
        return module

    return repeated


def these_before_those_pass_constraint(these: Pass, those: Pass) -> Callable[[Pass, Pass], bool]:
    """A constraint: what was made of ``these`` by wrappers runs before what was made of ``those``."""
    return lambda first, second: unwrap(first) is not those or unwrap(second) is not these


class PassManager:
    """Runs passes, functions that take a module and give one.

    Args:
        passes: the passes, in order.
        constraints: functions of two passes that say whether the first may run before the second.
    """

    def __init__(self, passes: list[Pass] | None = None, constraints: list[Any] | None = None) -> None:
        self.passes = list(passes or [])
        self.constraints = list(constraints or [])
        self._validated = False

    @classmethod
    def build_from_passlist(cls, passes: list[Pass]) -> PassManager:
        """A manager of these passes."""
        return cls(passes)

    def add_pass(self, _pass: Pass) -> None:
        """Adds a pass to the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Any) -> None:
        """Adds a constraint on the order."""
        self.constraints.append(constraint)
        self._validated = False

    def remove_pass(self, _passes: list[str]) -> None:
        """Takes the passes with these names out."""
        self.passes = [p for p in self.passes if p.__name__ not in _passes]
        self._validated = False

    def replace_pass(self, _target: Pass, _replacement: Pass) -> None:
        """Puts a pass in the place of those with the name of another."""
        self.passes = [_replacement if p.__name__ == _target.__name__ else p for p in self.passes]
        self._validated = False

    def validate(self) -> None:
        """Raises RuntimeError if the order breaks a constraint."""
        if self._validated:
            return
        for constraint in self.constraints:
            for i, first in enumerate(self.passes):
                for second in self.passes[i + 1 :]:
                    if not constraint(first, second):
                        raise RuntimeError(
                            f"taeda.fx.PassManager: {first} runs before {second}, which a constraint forbids"
                        )
        self._validated = True

    def __call__(self, source: Any) -> Any:
        self.validate()
        for one in self.passes:
            source = one(source)
        return source
