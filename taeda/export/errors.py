"""What export raises."""

from __future__ import annotations

import enum
from typing import Any

from taeda.fx.experimental.symbolic_shapes import ConstraintViolationError, GuardOnDataDependentSymNode


class UserErrorType(enum.Enum):
    """What is wrong with a program that was to be exported."""

    DYNAMIC_CONTROL_FLOW = enum.auto()
    ANTI_PATTERN = enum.auto()
    STANDARD_LIBRARY = enum.auto()
    CONSTRAINT_VIOLATION = enum.auto()
    DYNAMIC_DIM = enum.auto()
    INVALID_INPUT = enum.auto()
    INVALID_OUTPUT = enum.auto()
    UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS = enum.auto()


class ProgramError(RuntimeError):
    """A program cannot become a graph."""


class UserError(ProgramError):
    """The program or what was said of its inputs cannot be exported so."""

    def __init__(self, error_type: UserErrorType, msg: str, case_name: str | None = None) -> None:
        RuntimeError.__init__(self, msg)
        self.error_type, self.message, self.msg, self.case_name = error_type, msg, msg, case_name


class DataDependence(UserError, GuardOnDataDependentSymNode):
    """The program goes on by a value that only a run tells."""

    cond: Any = None

    def __init__(self, msg: str) -> None:
        UserError.__init__(self, UserErrorType.DYNAMIC_CONTROL_FLOW, msg)


class OutOfRange(UserError, ConstraintViolationError):
    """A size of the example is none that was allowed."""

    def __init__(self, msg: str) -> None:
        UserError.__init__(self, UserErrorType.CONSTRAINT_VIOLATION, msg)
