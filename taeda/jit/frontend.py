"""Errors of the compiler's first stages, under the names that PyTorch's programs know."""

from taeda.jit.parse.errors import CompileError as FrontendError
from taeda.jit.parse.errors import NotSupportedError as NotSupportedError

__all__ = ["FrontendError", "NotSupportedError"]
