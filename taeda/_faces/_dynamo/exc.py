"""What PyTorch raises where a program cannot become a graph, for programs that catch it."""

from __future__ import annotations

from typing import Any

from taeda.compiler._eager import InvalidBackend as InvalidBackend
from taeda.export.errors import ProgramError as TorchDynamoException
from taeda.export.errors import UserError as UserError
from taeda.export.errors import UserErrorType as UserErrorType


class InternalTorchDynamoError(TorchDynamoException):
    """A mistake of the compiler's own."""


class TorchRuntimeError(TorchDynamoException):
    """An op refused its arguments while it was recorded."""


class Unsupported(TorchDynamoException):
    """Python that a graph cannot hold."""


class UncapturedHigherOrderOpError(TorchDynamoException):
    """A function given to control flow that a graph cannot hold."""


class BackendCompilerFailed(TorchDynamoException):
    """A backend raised an error."""

    def __init__(self, backend_fn: Any, inner_exception: Exception, first_useful_frame: Any = None) -> None:
        self.backend_name = getattr(backend_fn, "__name__", "?")
        self.inner_exception = inner_exception
        super().__init__(f"backend={self.backend_name!r}: {type(inner_exception).__name__}: {inner_exception}")


class RecompileError(TorchDynamoException):
    """Something would be compiled again that must not be."""


class FailOnRecompileLimitHit(Exception):
    """Something was compiled too often."""
